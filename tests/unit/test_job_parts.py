"""What runs in a job, piece by piece, without a launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loadstone.job.launching import problem_of
from loadstone.job.rank import Told, place
from loadstone.job.record import (
    ARRIVED_FILE,
    OUTPUT_FOLDER,
    RECORD_FILE,
    IoSample,
    JobRecord,
    RankRecord,
    read_ranks,
    read_record,
    write_record,
)
from loadstone.job.sampling import Samples
from loadstone.job.slots import take_slot
from loadstone.job.system import io_counts, io_of_tree
from loadstone.job.task import JOB_FILE, JobTask, Staged, task_object, task_of
from loadstone.job.working import MARK, WorkingError, bring_back, prepare, remove


def a_task(**fields: Any) -> JobTask:
    named = {"name": "ls-1", "application": "toy", "number": 0, "ranks": 1, "nodes": 1}
    return JobTask(**{**named, "per_node": 1, "command": ["true"], **fields})


def a_desk(folder: Path, task: JobTask) -> Path:
    """The folder of a job, as the runner and its arrival leave it."""
    desk = folder / task.name
    desk.mkdir()
    (desk / JOB_FILE).write_text(json.dumps(task_object(task)))
    (desk / ARRIVED_FILE).write_text(json.dumps({"token": "t1"}))
    return desk


def a_rank(**fields: Any) -> RankRecord:
    return RankRecord(**{"rank": 0, "host": "n1", "cpus": [0], "world": 1, "pid": 7, **fields})


# -- the task -----------------------------------------------------------------------------------
def test_a_task_reads_back_as_it_was_written() -> None:
    task = a_task(stage=[Staged("/a/CASE.DATA", "CASE.DATA", "link")], environment={"A": "1"})
    assert task_of(json.loads(json.dumps(task_object(task)))) == task


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("ranks", 3, "3 ranks are not 1 nodes with 1 each"),
        ("stage", [{"from": "/a", "to": "a", "how": "move"}], "neither copy nor link"),
        ("stage", [{"from": "/a", "to": "../a"}], "not within the working folder"),
        ("stage", [{"to": "a"}], "cannot be read"),
        ("command", [], "no command"),
        ("unheard", 1, "cannot be read"),
    ],
)
def test_a_task_that_cannot_be_done_is_refused(field: str, value: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        task_of({**task_object(a_task()), field: value})


def test_several_ranks_need_a_launcher() -> None:
    with pytest.raises(ValueError, match="2 ranks and no launcher"):
        task_of({**task_object(a_task()), "ranks": 2, "per_node": 2})


# -- records ------------------------------------------------------------------------------------
def test_a_record_reads_back_with_its_ranks_and_samples(tmp_path: Path) -> None:
    record = JobRecord(
        name="ls-1",
        application="toy",
        host="n1",
        boot_id="b",
        arrived_epoch_s=1.0,
        arrived_monotonic_s=2.0,
        ranks=[a_rank(io=[IoSample(0.5, rchar=3)]), a_rank(rank=1, host="n2")],
    )
    write_record(tmp_path / RECORD_FILE, record)
    assert read_record(tmp_path / RECORD_FILE) == record
    assert record.hosts == ("n1", "n2")
    assert [each.name for each in tmp_path.iterdir()] == [RECORD_FILE]


@pytest.mark.parametrize("text", ["[]", '{"name": "x"}', '{"ranks": [1]}', "{"])
def test_a_damaged_record_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD_FILE).write_text(text)
    with pytest.raises(ValueError, match=r"\w"):
        read_record(tmp_path / RECORD_FILE)


def test_many_samples_are_thinned_out_evenly() -> None:
    samples = Samples(1.0, most=8)
    for second in range(8):
        samples.add(float(second), (second,) * 6)
    assert [each.t_s for each in samples.all()] == [1.0, 3.0, 5.0, 7.0]
    assert samples.every_s == 2.0


# -- ranks --------------------------------------------------------------------------------------
_TASK = {"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, Told(0, 1, 1)),
        ({**_TASK, "PMIX_RANK": "2"}, Told(2, 4, 4)),
        ({**_TASK, "PMI_RANK": "2", "PMI_SIZE": "4"}, Told(2, 4, 4)),
        ({**_TASK, "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, Told(3, 4, 4)),
        ({"LOADSTONE_RANK": "1", "LOADSTONE_RANKS": "2", "SLURM_NTASKS": "9"}, Told(1, 2, 2)),
        ({"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "4"}, Told(0, 1, 1)),
    ],
)
def test_a_rank_is_told_its_place_by_the_innermost_launcher(
    environment: dict[str, str], told: Told
) -> None:
    assert place(environment) == told


def test_tasks_of_an_srun_that_serves_no_mpi_are_worlds_of_their_own() -> None:
    assert place(_TASK) == Told(rank=2, ranks=4, world=1)


def test_what_is_wrong_with_ranks_is_one_line() -> None:
    task = a_task(ranks=2, per_node=2, launcher=["mpirun"])
    whole = [a_rank(), a_rank(rank=1)]
    assert problem_of(task, whole, 0) == ""
    assert problem_of(task, whole[:1], 0) == "1 of 2 ranks told how they ended"
    assert problem_of(task, [a_rank(exit_code=3)], 3) == "rank 0 on n1: exit code 3"
    assert problem_of(task, [a_rank(exit_code=-9)], 137) == "rank 0 on n1: ended by SIGKILL"
    assert "launcher ended with exit code 1" in problem_of(task, [], 1)
    assert problem_of(task, [a_rank(problem="x cannot be started")], 127).endswith("be started")


# -- the working folder -------------------------------------------------------------------------
def test_a_working_folder_is_fresh_filled_and_removed(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "a.txt").write_text("a")
    stage = [
        Staged(str(tmp_path / "given" / "a.txt"), "in/a.txt"),
        Staged(str(tmp_path / "given" / "a.txt"), "b.txt", "link"),
    ]
    (tmp_path / "scratch").mkdir()
    task = a_task(stage=stage, scratch=str(tmp_path / "scratch"), bring_back=["**/*.txt"])
    desk = a_desk(tmp_path, task)
    assert prepare(task, desk)
    work = tmp_path / "scratch" / "ls-1"
    assert (work / "b.txt").is_symlink()
    assert not (work / "in" / "a.txt").is_symlink()
    assert not prepare(task, desk), "another rank of this start finds it made"
    bring_back(task, desk)
    found = {path.name for path in (desk / OUTPUT_FOLDER).rglob("*") if path.is_file()}
    assert found == {"a.txt", "b.txt"}
    remove(task, desk)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_working_folder_of_somebody_else_is_never_used(tmp_path: Path) -> None:
    task = a_task(scratch=str(tmp_path / "scratch"))
    desk = a_desk(tmp_path, task)
    work = tmp_path / "scratch" / "ls-1"
    work.mkdir(parents=True)
    (work / MARK).write_text("of an earlier start")
    with pytest.raises(WorkingError, match="there already"):
        prepare(task, desk)
    remove(task, desk)
    assert work.is_dir()
    assert [each.name for each in work.parent.iterdir()] == ["ls-1"]


def test_a_file_that_is_missing_is_found_before_the_application(tmp_path: Path) -> None:
    task = a_task(stage=[Staged(str(tmp_path / "none"), "none", "link")])
    with pytest.raises(WorkingError, match="none"):
        prepare(task, a_desk(tmp_path, task))


# -- the whole job, in this process's children ---------------------------------------------------
def test_file_io_of_this_process_can_be_read() -> None:
    own = io_counts(os.getpid())
    assert own is not None
    assert own[0] > 0
    assert io_of_tree(2**22 + 1) == (0,) * 6


WRITE = "import pathlib; pathlib.Path('out.bin').write_bytes(bytes(1 << 20)); print('said')"


def test_a_rank_tells_where_it_ran_and_what_it_wrote(tmp_path: Path) -> None:
    task = a_task(command=[sys.executable, "-c", WRITE], sample_s=60.0)
    desk = a_desk(tmp_path, task)
    prepare(task, desk)
    assert run_rank_apart(desk) == 0
    (rank,) = read_ranks(desk)
    assert (rank.rank, rank.world, rank.exit_code, rank.problem) == (0, 1, 0, "")
    assert rank.cpus
    assert rank.run_s > 0
    assert rank.cpu_s > 0
    assert rank.max_rss_kib > 1000
    assert rank.io[-1].wchar >= 1 << 20


def run_rank_apart(desk: Path) -> int:
    """A rank in a process of its own: it sets signals."""
    words = [sys.executable, "-m", "loadstone.job.rank", str(desk)]
    return subprocess.run(words, check=False, timeout=60).returncode


def test_an_application_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    task = a_task(command=["no-such-program-here"])
    desk = a_desk(tmp_path, task)
    prepare(task, desk)
    assert run_rank_apart(desk) == 127
    (rank,) = read_ranks(desk)
    assert "no-such-program-here cannot be started" in rank.problem


def test_a_rank_takes_a_slot_that_nobody_has(tmp_path: Path) -> None:
    groups = [str(tmp_path / name) for name in ("first", "second")]
    for each in groups:
        Path(each).touch()
    one, two = take_slot(groups), take_slot(groups)
    assert (one.number, two.number) == (1, 2)
    assert [Path(each).read_text() for each in groups] == ["0", "0"], "this process joined both"
    with pytest.raises(OSError, match="all 2 slots of this node are taken"):
        take_slot(groups, wait_s=0.0)
    del one
    assert take_slot(groups, wait_s=0.0).number == 1, "its rank has ended"


def test_a_rank_that_gets_no_slot_says_so(tmp_path: Path) -> None:
    task = a_task(slots={"another-node": ["/nowhere"]})
    desk = a_desk(tmp_path, task)
    done = subprocess.run(
        [sys.executable, "-m", "loadstone.job.rank", str(desk)], check=False, cwd=tmp_path
    )
    assert done.returncode == 127
    (rank,) = read_ranks(desk)
    assert rank.problem == "it has no slot: all 0 slots of this node are taken"
