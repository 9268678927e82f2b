"""Processes started on chosen processors and with a chosen limit, read back as they run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from loadstone.errors import TargetError
from loadstone.load.driver import Driver
from loadstone.placements.account import Account, server_account
from loadstone.protocol.frames import PROTOCOL_VERSION, Hello
from loadstone.spec.target import ProcessSpec
from loadstone.targets.local.launch import launch, readings

FEWER = 512
"""Open files; every process may lower its limit to that."""
_READY = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextmanager
def started(process: ProcessSpec, account: Account) -> Iterator[subprocess.Popen[str]]:
    """A program that says when it runs, and ends with its input."""
    python = Path(sys.base_prefix) / "bin" / "python3"
    starting = launch([python, "-c", _READY], process, account)
    running = subprocess.Popen(
        starting.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        **starting.options,
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.communicate()


@pytest.fixture
def account() -> Account:
    """That of owned servers, where it may run the tests' Python; else the present one."""
    own = server_account()
    python = Path(sys.base_prefix) / "bin" / "python3"
    if own.can_run([python, "-c", ""]):
        return own
    return Account("self", os.geteuid(), os.getegid(), switch=False)


def test_a_process_has_what_its_start_command_asked_for(account: Account):
    before = (os.sched_getaffinity(0), resource.getrlimit(resource.RLIMIT_NOFILE))
    process = ProcessSpec(cpus="0", nofile=FEWER)
    with started(process, account) as running:
        found = {reading.factor: reading for reading in readings(process, running.pid)}
        seen = psutil.Process(running.pid)
        assert seen.cpu_affinity() == [0]
        assert seen.uids().effective == account.uid
        assert seen.cmdline()[1:] == ["-c", _READY]  # neither taskset nor prlimit is left
    assert found["host.server.cpus"].read_back == "0"
    assert found["host.server.nofile"].read_back == FEWER
    assert (os.sched_getaffinity(0), resource.getrlimit(resource.RLIMIT_NOFILE)) == before


def test_without_options_the_command_is_the_server_alone(account: Account):
    starting = launch(["server", "-D", Path("/data")], ProcessSpec(), account)
    assert starting.command == ["server", "-D", "/data"]
    assert starting.options == account.process_options()


def test_a_process_that_runs_with_something_else_is_an_error(account: Account):
    with (
        started(ProcessSpec(), account) as running,
        pytest.raises(TargetError, match=f"was asked to be {FEWER}, but the process runs with"),
    ):
        readings(ProcessSpec(nofile=FEWER), running.pid)


def test_the_driver_runs_on_its_processors():
    plan = {
        "version": PROTOCOL_VERSION,
        "workload": {"name": "noop", "parameters": {"service_time_us": 100}},
        "connection": {"protocol": "none"},
        "phases": [
            {
                "name": "measure",
                "kind": "measure",
                "duration_s": 30.0,
                "load": {"model": "closed", "users": {"from": 1, "to": 1}},
            }
        ],
    }
    with Driver(plan, lambda _: None, cpus="0") as driver:
        hello = driver.wait_hello()
        assert isinstance(hello, Hello)
        assert os.sched_getaffinity(hello.pid) == {0}
        assert hello.pid == driver.pid
