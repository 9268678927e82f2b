"""A name server that never answers: who asks for a name gives up in time, and so does the driver.

The system gives a look-up up after two minutes here, and until then nobody can.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from enclosure import why_not
from packages import need_program
from sample_web import scenario

from loadstone.load.locate import find_driver
from loadstone.load.profiles import run_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.web import WebConnection
from loadstone.workloads.http.scenario import Scenario

HANGS_S = 120
USERS = 50
_RESOLVER = "nameserver 127.0.0.1\noptions timeout:30 attempts:4\n"
"""Asked as long as the C library allows."""
_WITHIN = """
import os, socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
deaf.bind(("127.0.0.1", 53))
deaf.set_inheritable(True)
os.execvp(sys.argv[2], sys.argv[2:])
"""
"""Becomes a command, which holds the socket of a name server that nobody reads from."""


@pytest.fixture
def network(tmp_path: Path) -> list[str]:
    """The words that run a command where names are asked for in vain."""
    if reason := why_not():
        pytest.skip(f"a network namespace: {reason}")
    need_program("ip")
    resolver = tmp_path / "resolv.conf"
    resolver.write_text(_RESOLVER)
    words = ["unshare", "--net", "--mount", sys.executable, "-c", _WITHIN, str(resolver)]
    asked = subprocess.run(
        [*words, "timeout", "2", "getent", "hosts", "app.test"], capture_output=True, check=False
    )
    if asked.returncode != 124:
        pytest.skip(f"a look-up does not hang here: {asked.stderr.decode().strip()}")
    return words


def run(network: list[str], plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The frames of the driver."""
    driver = subprocess.Popen(
        [*network, str(find_driver())], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdin is not None
    assert driver.stdout is not None
    driver.stdin.write(f"{json.dumps(plan)}\n")
    driver.stdin.flush()  # at its end the driver would stop
    frames = [json.loads(line) for line in driver.stdout]
    assert driver.wait() == 0
    driver.stdin.close()
    return frames


def test_names_that_are_not_answered_end_neither_the_load_nor_the_end_of_the_driver(
    network: list[str],
) -> None:
    given = scenario(timeouts_s={"resolve": 0.2}, think_time="none")
    told = Scenario.model_validate(given).driver(None, {})
    plan = run_plan(
        ProfileSpec.model_validate({"users": USERS, "measure": "1s"}),
        {"name": "http", "role": "run", "parameters": {"scenario": told}},
        {"default": {"keying_s": 0.0, "think": {"distribution": "none"}}},
        WebConnection(url="http://app.test", host="app.test", port=80),
        42,
    )
    began_s = time.monotonic()
    end = run(network, plan)[-1]
    assert time.monotonic() - began_s < HANGS_S / 2, "it waited for the look-up"
    assert (end["frame"], end["reason"]) == ("end", "completed")
    (page,) = end["operations"].values()
    assert page["count"] == 0
    assert page["errors"].keys() == {"resolve_timeout"}
    assert page["errors"]["resolve_timeout"] >= USERS
