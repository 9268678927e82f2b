"""`loadstone-fio` as a process: with fio itself, and with a stand-in that says what fio may say."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stand_in_fio
from packages import needs

from loadstone.errors import WrongInputError
from loadstone.fio import passes
from loadstone.fio.conductor import Conductor
from loadstone.fio.plan import parse_plan
from loadstone.load.driver import Driver, DriverFailedError
from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import End, parse_frame, parse_line
from loadstone.protocol.programs import Program
from loadstone.runner.clock import Clock
from loadstone.runner.messages import Inbox
from loadstone.workloads.measured import Observation
from loadstone.workloads.storage.files import file_name, gap, lay_out
from loadstone.workloads.storage.fio_binary import examine_fio
from loadstone.workloads.storage.workload import Storage

PROGRAM = Program("loadstone-fio", command=(sys.executable, "-m", "loadstone.fio.main"))
FILE_BYTES = 4 << 20
needs_fio = needs("fio")

Make = Callable[..., "Run"]


class Run:
    """A run of the program with tests of one job each."""

    def __init__(self, folder: Path, *accesses: str, **changes: Any) -> None:
        lay_out(folder / file_name("data", 0), FILE_BYTES, 0, seed=1)
        tests = [
            {
                "name": each,
                "operation": f"op-{each}",
                "jobs": [{"access": each, "block_bytes": 4096, "depth": 4}],
            }
            for each in accesses
        ]
        self.results = folder / "results"
        parameters = {
            "tests": tests, "passes": 1, "discarded": 0, "pass_s": 0.5, "pause_s": 0.0,
            "file_bytes": FILE_BYTES, "folder": str(self.results),
        } | changes  # fmt: skip
        self.log = LoadLog()
        users = {"model": "closed", "users": {"from": 1, "to": 1}}
        self.plan = {
            "version": 4,
            "seed": 7,
            "workload": {"name": "storage", "role": "run", "parameters": parameters},
            "connection": {"protocol": "files", "folder": str(folder)},
            "phases": [
                {"name": each, "kind": "measure", "duration_s": 1.0, "load": users}
                for each in accesses
            ],
        }

    def driver(self) -> Driver:
        """It, as a process."""
        return Driver(self.plan, lambda frame: self.log.add(parse_frame(frame)), program=PROGRAM)

    def end(self) -> End:
        """What comes of it, in this process."""
        output = io.BytesIO()
        plan = parse_plan(json.dumps(self.plan))
        went_well = Conductor(plan, Clock(), Inbox(), output).conduct()
        for line in output.getvalue().splitlines():
            self.log.add(parse_frame(parse_line(line)))
        assert self.log.end is not None
        assert went_well == (self.log.end.reason != "failed")
        return self.log.end

    def failure(self) -> str:
        """Why it failed, in one line."""
        said = self.end().error
        assert said is not None
        assert "\n" not in said
        return said

    @property
    def passes(self) -> list[dict[str, Any]]:
        """What the events of passes told."""
        return [dict(each.data) for each in self.log.events if each.name == "pass"]

    @property
    def checks(self) -> dict[str, bool]:
        """What the workload makes of the run."""
        seen = Observation(0.0, {})
        workload = Storage(Storage.Parameters())
        measured = self.log.of_workload(seen, seen, None)
        return {each.name: each.passed for each in [workload._read_back(measured)]}


@pytest.fixture
def run(tmp_path: Path) -> Make:
    def make(*accesses: str, **changes: Any) -> Run:
        return Run(tmp_path, *accesses, **changes)

    return make


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("LOADSTONE_FIO_BINARY", raising=False)
    return folder


# -- fio itself --------------------------------------------------------------------------------
@needs_fio
def test_fio_runs_each_test_and_its_seconds_add_up_to_its_figures(run: Make) -> None:
    made = run("randread", "randwrite", passes=1, discarded=1, pass_s=1.2)
    with made.driver() as driver:
        end = driver.wait(timeout_s=60)
    assert end.reason == "completed"
    assert end.facts == {"verify_written_bytes": FILE_BYTES, "verify_read_bytes": FILE_BYTES}
    assert made.checks == {"writes are read back": True}
    assert [(each["test"], each["pass"]) for each in made.passes] == [
        ("op-randread", 1),
        ("op-randwrite", 1),
    ]
    hello = made.log.hello
    assert hello is not None
    assert hello.engine is not None
    assert hello.engine.startswith("fio ")
    for phase, direction in (("randread", "read_bytes"), ("randwrite", "written_bytes")):
        load = made.log.measured(phase)
        told = [each for each in made.passes if each["test"] == f"op-{phase}"]
        assert load.count == sum(each["ios"] for each in told) > 0
        assert load.counters["bytes"] == load.counters[direction] == 4096 * load.count
        assert all(0 < each["depth"] <= 4.2 for each in told)
        service = load.operations[f"op-{phase}"].summary().service
        assert service is not None
        assert service.count == load.count
        assert service.max_s <= max(each["max_s"] for each in told)
    ticks = made.log.measured_ticks("randread")
    assert [round(tick.duration_s, 1) for tick in ticks] == [1.0, 0.2]
    text = (made.results / "fio" / "001-op-randread" / "jobs.fio").read_text()
    assert "norandommap=1" in text
    assert "direct=1" in text
    assert "randseed=8\n" in text


@needs_fio
def test_flushes_are_counted_apart_from_writes(run: Make) -> None:
    made = run("randwrite", sync="fsync", pass_s=0.3)
    made.end()
    (told,) = made.passes
    assert told["syncs"] == pytest.approx(told["ios"], abs=8)
    assert told["sync"]


@needs_fio
def test_a_file_with_a_hole_is_not_measured(run: Make, tmp_path: Path) -> None:
    made = run("randread")
    path = tmp_path / file_name("data", 0)
    os.truncate(path, 0)
    os.truncate(path, FILE_BYTES)
    assert gap(path) == "a hole at 0"
    assert "has a hole at 0: it was not written in full" in made.failure()
    assert lay_out(path, FILE_BYTES, 0, seed=1)
    assert gap(path) is None
    assert not lay_out(path, FILE_BYTES, 0, seed=1)


@needs_fio
def test_fio_that_is_killed_fails_the_run_and_names_the_pass(run: Make, bin_folder: Path) -> None:
    real = shutil.which("fio", path=os.environ["PATH"].partition(os.pathsep)[2])
    kill = f"""
    import subprocess
    process = subprocess.Popen([{real!r}, *sys.argv[1:]])
    if "jobs.fio" in sys.argv:
        time.sleep(0.3)
        os.kill(os.getpid(), 9 if process.kill() is None else 0)
    sys.exit(process.wait())
"""
    stand_in_fio.doing(bin_folder, kill)
    assert "randread, pass 1: fio was ended by SIGKILL" in run("randread").failure()


# -- what it says ------------------------------------------------------------------------------
NOTES = (
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped",
    "fio: io_u error on file {a}/x: Input/output error: read offset=0, buflen=4096",
    "CPU mask cannot bind",
)


@pytest.mark.parametrize("to_file", [True, False])
def test_notes_are_kept_and_figures_read(run: Make, bin_folder: Path, *, to_file: bool) -> None:
    text = "\n".join([*NOTES[:2], stand_in_fio.document(), NOTES[2]])
    stand_in_fio.saying(bin_folder, text, to_file=to_file)
    made = run("randread")
    assert made.end().reason == "completed"
    (told,) = made.passes
    assert told["ios"] == 1000
    assert told["mb_per_s"] == pytest.approx(8.192)
    assert told["notes"].splitlines() == list(NOTES)


def test_of_two_documents_the_last_counts(run: Make, bin_folder: Path) -> None:
    text = f"{stand_in_fio.document(total_ios=1)}\n{stand_in_fio.document()}"
    stand_in_fio.saying(bin_folder, text)
    made = run("randread")
    made.end()
    assert made.passes[0]["ios"] == 1000


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (stand_in_fio.document()[:300], 137, "fio was ended by SIGKILL"),
        (stand_in_fio.document()[:300], -signal.SIGKILL, "fio was ended by SIGKILL"),
        (stand_in_fio.document()[:300], 0, "fio ended with code 0, and its figures are cut short"),
        ("", 0, "fio ended with code 0, and it gave no figures"),
        ("fio: stuck grabbing stat_sem, forcibly exiting\n", 1, "stuck grabbing stat_sem"),
        (stand_in_fio.document().replace("4096000", "nan"), 0, "'io_bytes' is no number"),
        (stand_in_fio.document(total_ios=0, clat_ns={}), 0, "fio moved nothing"),
    ],
)
def test_a_pass_without_figures_fails_in_one_line(
    run: Make, bin_folder: Path, text: str, code: int, said: str
) -> None:
    stand_in_fio.saying(bin_folder, f"note\n{text}", code)
    # The block that is read to choose an engine goes well.
    script = (bin_folder / "fio").read_text()
    alone = script.replace("else:\n", 'elif "jobs.fio" not in sys.argv:\n    pass\nelse:\n', 1)
    (bin_folder / "fio").write_text(alone)
    failure = run("randread").failure()
    assert "randread, pass 1: fio" in failure
    assert said in failure


def test_a_figure_that_nobody_needs_may_be_none(run: Make, bin_folder: Path) -> None:
    stand_in_fio.saying(bin_folder, stand_in_fio.document().replace("120000.0", "-nan"))
    made = run("randread")
    made.end()
    assert made.passes[0]["depth"] == pytest.approx((990 * 100_864 + 10 * 1_990_656) / 0.5e9)


def test_a_time_beyond_the_scale_is_counted(run: Make, bin_folder: Path) -> None:
    times = {"min": 90_000, "max": 20 * 10**9, "bins": {"100864": 990, "17112760320": 10}}
    stand_in_fio.saying(bin_folder, stand_in_fio.document(clat_ns=times))
    made = run("randread")
    made.end()
    assert made.passes[0]["beyond"] == 10
    assert made.passes[0]["max_s"] == 20.0


def test_what_is_read_back_wrong_fails_the_check(run: Make, bin_folder: Path) -> None:
    body = f"""
    text = {stand_in_fio.document()!r}
    bad = "jobs.fio" in sys.argv and "verify=" in open("jobs.fio").read()
    print("verify: bad magic header 0, wanted acca at file data offset 0" if bad else text)
    sys.exit(1 if bad else 0)
"""
    stand_in_fio.doing(bin_folder, body)
    made = run("randwrite")
    assert made.end().reason == "completed"
    assert made.checks == {"writes are read back": False}


# -- what it meets -----------------------------------------------------------------------------
def test_a_stop_ends_fio_and_the_run(run: Make, bin_folder: Path) -> None:
    stand_in_fio.doing(bin_folder, '    time.sleep(60 if "jobs.fio" in sys.argv else 0)\n')
    made = run("randread")
    with made.driver() as driver:
        driver.wait_hello()
        began = time.monotonic()
        driver.stop()
        assert driver.wait(timeout_s=10).reason == "stopped"
    assert time.monotonic() - began < 10
    assert not list(_running(bin_folder / "fio"))


def test_nothing_of_fio_is_left_when_the_program_is_killed(run: Make, bin_folder: Path) -> None:
    stand_in_fio.doing(bin_folder, '    time.sleep(60 if "jobs.fio" in sys.argv else 0)\n')
    made = run("randread")
    with made.driver() as driver:
        driver.wait_hello()
        deadline = time.monotonic() + 10
        while not list(_running(bin_folder / "fio")) and time.monotonic() < deadline:
            time.sleep(0.02)
        (pid,) = driver.pids
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(DriverFailedError, match="SIGKILL"):
            driver.wait(timeout_s=10)
        while list(_running(bin_folder / "fio")) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert not list(_running(bin_folder / "fio"))


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("time.sleep(60)", "its storage does not answer"),
        ("os.kill(os.getpid(), 19)", "it had been stopped (SIGSTOP)"),
        ("os.fork() or os.kill(os.getpid(), 19); time.sleep(60)", "it had been stopped (SIGSTOP)"),
    ],
)
def test_a_silent_fio_and_a_stopped_one_are_told_apart(
    run: Make, bin_folder: Path, monkeypatch: pytest.MonkeyPatch, does: str, said: str
) -> None:
    monkeypatch.setattr(passes, "_PATIENCE_S", 0.3)
    stand_in_fio.doing(bin_folder, f'    if "jobs.fio" in sys.argv: {does}\n')
    assert f"was killed: {said}" in run("randread", pass_s=0.2).failure()
    assert not list(_running(bin_folder / "fio"))


def test_a_fio_without_an_engine_is_named(run: Make, bin_folder: Path) -> None:
    path = stand_in_fio.doing(bin_folder, "    pass\n")
    path.write_text(path.read_text().replace("psync", "null").replace("io_uring", "cpuio"))
    assert "has no engine io_uring or libaio or psync" in run("randread").failure()


def test_an_engine_of_network_storage_is_looked_for_before_a_run(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_FIO_BINARY", str(stand_in_fio.doing(bin_folder, "    pass\n")))
    with pytest.raises(WrongInputError, match="has no engine nfs"):
        examine_fio("nfs")
    examine_fio("folder")


def test_no_fio_is_one_line(run: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOADSTONE_FIO_BINARY", str(tmp_path / "absent"))
    assert "LOADSTONE_FIO_BINARY is" in run("randread").failure()


def _running(script: Path) -> Iterator[int]:
    """Processes that run a script."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(script).encode() in each.read_bytes().split(b"\0")[:3]:
                yield int(each.parent.name)
        except OSError:
            continue
