"""Ports are counted before the start, in a network namespace that has only 200 of them.

As in mzbench#32, gorilla/websocket#678 and envoy#44747: a generator without a port left must never
count that as the server's error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from enclosure import why_not
from nginx_server import PARTS, running_nginx
from packages import need_program

from loadstone.errors import ExitCode

FIRST, LAST = 40_000, 40_199
PORTS = LAST - FIRST + 1
USERS, CONNECTIONS = 60, 6
NEEDED = USERS * CONNECTIONS
ELSEWHERE = "http://192.0.2.1"
"""Of nobody (RFC 5737): nothing is asked there, as ports are counted before."""
_PATIENCE_S = 60.0


@contextmanager
def few_ports() -> Iterator[list[str]]:
    """The words that enter a network of its own, with loopback and few ports."""
    if reason := why_not():
        pytest.skip(f"a network namespace: {reason}")
    need_program("ip")
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    try:
        _await_own_network(holder)
        enter = ["nsenter", f"--target={holder.pid}", "--net", "--"]
        narrow = f"echo {FIRST} {LAST} > /proc/sys/net/ipv4/ip_local_port_range"
        done = subprocess.run(
            [*enter, "sh", "-c", f"ip link set lo up && {narrow}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"a network namespace: {done.stderr.strip()}")
        yield enter
    finally:
        holder.kill()
        holder.wait()


def _await_own_network(holder: subprocess.Popen[bytes]) -> None:
    own = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + _PATIENCE_S
    while Path(f"/proc/{holder.pid}/ns/net").readlink() == own:
        if holder.poll() is not None or time.monotonic() > deadline:
            pytest.skip("a network namespace: unshare --net is not allowed here")
        time.sleep(0.01)


@pytest.fixture(scope="module")
def network() -> Iterator[list[str]]:
    with few_ports() as enter:
        yield enter


def experiment(folder: Path, url: str) -> Path:
    parts = [{"request": f"part {name}", "get": f"/{name}"} for name in PARTS[:CONNECTIONS]]
    scenario = {
        "connections": CONNECTIONS,
        "think_time": {"distribution": "constant", "mean_s": 0.1},
        "transactions": [{"name": "parts", "steps": [{"parallel": parts}]}],
    }
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    path = folder / "web.yaml"
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "name": "web",
                "workload": {"name": "http", "parameters": {"scenario": "scenario.yaml"}},
                "target": {"engine": "http", "url": url},
                "profile": {"users": USERS, "warm_up": "300ms", "measure": "700ms"},
                "disturbance": 1000,
                "extra_trials": 0,
            }
        )
    )
    return path


def loadstone(network: list[str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as it is given in that network."""
    return subprocess.run(
        [*network, sys.executable, "-m", "loadstone.cli.main", *words],
        cwd=folder,
        env={**os.environ, "LOADSTONE_STATE": str(folder / "state"), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


def errors(document: dict[str, Any]) -> list[dict[str, int]]:
    return [
        operation["errors"]
        for trial in document["trials"]
        for operation in trial["result"]["operations"]
        if operation["errors"]
    ]


def test_on_loopback_further_addresses_make_up_for_the_ports(
    network: list[str], tmp_path: Path
) -> None:
    with running_nginx(network) as server:
        path = experiment(tmp_path, server.url)
        planned = loadstone(network, tmp_path, "plan", str(path))
        assert planned.returncode == ExitCode.OK, planned.stderr
        assert str(NEEDED) in planned.stdout
        # The second time ports of the first are still in TIME_WAIT.
        for _ in range(2):
            done = loadstone(network, tmp_path, "run", str(path), "--json", "--quiet")
            assert done.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, done.stderr
            document = json.loads(done.stdout)
            assert errors(document) == []
            (trial,) = document["trials"]
            assert sum(each["count"] for each in trial["result"]["operations"]) > 0


def test_elsewhere_too_few_ports_are_refused_before_the_start(
    network: list[str], tmp_path: Path
) -> None:
    done = loadstone(network, tmp_path, "run", str(experiment(tmp_path, ELSEWHERE)))
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert str(NEEDED) in done.stderr
    assert str(PORTS) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()
