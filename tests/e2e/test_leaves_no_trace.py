"""After every experiment the machine is as before: to its end, interrupted, or killed."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from alone import ON_THE_HOST
from enclosed_user import Machine, machine_to_itself
from enclosure import signal_to, why_not
from lengths import long_but
from listing import host_settings
from session import until

from loadstone.errors import LoadstoneError
from loadstone.host.registry import host_setting
from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.results.frames import read_frames
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.capabilities import BI, JAVA_TRANSACTIONS, JOBS
from loadstone.targets.registry import TARGETS

pytestmark = [ON_THE_HOST, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]

Rungs = dict[str, dict[str, Level]]

HOST: Rungs = {
    "swap": {"host.vm.swappiness": 10},
    "dirty": {"host.vm.dirty_bytes": "256MB"},
    "thp": {"host.transparent_hugepages": "never"},
    "ahead": {"host.queue.read_ahead_kb": 4096},
    "generator": {"host.generator.cpus": "0"},
}
SERVER: Rungs = {
    "cpus": {"host.server.cpus": "0"},
    "files": {"host.server.nofile": 4096},
    "quota": {"host.server.quota": 0.9},
}
STORAGE: Rungs = {"loop": {"storage.data": "loop:ext4,noatime,size=2GB"}}
LAST: Rungs = {"last": {"host.vm.dirty_expire_centisecs": 1000}}
SHORT, LONGER = "1s", "3s"
STEEP = "-steep"
"""After an engine: all that its ladder changes is changed at once, in the last rung."""


def experiment(what: str, measure: str) -> str:
    """A ladder that changes the host, the processes and, with a server, where the data lie.

    Args:
        what: The engine, and how steep the ladder is.
        measure: How long each trial measures.
    """
    engine = what.removesuffix(STEEP)
    target = TARGETS[engine]
    profile: dict[str, Any] = {"users": 2, "warm_up": "0s", "measure": measure}
    settings: dict[str, Level] = {}
    workload: dict[str, Any]
    if engine == "none":
        workload = {"name": "noop", "parameters": {"service_time_us": 100}}
    elif "transactions" in target.capabilities:
        workload = {"name": "oltp", "parameters": {"warehouses": 1}}
    elif "bulk" in target.capabilities:
        workload = {"name": "archive", "parameters": {"rate": 2000}}
        del profile["users"]
    elif BI in target.capabilities:
        workload = {"name": "bi", "parameters": {"accounts": 10}}
    elif JAVA_TRANSACTIONS in target.capabilities:
        workload = {"name": "ssj", "parameters": {"warehouses": 1}}
        settings = {"heap": "128m", "customers": 50, "items": 500, "orders": 30}
        del profile["users"]
    elif JOBS in target.capabilities:
        job = {"application": "command", "command": f"sleep {measure}", "jobs": 1}
        workload, profile = {"name": "jobs", "parameters": {**job, "poll": "100ms"}}, {}
    elif "file-access" in target.capabilities:
        passes = {"passes": 1, "pass_length": measure, "pause": "0s"}
        small = {"test": "RND4K Q1T1 read", "file_size": "64MB"}
        workload, profile = {"name": "storage", "parameters": {**passes, **small}}, {}
    else:
        parameters = {"scale": 0.05, "refreshes": False, "warm_up": False}
        parameters["streams"] = 0 if measure == SHORT else 8  # it has no measured time
        workload, profile = {"name": "dss", "parameters": parameters}, {}
    shared_out = JOBS in target.capabilities  # nodes of a cluster have shares of their own
    server = SERVER if target.serves and not shared_out else {}
    storage = STORAGE if "data" in target.storage_roles else {}
    rungs = {**HOST, **server, **storage, **LAST}
    return json.dumps(
        {
            "version": 1,
            "name": "trace",
            "workload": workload,
            "target": {"engine": engine, "settings": settings},
            "profile": profile,
            "host": {"vm.dirty_writeback_centisecs": 400},
            "design": {
                "kind": "ladder",
                "rungs": [
                    {"name": name, "change": change, "several": len(change) > 1}
                    for name, change in (steep(rungs) if what.endswith(STEEP) else rungs).items()
                ],
            },
        }
    )


def steep(rungs: Rungs) -> Rungs:
    """The rungs as one, but for what this machine has not."""
    together = {factor: level for change in rungs.values() for factor, level in change.items()}
    return {"last": {each: level for each, level in together.items() if _can_be(each, level)}}


def _can_be(factor: str, level: Level) -> bool:
    family, _, name = factor.partition(".")
    if family == "storage":
        return support.unavailable(parse(str(level))) is None
    return host_setting(name).unavailable(level) is None


def wait_for_last_rung(machine: Machine, run: subprocess.Popen[str]) -> None:
    """Waits until load runs in the trial in which everything is in force."""

    def runs() -> bool:
        plans = (machine.folder / "results").glob("trace/*-last/plan.json")
        return any(frame["frame"] == "tick" for plan in plans for frame in read_frames(plan.parent))

    until("the last rung", lambda: runs() or run.poll() is not None)
    assert run.poll() is None, run.communicate()[1]


@pytest.fixture
def machine() -> Iterator[Machine]:
    """An enclosure, while no other test changes the host."""
    with machine_to_itself() as machine:
        yield machine


def ladders(quick: str) -> list[Any]:
    """A steep ladder on the engine of quick tests, and one of many rungs on each that there is.

    Those whose programs are missing here are skipped by name.
    """
    found = [pytest.param(quick)]
    for engine, cls in TARGETS.items():
        marks = []
        try:
            cls.describe(TargetSpec(engine=engine))
        except LoadstoneError as error:
            marks = [pytest.mark.skip(reason=str(error))]
        if engine in ("spark", "superset"):
            reason = f"a ladder on {engine} takes many minutes in an enclosure"
            marks = [pytest.mark.skip(reason=reason)]
        found.append(pytest.param(engine, marks=marks))
    return long_but([quick], found)


@pytest.mark.parametrize("ladder", ladders("none" + STEEP))
def test_to_the_end(machine: Machine, ladder: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(ladder, SHORT))
    before = machine.listing()
    done = machine.run("ladder", "trace.yaml", "--allow-unsafe")
    # Of a second's load a busy machine may say that it is not valid.
    assert done.returncode in {0, 3}, done.stderr
    machine.assert_as_before(before)


@pytest.mark.parametrize("ladder", ladders("sqlite" + STEEP))
def test_interrupted(machine: Machine, ladder: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(ladder, LONGER))
    before = machine.listing()
    run = machine.start("ladder", "trace.yaml", "--allow-unsafe")
    wait_for_last_rung(machine, run)
    assert dict(host_settings()) != before["host settings"]
    signal_to(run, signal.SIGINT)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 130, said
    machine.assert_as_before(before)


@pytest.mark.parametrize("ladder", ladders("postgresql" + STEEP))
def test_killed_and_recovered(machine: Machine, ladder: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(ladder, LONGER))
    before = machine.listing()
    run = machine.start("ladder", "trace.yaml", "--allow-unsafe")
    wait_for_last_rung(machine, run)
    signal_to(run, signal.SIGKILL)
    run.communicate()
    assert dict(host_settings()) != before["host settings"]
    recovered = machine.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    until("the driver's end", lambda: machine.listing()["processes"] == before["processes"])
    machine.assert_as_before(before)
