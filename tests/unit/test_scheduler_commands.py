"""Commands of schedulers: bounded, and in a clean environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loadstone.errors import WrongInputError
from loadstone.schedulers.base import Request, SchedulerError, SchedulerSpec, mpirun
from loadstone.schedulers.commands import Commands, NoAnswerError, cleaned
from loadstone.schedulers.registry import SCHEDULERS, scheduler_of


def _spec(**fields: object) -> SchedulerSpec:
    return SchedulerSpec.model_validate({"kind": "slurm", **fields})


def _request(**fields: object) -> Request:
    plain = {
        "name": "ls-a",
        "script": Path("/x/job.sh"),
        "folder": Path("/x"),
        "ranks": 4,
        "nodes": 2,
        "per_node": 2,
        "time_limit_s": 90,
    }
    return Request(**{**plain, **fields})  # type: ignore[arg-type]


def test_what_steers_a_scheduler_is_taken_out_and_named() -> None:
    steering = {
        "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
        "SBATCH_TIMELIMIT": "0:05",
        "SQUEUE_FORMAT": "%i",
        "SACCT_FORMAT": "jobid%5",
        "SINFO_FORMAT": "%n",
        "PMIX_RANK": "3",
        "OMPI_COMM_WORLD_SIZE": "4",
        "SGE_TASK_ID": "1",
        "NSLOTS": "2",
    }
    kept = {"SLURM_CONF": "/a/slurm.conf", "SGE_ROOT": "/b", "SGE_CELL": "c", "HOME": "/d"}
    assert cleaned({**steering, **kept}) == (kept, sorted(steering))


def test_the_environment_of_the_spec_counts_and_its_path_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_CONF", "/of/the/person")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    spec = _spec(environment={"SLURM_CONF": "/of/loadstone", "PATH": "/first"})
    found = Commands(spec).environment
    assert found["SLURM_CONF"] == "/of/loadstone"
    assert found["PATH"] == f"/first{os.pathsep}{os.environ['PATH']}"
    assert found["LC_ALL"] == "C"


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    """The grandchild holds the output open, and a pipe that ends only with it."""
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    script = f"exec 3>{alive}; echo busy >&2; sleep 600 & sleep 600"
    with pytest.raises(NoAnswerError, match=r"sh did not answer within 0.5 s; it says: busy"):
        Commands(_spec(call_timeout_s=0.5)).run(["sh", "-c", script])
    os.set_blocking(reader, True)
    assert os.read(reader, 1) == b""  # nobody holds the other end
    os.close(reader)


def test_what_a_command_says_of_its_failure_is_told() -> None:
    commands = Commands(_spec())
    with pytest.raises(SchedulerError, match="sh failed: no such partition"):
        commands.ask(["sh", "-c", "echo no such partition >&2; exit 1"])
    with pytest.raises(SchedulerError, match="the command no-such-program is not installed"):
        commands.ask(["no-such-program"])


def test_words_stand_before_every_command() -> None:
    said = Commands(_spec(wrap=["env", "MARK=there"])).ask(["sh", "-c", "echo $MARK"])
    assert said == "there\n"


@pytest.mark.parametrize("kind", list(SCHEDULERS))
def test_each_scheduler_is_found_by_its_kind(kind: str) -> None:
    scheduler = scheduler_of(_spec(kind=kind))
    assert scheduler.kind == kind
    assert scheduler.title
    assert scheduler.spec == SchedulerSpec.model_validate_json(scheduler.spec.model_dump_json())


def test_there_is_no_scheduler_of_another_name() -> None:
    with pytest.raises(WrongInputError, match="there is no scheduler 'slrum'"):
        scheduler_of(_spec(kind="slrum"))


@pytest.mark.parametrize(
    "fields", [{"ranks": 3}, {"ranks": 0, "per_node": 0}, {"name": "-x"}, {"name": "a b"}]
)
def test_a_request_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(WrongInputError):
        _request(**fields)


def test_ranks_are_not_bound_and_give_way_only_where_they_must() -> None:
    words = " ".join(mpirun(_request(), _spec(), root=False))
    assert words == "mpirun -np 4 --map-by ppr:2:node --bind-to none --oversubscribe"
    more = mpirun(_request(), _spec(yield_when_idle=True), root=True)
    assert more[-4:] == ["--mca", "mpi_yield_when_idle", "1", "--allow-run-as-root"]
