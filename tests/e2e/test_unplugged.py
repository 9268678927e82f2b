"""What is pulled out from under a run: every time the results are whole and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from lengths import LONG, long_but
from session import Session, until

from loadstone.errors import ExitCode
from loadstone.results.frames import read_frames
from loadstone.results.record import TrialResult

SMALL = ("oltp", "--param", "warehouses=1", "--users", "2", "--warm-up", "0s")
A_MINUTE = (*SMALL, "--measure", "60s")
NO_SERVER = ("noop", "--param", "service_time_us=1000", "--users", "2", "--measure", "60s")


def _read(trial: Path) -> TrialResult:
    return TrialResult.model_validate_json((trial / "result.json").read_text())


@LONG
def test_control_c_keeps_what_was_measured(session: Session) -> None:
    run = session.start("run", *A_MINUTE)
    trial = session.measuring()
    os.kill(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=120)
    assert run.returncode == 130
    assert "interrupted" in said
    result = _read(trial)
    assert result.status == "interrupted"
    assert sum(operation.count for operation in result.operations) > 0
    assert (trial / "samples.parquet").exists()
    session.assert_nothing_left()


@pytest.mark.parametrize(
    ("engine", "moment"),
    long_but(
        [("sqlite", "measuring")],
        [("sqlite", "measuring"), ("postgresql", "loading"), ("postgresql", "measuring")],
    ),
)
def test_killed_loadstone_is_recovered(session: Session, engine: str, moment: str) -> None:
    run = session.start("run", *A_MINUTE, "--target", engine)
    if moment == "loading":
        trial = session.trial()
        until("the server", session.data_made)
    else:
        trial = session.measuring()
    data = made_by(session)
    driver = session.driver() if moment == "measuring" else None
    run.kill()
    run.communicate()
    if driver is not None:
        driver.wait(30)
    assert data.exists(), "kill -9 leaves the data behind"
    warned = session.run("list")
    assert "loadstone recover" in warned.stderr
    recovered = session.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    session.assert_nothing_left()
    result = _read(trial)
    assert result.status == "interrupted"
    if moment == "measuring":
        assert sum(operation.count for operation in result.operations) > 0


def made_by(session: Session) -> Path:
    """The folder that the target's data lie in, from the journal."""
    (journal,) = session.results.glob("*/journal.jsonl")
    entries = map(json.loads, journal.read_text().splitlines())
    return next(
        Path(entry["data"]["path"]) for entry in entries if entry.get("kind") == "remove-tree"
    )


def test_killed_driver_fails_the_trial(session: Session) -> None:
    run = session.start("run", *NO_SERVER)
    trial = session.measuring()
    session.driver().kill()
    _, said = run.communicate(timeout=120)
    assert run.returncode == 5, said
    result = _read(trial)
    assert result.status == "failed"
    assert any("SIGKILL" in notice.message for notice in result.notices)
    session.assert_nothing_left()


def test_killed_server_fails_the_trial(session: Session) -> None:
    run = session.start("run", *A_MINUTE)
    trial = session.measuring()
    postmaster = session.postmaster()
    for process in [postmaster, *postmaster.children(recursive=True)]:
        process.kill()
    _, said = run.communicate(timeout=120)
    assert run.returncode == 5, said
    result = _read(trial)
    assert result.status == "failed"
    assert any("has ended" in notice.message for notice in result.notices)
    assert (trial / "target.log").exists()
    session.assert_nothing_left()


@pytest.fixture
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, in a file or in memory; needs root."""
    if os.geteuid() != 0:
        pytest.skip("a loop file system needs root")
    # The server's account must be able to enter it.
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    if getattr(request, "param", "ext4") == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", "size=24m", "loadstone-test", folder]
    else:
        image = tmp_path / "small.img"
        with image.open("wb") as file:
            file.truncate(24 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        command = ["mount", "-o", "loop", image, folder]
    subprocess.run(command, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


@pytest.mark.parametrize(
    ("small_disk", "arguments"),
    [
        # ext4 keeps room ready for a file that grows, which a small load fills slowly.
        pytest.param("tmpfs", NO_SERVER, id="no-server"),
        pytest.param("ext4", A_MINUTE, id="server", marks=LONG),
    ],
    indirect=["small_disk"],
)
def test_full_disk_of_results_ends_the_run_cleanly(
    session: Session, small_disk: Path, arguments: tuple[str, ...]
) -> None:
    results = small_disk / "results"
    session.results = results
    run = session.start("run", *arguments, "--results", str(results))
    trial = session.measuring()
    with (small_disk / "ballast").open("wb") as ballast:
        try:
            while True:
                ballast.write(bytes(1 << 16))
                ballast.flush()
        except OSError:
            pass
    _, said = run.communicate(timeout=120)
    assert run.returncode == 5, said
    assert "no space left" in said
    assert "Traceback" not in said
    assert sum(1 for frame in read_frames(trial) if frame["frame"] == "tick") > 0
    (small_disk / "ballast").unlink()
    assert "loadstone reindex" in said
    session.run("reindex", "--results", str(results))
    assert _read(trial).status in {"failed", "interrupted"}
    session.assert_nothing_left()


def test_a_disk_without_room_for_the_data_is_said_before_anything_begins(
    session: Session, small_disk: Path
) -> None:
    ended = session.run("run", *SMALL, "--measure", "5s", "--data", str(small_disk))
    assert ended.returncode == ExitCode.REFUSED
    assert "free some space" in ended.stderr
    assert "Traceback" not in ended.stderr
    session.assert_nothing_left()


def test_stalled_server_shows_in_response_time_at_the_offered_rate(session: Session) -> None:
    """Two seconds of SIGSTOP: about 25 % of 8 s of arrivals waited, few operations saw it."""
    rate, measured_s, stall_s = 100, 8, 2.0
    run = session.start(
        *("run", "oltp", "--param", "warehouses=1", "--rate", str(rate), "--warm-up", "0s"),
        *("--measure", f"{measured_s}s", "--sessions", "4"),
    )
    trial = session.measuring()
    server = session.postmaster()
    backends = [server, *server.children(recursive=True)]
    for process in backends:
        process.suspend()
    try:
        begin = _latest_tick_s(trial)
        until("two seconds", lambda: _latest_tick_s(trial) >= begin + stall_s)
    finally:
        for process in backends:
            process.resume()
    _, said = run.communicate(timeout=120)
    # A busy machine may make the generator late; what it shows of the stall is true all the same.
    assert run.returncode in {0, 3}, said
    operations = _read(trial).operations
    due = 0
    for operation in operations:
        assert operation.response is not None
        assert operation.service is not None
        due += operation.count
    histograms = _histograms(trial)
    slow_response = histograms["response"]
    slow_service = histograms["service"]
    assert due >= 0.99 * rate * measured_s, "all that was due was done"
    assert slow_response >= 0.5 * rate * stall_s, "arrivals in the stall waited"
    assert slow_service <= 8, "only those on a connection saw it as service time"


def _latest_tick_s(trial: Path) -> float:
    return max((frame["t_s"] for frame in read_frames(trial)), default=0.0)


def _histograms(trial: Path) -> dict[str, int]:
    """Operations of the measured phase that took more than half a second, by kind of time."""
    from loadstone.results.latency import decode

    slow = {"response": 0, "service": 0}
    for frame in read_frames(trial):
        if frame["frame"] != "tick" or frame["phase_kind"] != "measure":
            continue
        for operation in frame["operations"].values():
            for kind in slow:
                if operation.get(kind):
                    histogram = decode(operation[kind])
                    slow[kind] += sum(
                        item.count_added_in_this_iter_step
                        for item in histogram.get_recorded_iterator()
                        if item.value_iterated_to > 5e8
                    )
    return slow


def of_postgresql(session: Session) -> AbstractContextManager[Any]:
    """A connection to the data of a run."""
    lines = (session.data_folder() / "postmaster.pid").read_text().splitlines()
    return psycopg.connect(host=lines[4], port=int(lines[3]), user="loadstone", dbname="loadstone")


def of_sqlite(session: Session) -> AbstractContextManager[Any]:
    """A connection to the data of a run, which is committed at the end."""
    return sqlite3.connect(made_by(session) / "data" / "loadstone.db", timeout=60)


@LONG
@pytest.mark.parametrize("of", [of_sqlite, of_postgresql])
def test_corrupted_counter_fails_the_trial(
    session: Session, of: Callable[[Session], AbstractContextManager[Any]]
) -> None:
    # At a low rate the gap in the order numbers is still there when the load ends.
    run = session.start(
        *("run", "oltp", "--param", "warehouses=1", "--rate", "20", "--warm-up", "0s"),
        *("--measure", "4s", "--target", of.__name__.removeprefix("of_")),
    )
    trial = session.measuring()
    with of(session) as connection:
        connection.execute("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 7")
    _, said = run.communicate(timeout=120)
    assert run.returncode == 4, said
    result = _read(trial)
    assert result.status == "invalid"
    failed = {check.source for check in result.checks if not check.passed}
    assert any("3.3.2.3" in source for source in failed), failed


@LONG
def test_nothing_is_left_after_a_normal_run(session: Session) -> None:
    ended = session.run("run", *SMALL, "--measure", "2s")
    assert ended.returncode == 0, ended.stderr
    session.assert_nothing_left()
