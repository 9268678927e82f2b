"""Ports are counted before the start, in a network namespace that has only 200 of them.

Those in TIME_WAIT are told and waited for, unless the kernel gives them again. As in mzbench#32,
gorilla/websocket#678 and envoy#44747: a generator without a port left must never count that as the
server's error.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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
AWAY = "192.0.2.1"
"""An address that is not of loopback, though it is of this machine within the namespace."""
ELSEWHERE = "http://192.0.2.2"
"""Of nobody (RFC 5737): nothing is asked there, as ports are counted before."""
PROBER = Path(__file__).with_name("time_wait_prober.py")
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
        subprocess.run([*enter, "ip", "address", "add", f"{AWAY}/32", "dev", "lo"], check=True)
        yield enter


def experiment(folder: Path, url: str, users: int = USERS, *besides: str) -> Path:
    """Users who ask for six parts at the same time, or for a page of each of several servers."""
    parts = [{"request": f"part {name}", "get": f"/{name}"} for name in PARTS[:CONNECTIONS]]
    pages = [{"get": "/"}, *({"get": f"{other}/"} for other in besides)]
    scenario = {
        "connections": CONNECTIONS,
        "hosts": list(besides),
        "think_time": {"distribution": "constant", "mean_s": 0.1},
        "transactions": [{"name": "parts", "steps": pages if besides else [{"parallel": parts}]}],
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
                "profile": {"users": users, "warm_up": "300ms", "measure": "700ms"},
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


def setting(network: list[str], name: str, value: object) -> None:
    """Sets a setting of TCP in that network."""
    said = f"echo {value} > /proc/sys/net/ipv4/{name}"
    subprocess.run([*network, "sh", "-c", said], check=True)


@pytest.fixture
def reuse(network: list[str]) -> Iterator[Callable[[int], None]]:
    """Sets which ports in TIME_WAIT are given again; as before afterwards."""
    yield lambda value: setting(network, "tcp_tw_reuse", value)
    setting(network, "tcp_tw_reuse", 2)
    setting(network, "tcp_timestamps", 1)


def ran(network: list[str], folder: Path, path: Path) -> dict[str, Any]:
    """The document of a run in which nothing failed."""
    done = loadstone(network, folder, "run", str(path), "--json", "--quiet")
    assert done.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert errors(document) == []
    (trial,) = document["trials"]
    assert sum(each["count"] for each in trial["result"]["operations"]) > 0
    return document


def resources(network: list[str], folder: Path, path: Path) -> dict[str, Any]:
    done = loadstone(network, folder, "plan", str(path), "--json")
    assert done.returncode == ExitCode.OK, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["resources"]
    return found


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
            ran(network, tmp_path, path)


def test_elsewhere_too_few_ports_are_refused_before_the_start(
    network: list[str], tmp_path: Path
) -> None:
    done = loadstone(network, tmp_path, "run", str(experiment(tmp_path, ELSEWHERE)))
    assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
    assert str(NEEDED) in done.stderr
    assert str(PORTS) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("rules", "address", "free"),
    [
        ((0, 1), "127.0.0.1", False),
        ((1, 1), AWAY, True),
        ((1, 0), AWAY, False),
        ((2, 1), AWAY, False),
        ((2, 1), "127.0.0.1", True),
        ((2, 0), "127.0.0.1", False),
    ],
)
def test_the_kernel_gives_those_ports_again_that_loadstone_takes_for_free(
    network: list[str],
    reuse: Callable[[int], None],
    rules: tuple[int, int],
    address: str,
    free: bool,
) -> None:
    reuse(rules[0])
    setting(network, "tcp_timestamps", rules[1])
    port = 20_000 + 10 * rules[0] + rules[1]  # of each case its own: all of them end in TIME_WAIT
    words = [*network, sys.executable, str(PROBER), address, str(port), "1.5"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ports"] == PORTS
    assert found["told"] == found["given"] == (PORTS if free else 0)


def test_each_server_has_all_ports(network: list[str], tmp_path: Path) -> None:
    users = PORTS - 20
    with running_nginx(network, address=AWAY) as server:
        path = experiment(tmp_path, server.url, users, server.other_url)
        found = resources(network, tmp_path, path)
        assert [each["connections"] for each in found["destinations"]] == [users, users]
        assert (found["connections"], found["sources"]) == (2 * users, [])
        ran(network, tmp_path, path)


def test_ports_in_time_wait_are_told_before_the_start_and_given_again_where_that_is_so(
    network: list[str], reuse: Callable[[int], None], tmp_path: Path
) -> None:
    with running_nginx(network, address=AWAY) as server:
        path = experiment(tmp_path, server.url, 30)
        ran(network, tmp_path, path)
        found = resources(network, tmp_path, path)
        assert found["time_wait"] >= 30 * CONNECTIONS
        assert 0 < found["wait_s"] <= 60
        said = " ".join(loadstone(network, tmp_path, "plan", str(path)).stdout.split())
        assert "are in TIME_WAIT of earlier connections, and a run waits" in said
        more = experiment(tmp_path, server.url, PORTS // CONNECTIONS + 1)
        done = loadstone(network, tmp_path, "run", str(more))
        assert done.returncode == ExitCode.WRONG_INPUT, done.stderr
        refused = " ".join(done.stderr.split())
        assert "need 204 connections" in refused
        assert "198 are possible: 200 ports" in refused
        assert "of the ports are in TIME_WAIT" in refused
        reuse(1)
        path = experiment(tmp_path, server.url, 30)
        assert resources(network, tmp_path, path)["wait_s"] <= 1
        ran(network, tmp_path, path)


@pytest.mark.long
def test_a_run_waits_until_ports_leave_time_wait(network: list[str], tmp_path: Path) -> None:
    with running_nginx(network, address=AWAY) as server:
        path = experiment(tmp_path, server.url, 30)
        ran(network, tmp_path, path)
        assert resources(network, tmp_path, path)["wait_s"] > 10
        done = loadstone(network, tmp_path, "run", str(path), "--json")
        assert errors(json.loads(done.stdout)) == []
        assert "waiting for ports" in done.stderr
        (trial,) = json.loads(done.stdout)["trials"]
        (waited,) = (each for each in trial["result"]["took"] if each["name"] == "wait for ports")
        assert waited["seconds"] > 5
        assert trial["result"]["status"] != "failed"
