"""After every experiment the machine is as before: to its end, interrupted, or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alone import host_to_itself
from conftest import until
from enclosure import Enclosure, signal_to, why_not
from listing import listing

from loadstone.errors import LoadstoneError
from loadstone.experiments.model import TargetSpec
from loadstone.results.frames import read_frames
from loadstone.targets.registry import TARGETS

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

HOST_RUNGS = """\
    - {name: swap, change: {host.vm.swappiness: 10}}
    - {name: dirty, change: {host.vm.dirty_bytes: 256MB}}
    - {name: thp, change: {host.transparent_hugepages: never}}
    - {name: ahead, change: {host.queue.read_ahead_kb: 4096}}
    - {name: generator, change: {host.generator.cpus: "0"}}
"""
SERVER_RUNGS = """\
    - {name: cpus, change: {host.server.cpus: "0"}}
    - {name: files, change: {host.server.nofile: 4096}}
"""
STORAGE_RUNGS = """\
    - {name: loop, change: {storage.data: "loop:ext4,noatime,size=2GB"}}
"""
LAST = "    - {name: last, change: {host.vm.dirty_expire_centisecs: 1000}}\n"


def experiment(engine: str, measure: str) -> str:
    """A ladder that changes the host, the processes and, with a server, where the data lie."""
    target = TARGETS[engine]
    users = "users: 2, "
    if engine == "none":
        workload = "{name: noop, parameters: {service_time_us: 100}}"
    elif "transactions" in target.capabilities:
        workload = "{name: oltp, parameters: {warehouses: 1}}"
    else:
        workload, users = "{name: archive, parameters: {rate: 2000}}", ""
    server = "" if target.in_process else SERVER_RUNGS
    rungs = HOST_RUNGS + ("" if engine == "none" else server + STORAGE_RUNGS)
    return f"""\
version: 1
name: trace
workload: {workload}
target: {{engine: {engine}}}
profile: {{{users}warm_up: 0s, measure: {measure}}}
host: {{vm.dirty_writeback_centisecs: 400}}
design:
  kind: ladder
  rungs:
{rungs}{LAST}"""


class Machine:
    """One user's folder, in an enclosure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir()
        self.enclosure = Enclosure(folder / "tmp")
        self.environment = {**os.environ, "LOADSTONE_STATE": str(folder / "state")}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        program = Path(sys.executable).parent / "loadstone"
        return self.enclosure.start([program, *arguments], self.folder, self.environment)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=500)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def listing(self) -> dict[str, Any]:
        """As seen within, and the limits and processors of the test itself."""
        own = listing()
        within = self.enclosure.listing(self.folder / "tmp")
        return {**within, "own": (own["limits"], own["affinity"])}

    def wait_for_last_rung(self, run: subprocess.Popen[str]) -> None:
        """Waits until load runs in the trial in which everything is in force."""
        until("the last rung", lambda: self._last_rung_runs() or run.poll() is not None)
        assert run.poll() is None, run.communicate()[1]

    def _last_rung_runs(self) -> bool:
        plans = (self.folder / "results").glob("trace/*-last/plan.json")
        return any(frame["frame"] == "tick" for plan in plans for frame in read_frames(plan.parent))


@pytest.fixture
def machine() -> Iterator[Machine]:
    """An enclosure, while no other test changes the host."""
    with tempfile.TemporaryDirectory(prefix="loadstone-trace-") as name, host_to_itself():
        Path(name).chmod(0o755)
        machine = Machine(Path(name))
        try:
            yield machine
        finally:
            machine.run("recover")
            machine.enclosure.close()


def engines() -> list[Any]:
    """Every registered engine; those whose programs are missing here are skipped by name."""
    found = []
    for engine, cls in TARGETS.items():
        marks = []
        try:
            cls.describe(TargetSpec(engine=engine))
        except LoadstoneError as error:
            marks = [pytest.mark.skip(reason=str(error))]
        found.append(pytest.param(engine, marks=marks))
    return found


@pytest.mark.parametrize("engine", engines())
def test_to_the_end(machine: Machine, engine: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(engine, "1s"))
    before = machine.listing()
    done = machine.run("ladder", "trace.yaml", "--allow-unsafe")
    # Of a second's load a busy machine may say that it is not valid.
    assert done.returncode in {0, 3}, done.stderr
    assert machine.listing() == before


@pytest.mark.parametrize("engine", engines())
def test_interrupted(machine: Machine, engine: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(engine, "3s"))
    before = machine.listing()
    run = machine.start("ladder", "trace.yaml", "--allow-unsafe")
    machine.wait_for_last_rung(run)
    assert machine.listing()["host settings"] != before["host settings"]
    signal_to(run, signal.SIGINT)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 130, said
    assert machine.listing() == before


@pytest.mark.parametrize("engine", engines())
def test_killed_and_recovered(machine: Machine, engine: str) -> None:
    (machine.folder / "trace.yaml").write_text(experiment(engine, "3s"))
    before = machine.listing()
    run = machine.start("ladder", "trace.yaml", "--allow-unsafe")
    machine.wait_for_last_rung(run)
    signal_to(run, signal.SIGKILL)
    run.communicate()
    assert machine.listing()["host settings"] != before["host settings"]
    recovered = machine.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    until("the driver's end", lambda: machine.listing()["processes"] == before["processes"])
    assert machine.listing() == before
