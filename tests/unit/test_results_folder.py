"""The folder of a trial: atomic, never overwritten, readable after `kill -9`, clear when full."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_frames import FRAMES
from sample_trials import plan_of

from loadstone.errors import DiskFullError, WrongInputError
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.files import write_atomically
from loadstone.results.folder import ExperimentFolder
from loadstone.results.frames import FRAMES_FILE, read_frames
from loadstone.results.lines import LineWriter, read_lines
from loadstone.results.plain_lines import damaged_lines
from loadstone.results.record import Status
from loadstone.results.sample import Sample
from loadstone.results.samples import SAMPLES_LINES, read_samples
from loadstone.results.trial_files import is_running, read_plan, read_result, write_result


def test_names_are_never_used_twice(tmp_path: Path) -> None:
    names = [ExperimentFolder.create(tmp_path / "results", "demo").name for _ in range(3)]
    assert names == ["demo", "demo-2", "demo-3"]


def test_a_folder_that_cannot_be_made_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongInputError, match="cannot be written"):
        ExperimentFolder.create(tmp_path / "file", "demo")


def test_a_trial_runs_and_ends(tmp_path: Path) -> None:
    folder = ExperimentFolder.create(tmp_path, "demo")
    with folder.trial(plan_of()) as trial:
        assert read_plan(trial.path) == plan_of()
        running = read_result(trial.path)
        assert running.status is Status.RUNNING
        assert is_running(trial.path)
        assert finish_interrupted(trial.path) == running
        trial.frames.write(*FRAMES)
        assert list(read_frames(trial.path)) == FRAMES
        trial.samples.put([Sample(1.0, "host", "cpu_user_percent", 5.0)])
        trial.write_inventory({"host": {"kernel": "6"}})
        trial.write_result(running.model_copy(update={"status": Status.VALID}))
    assert not is_running(trial.path)
    assert folder.trials() == [trial.path]
    assert finish_interrupted(trial.path).status is Status.VALID
    assert read_samples(trial.path) == [Sample(1.0, "host", "cpu_user_percent", 5.0)]
    assert sorted(path.name for path in trial.path.iterdir()) == [
        FRAMES_FILE,
        "inventory.json",
        "plan.json",
        "result.json",
        "samples.parquet",
    ]


def test_times_of_requests_are_in_the_standard_log(tmp_path: Path) -> None:
    told = FRAMES[5]
    operations = {name: dict(operation) for name, operation in told["operations"].items()}
    service = operations["new-order"]["service"]
    operations["new-order"]["requests"] = {
        "list page": {"count": 3, "errors": {}, "resent": {}, "service": service},
        "naïve, page": {"count": 0, "errors": {"status_500": 1}, "resent": {}},
    }
    with ExperimentFolder.create(tmp_path, "demo").trial(plan_of()) as trial:
        trial.write_frame(FRAMES[0])
        trial.write_frame({**told, "operations": operations})
    lines = (trial.path / "latency.hlog").read_text(encoding="ascii").splitlines()
    assert [line.partition(",")[0] for line in lines if line.startswith("Tag=")] == [
        "Tag=measure/new-order/response",
        "Tag=measure/new-order/service",
        "Tag=measure/new-order/list-page/service",
    ]
    assert damaged_lines(trial.path) == {}


def test_a_trial_is_never_overwritten(tmp_path: Path) -> None:
    folder = ExperimentFolder.create(tmp_path, "demo")
    folder.trial(plan_of()).close()
    with pytest.raises(WrongInputError, match="never overwritten"):
        folder.trial(plan_of())


def test_the_design_says_what_a_ladder_kept(tmp_path: Path) -> None:
    folder = ExperimentFolder.create(tmp_path, "demo")
    pair = {"candidate": "b", "baseline": "a", "role": "previous"}
    folder.write_design([plan_of().variant], [pair], "loadstone ladder", {"b": True})
    design = json.loads((folder.path / "design.json").read_text())
    assert design["kept"] == {"b": True}
    assert design["variants"][0]["name"] == "base"


def write_and_be_killed(results: Path, frames: list[dict[str, Any]]) -> None:
    """In a process of its own, which leaves nothing but what it wrote."""
    try:
        trial = ExperimentFolder.create(results, "demo").trial(plan_of())
        for number, frame in enumerate(frames):
            trial.frames.write(frame)
            trial.samples.put([Sample(float(number), "host", "cpu_user_percent", 1.5)])
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("frames", [0, 1, 3, 6, len(FRAMES)])
def test_what_a_killed_run_wrote_is_kept(tmp_path: Path, frames: int) -> None:
    process = multiprocessing.get_context("fork").Process(
        target=write_and_be_killed, args=(tmp_path, FRAMES[:frames])
    )
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    trial = tmp_path / "demo" / "b01-1-base"
    assert list(read_frames(trial)) == FRAMES[:frames]
    assert len(read_samples(trial)) == frames
    result = finish_interrupted(trial)
    assert result.status is Status.INTERRUPTED
    assert [notice.code for notice in result.notices] == ["interrupted"]
    assert result == read_result(trial)
    assert bool(result.operations) == (frames >= 6)
    assert len(read_samples(trial)) == frames
    assert not (trial / SAMPLES_LINES).exists()
    assert finish_interrupted(trial) == result


def test_a_trial_without_a_result_is_finished_too(tmp_path: Path) -> None:
    trial = ExperimentFolder.create(tmp_path, "demo").trial(plan_of())
    trial.close()
    (trial.path / "result.json").unlink()
    assert finish_interrupted(trial.path).status is Status.INTERRUPTED


def test_a_folder_without_a_plan_cannot_be_finished(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"plan\.json"):
        finish_interrupted(tmp_path)


@given(data=st.data())
def test_any_cut_leaves_the_lines_before_it(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    lines = data.draw(st.lists(st.dictionaries(st.text(max_size=5), st.integers()), max_size=20))
    sizes = []
    with LineWriter(folder / "whole") as writer:
        for line in lines:
            writer.write(line)
            sizes.append((folder / "whole").stat().st_size)
    whole = (folder / "whole").read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    (folder / "cut").write_bytes(whole[:cut])
    flushed = sum(size <= cut for size in sizes)
    read = list(read_lines(folder / "cut"))
    assert read == lines[: len(read)]
    assert len(read) >= flushed


@given(noise=st.binary(max_size=200))
def test_noise_is_no_line_and_no_crash(
    noise: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("noise") / "lines"
    path.write_bytes(noise)
    assert list(read_lines(path)) == []


class FullDisk:
    """A file on a disk that has room for some bytes, until there is more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file = file
        self.room = room

    def write(self, data: memoryview) -> int:
        part = data[: self.room]
        self.room -= len(part)
        if not part:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written: int = self.file.write(part)
        return written

    def fileno(self) -> int:
        number: int = self.file.fileno()
        return number

    def close(self) -> None:
        self.file.close()


def test_a_full_disk_is_one_clear_error_and_keeps_what_was_written(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "lines")
    writer.write({"a": 1})
    disk = writer._file = FullDisk(writer._file, room=5)  # type: ignore[assignment]
    with pytest.raises(DiskFullError, match="no space left") as caught:
        writer.write({"a": "a line that needs more room than there is"})
    assert caught.value.exit_code == 5
    assert "reindex" in (caught.value.advice or "")
    disk.room = 1000
    writer.write({"a": 3})
    writer.close()
    lines = read_lines(tmp_path / "lines")
    assert next(lines) == {"a": 1}
    with pytest.raises(StopIteration) as end:
        next(lines)
    assert end.value.value == "ends early, after 1 lines"


@given(data=st.data())
def test_a_damage_leaves_the_lines_before_it(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("damage") / "lines"
    lines = data.draw(st.lists(st.dictionaries(st.text(max_size=5), st.integers()), max_size=20))
    sizes = []
    with LineWriter(path) as writer:
        for line in lines:
            writer.write(line)
            sizes.append(path.stat().st_size)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:at] + data.draw(st.binary(min_size=1, max_size=40)))
    before = sum(size <= at for size in sizes)
    assert list(read_lines(path))[:before] == lines[:before]


def test_a_damage_far_into_a_file_leaves_all_lines_before_it(tmp_path: Path) -> None:
    path, source = tmp_path / "lines", random.Random(1)
    lines = [{"a": source.randbytes(50_000).hex()} for _ in range(20)]
    ends = []
    with LineWriter(path) as writer:
        for line in lines:
            writer.write(line)
            ends.append(path.stat().st_size)
    whole = bytearray(path.read_bytes())
    whole[ends[14] : ends[14] + 8] = bytes([255]) * 8
    path.write_bytes(whole)
    read = read_lines(path)
    assert [next(read) for _ in range(15)] == lines[:15]
    with pytest.raises(StopIteration) as end:
        next(read)
    assert end.value.value == "is damaged after 15 lines"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]


def test_a_result_is_written_as_a_whole(tmp_path: Path) -> None:
    trial = ExperimentFolder.create(tmp_path, "demo").trial(plan_of())
    trial.close()
    result = read_result(trial.path).model_copy(update={"status": Status.FAILED})
    write_result(trial.path, result)
    assert read_result(trial.path) == result
