"""A search on a machine that has only 200 ports ends where they end, and says so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lengths import long_but
from nginx_server import NginxServer, running_nginx
from test_http_ports import PORTS, few_ports, loadstone

from loadstone.errors import ExitCode

ADDRESS = "192.0.2.1"
"""Of the machine itself, and none of loopback: connections to it come from one address."""


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[list[str], NginxServer]]:
    """Ports that ended connections have left are given again after a second."""
    with few_ports() as network:
        reuse = "echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse"
        own = ["sh", "-c", f"ip address add {ADDRESS}/32 dev lo && {reuse}"]
        subprocess.run([*network, *own], check=True)
        with running_nginx(network, address=ADDRESS) as nginx:
            yield network, nginx


def searched(folder: Path, url: str, **design: Any) -> Path:
    scenario = {
        "think_time": {"distribution": "constant", "mean_s": 0.1},
        "transactions": [{"name": "home", "steps": [{"get": "/"}]}],
    }
    path = folder / "web.yaml"
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "name": "web",
                "workload": {"name": "http", "parameters": {"scenario": scenario}},
                "target": {"engine": "http", "url": url},
                "profile": {"warm_up": "300ms", "measure": "500ms"},
                "design": {
                    "kind": "search",
                    "over": "users",
                    "from": 60,
                    "objective": ["p99 < 10 s"],
                    "confirm": 0,
                    **design,
                },
                "disturbance": 1000,
                "extra_trials": 0,
            }
        )
    )
    return path


@pytest.mark.parametrize("approach", long_but(["raise"], ["fresh", "raise"]))
def test_a_search_ends_where_the_ports_end(
    server: tuple[list[str], NginxServer], tmp_path: Path, approach: str
) -> None:
    network, nginx = server
    path = searched(tmp_path, nginx.url, approach=approach)
    done = loadstone(network, tmp_path, "search", str(path), "--json")
    assert done.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, done.stderr
    assert f"no level above {PORTS} users is tried" in done.stderr
    document = json.loads(done.stdout)
    search = document["search"]
    assert max(each["level"] for each in search["levels"]) <= PORTS
    classes = {
        name
        for trial in document["trials"]
        for operation in trial["result"]["operations"]
        for name in operation["errors"]
    }
    assert "no_ports" not in classes
    if search["status"] != "cut short":  # a busy machine may keep the generator from a level
        assert (search["status"], search["level"]) == ("no limit found", PORTS)
        assert f"can make no higher level than {PORTS} users" in search["text"]


def test_a_level_beyond_the_ports_is_refused_before_the_start(
    server: tuple[list[str], NginxServer], tmp_path: Path
) -> None:
    network, nginx = server
    path = searched(tmp_path, nginx.url, at_most=PORTS + 1)
    done = loadstone(network, tmp_path, "search", str(path))
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert "design.at_most" in done.stderr
    assert f"{PORTS} users at most" in done.stderr
    assert not (tmp_path / "results").exists()
