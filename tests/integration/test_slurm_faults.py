"""Slurm that misbehaves: real daemons, and small scripts in the place of its commands."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from lengths import LONG
from packages import do_without
from session import until
from slurm_by_hand import SlurmByHand, slurm_by_hand
from target_context import context_in

from loadstone.schedulers.base import JobState, Request, SchedulerError, SubmissionError
from loadstone.schedulers.slurm import Slurm
from loadstone.spec.target import TargetSpec
from loadstone.targets.slurm import daemons
from loadstone.targets.slurm.accounting import AccountingDatabase

_NUMBERS = itertools.count()
_GATE = 'while [ ! -e "{0}" ]; do sleep 0.1; done\n'
_TIMED_OUT = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmByHand]:
    with slurm_by_hand() as found:
        yield found


@pytest.fixture
def prefix(slurm: SlurmByHand) -> Iterator[str]:
    """Of this test's jobs; the controller goes on after it, and none is left."""
    found = f"fault{next(_NUMBERS)}-"
    yield found
    slurm.signal("slurmctld", signal.SIGCONT)
    scheduler = Slurm(slurm.spec())
    until("an end of all jobs", lambda: not scheduler.cancel_all(found))


def _request(folder: Path, name: str, script: str = "exit 0\n", **fields: int) -> Request:
    at = folder / name
    at.mkdir()
    (at / "job.sh").write_text(f"#!/bin/sh\n{script}")
    plain = {"ranks": 1, "nodes": 1, "per_node": 1, "time_limit_s": 120}
    return Request(name=name, script=at / "job.sh", folder=at, **{**plain, **fields})


def _over(scheduler: Slurm, prefix: str, count: int) -> dict[str, JobState]:
    def all_over() -> dict[str, JobState] | None:
        jobs = dict(scheduler.jobs(prefix))
        return jobs if len(jobs) == count and all(job.over for job in jobs.values()) else None

    found: dict[str, JobState] = until(f"an end of {count} jobs", all_over)
    return found


def test_a_job_that_was_taken_although_sbatch_failed_is_found_and_runs_once(
    slurm: SlurmByHand, prefix: str, tmp_path: Path
) -> None:
    """Case 8: the second call says that it timed out, the third never comes back."""
    at = slurm.shim(
        "sbatch",
        'echo >> "$calls"\n'
        'case $(wc -l < "$calls") in\n'
        f'2) real "$@" > /dev/null; echo "{_TIMED_OUT}" >&2; exit 1;;\n'
        '3) real "$@" > /dev/null; sleep 600;;\n'
        '*) real "$@";;\n'
        "esac\n",
    )
    scheduler = Slurm(slurm.spec(environment={"PATH": at}, call_timeout_s=5))
    names = [f"{prefix}{number}" for number in range(4)]
    doubtful = []
    for name in names:
        try:
            scheduler.submit(_request(tmp_path, name))
        except SubmissionError as error:
            assert error.doubtful
            doubtful.append(error.message)
    assert len(doubtful) == 2
    assert "Socket timed out" in doubtful[0]
    assert "did not answer within 5 s" in doubtful[1]
    jobs = _over(scheduler, prefix, 4)
    assert sorted(jobs) == names
    until("the completion log", lambda: slurm.completed(prefix) == names)


@pytest.mark.parametrize(
    ("partition", "ranks", "told"),
    [
        ("nights", 1, ("refused: invalid partition", "slurm://PARTITION")),
        ("debug", 5, ("refused: More processors requested", "fewer ranks")),
    ],
)
def test_a_refusal_is_one_line_with_advice(
    slurm: SlurmByHand, tmp_path: Path, partition: str, ranks: int, told: tuple[str, str]
) -> None:
    request = _request(tmp_path, "refused", ranks=ranks, per_node=ranks)
    with pytest.raises(SubmissionError, match=told[0]) as raised:
        Slurm(slurm.spec(partition=partition)).submit(request)
    assert not raised.value.doubtful
    assert "\n" not in raised.value.message
    assert told[1] in str(raised.value.advice)


def test_a_controller_that_hangs_costs_a_bounded_time_and_no_job_is_left(
    slurm: SlurmByHand, prefix: str, tmp_path: Path
) -> None:
    scheduler = Slurm(slurm.spec(call_timeout_s=1))
    running = _request(tmp_path, f"{prefix}a", "exec sleep 600\n")
    scheduler.submit(running)
    slurm.signal("slurmctld", signal.SIGSTOP)
    with pytest.raises(SchedulerError, match="squeue did not answer within 1 s"):
        scheduler.jobs(prefix)
    with pytest.raises(SubmissionError, match="sbatch did not answer within 1 s") as raised:
        scheduler.submit(_request(tmp_path, f"{prefix}b", "exec sleep 600\n"))
    assert raised.value.doubtful
    with pytest.raises(SchedulerError):
        scheduler.cancel_all(prefix)
    slurm.signal("slurmctld", signal.SIGCONT)
    patient = Slurm(slurm.spec())
    until("an end of what it took", lambda: not patient.cancel_all(prefix))
    assert {job.state for job in patient.jobs(prefix).values()} == {"cancelled"}


def test_the_settings_of_people_change_nothing(
    slurm: SlurmByHand, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 15: formats, filters, a language; a welcome before the id and a price behind it."""
    mine = {
        "SQUEUE_FORMAT": "%i %j",
        "SQUEUE_FORMAT2": "jobid:5",
        "SQUEUE_STATES": "PD",
        "SACCT_FORMAT": "jobid%5",
        "SLURM_TIME_FORMAT": "relative",
        "SINFO_FORMAT": "%n",
        "SBATCH_EXCLUSIVE": "1",
    }
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    at = slurm.shim(
        "sbatch",
        'for each in 1 2 3 4 5 6; do echo "welcome, line $each"; done\n'
        'real "$@" && echo "sbatch: charged 16 CPUs" >&2\n',
    )
    scheduler = Slurm(slurm.spec(environment={"PATH": at}))
    id_ = scheduler.submit(_request(tmp_path, f"{prefix}a"))
    job = _over(scheduler, prefix, 1)[f"{prefix}a"]
    assert (job.id, job.state, job.exit_code) == (id_, "ended", 0)
    assert job.submitted_s is not None
    assert job.ended_s is not None
    assert 0 <= job.ended_s - job.submitted_s < 3600
    assert {node.name: node.slots for node in scheduler.nodes()} == {"n1": 2, "n2": 2}
    assert set(mine) <= set(scheduler.removed())


def test_a_job_that_somebody_requeues_is_never_taken_for_one_that_runs_once(
    slurm: SlurmByHand, prefix: str, tmp_path: Path
) -> None:
    scheduler = Slurm(slurm.spec())
    name = f"{prefix}a"
    id_ = scheduler.submit(_request(tmp_path, name, "exec sleep 600\n"))
    until("it to run", lambda: scheduler.jobs(prefix)[name].state == "running")
    slurm.run("scontrol", "update", f"JobId={id_}", "Requeue=1")
    slurm.run("scontrol", "requeue", id_)
    job: JobState = until(
        "a requeue", lambda: (each := scheduler.jobs(prefix)[name]).state == "requeued" and each
    )
    assert not job.over


def test_what_is_held_says_so(slurm: SlurmByHand, prefix: str, tmp_path: Path) -> None:
    scheduler = Slurm(slurm.spec(call_timeout_s=20))
    busy = [_request(tmp_path, f"{prefix}{n}", "exec sleep 600\n") for n in range(5)]
    last = [scheduler.submit(each) for each in busy][-1]
    slurm.run("scontrol", "hold", last)
    job: JobState = until(
        "a hold", lambda: (each := scheduler.jobs(prefix)[busy[-1].name]).state == "held" and each
    )
    assert job.reason.startswith("JobHeld")


def test_why_there_is_no_accounting(slurm: SlurmByHand, tmp_path: Path) -> None:
    assert "accounting storage is disabled" in Slurm(slurm.spec()).accounting_missing()
    for name in ("sbatch", "squeue", "scancel", "sinfo"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "PATH", str(tmp_path))
        scheduler = Slurm(slurm.spec())
    assert scheduler.accounting_missing() == "the command sacct is not installed here"
    assert scheduler.accounting("x") == {}
    assert scheduler.missing() == []


_WHOLE_NODES = [
    pytest.param({"partition": "OverSubscribe=EXCLUSIVE"}, id="exclusive"),
    pytest.param({"settings": "SelectTypeParameters=CR_Core_Memory"}, id="memory", marks=LONG),
]


@pytest.mark.parametrize("options", _WHOLE_NODES)
def test_jobs_that_get_whole_nodes_run_two_by_two_and_say_why(
    options: dict[str, str], tmp_path: Path
) -> None:
    """Case 2: four jobs of one rank would fit, and two run at a time."""
    gate = tmp_path / "gate"
    with slurm_by_hand(**options) as own:
        scheduler = Slurm(own.spec())
        for number in range(4):
            scheduler.submit(_request(tmp_path, f"whole-{number}", _GATE.format(gate)))

        def two_by_two() -> bool:
            jobs = scheduler.jobs("whole-").values()
            reasons = {job.reason for job in jobs if job.state == "waiting"}
            running = sum(job.state == "running" for job in jobs)
            return running == 2 and "Resources" in reasons

        until("two that run and two that wait", two_by_two)
        gate.touch()
        _over(scheduler, "whole-", 4)


@LONG
def test_a_full_queue_is_said_in_one_line(tmp_path: Path) -> None:
    with slurm_by_hand("MaxJobCount=3") as own:
        scheduler = Slurm(own.spec(call_timeout_s=3))
        for number in range(2):
            scheduler.submit(_request(tmp_path, f"full-{number}", "exec sleep 600\n"))
        with pytest.raises(SubmissionError, match="unable to accept job") as raised:
            scheduler.submit(_request(tmp_path, "full-3"))
        assert "\n" not in raised.value.message


@LONG
def test_a_limit_of_one_job_a_user_is_a_reason_to_wait(tmp_path: Path) -> None:
    """Case 2: the account's quality of service has MaxJobsPerUser=1."""
    if reason := daemons.missing(accounting=True):
        do_without(reason)
    gate, context = tmp_path / "gate", context_in(tmp_path)
    with context.journal:
        database = AccountingDatabase(TargetSpec(engine="slurm"), context)
        database.open()
        try:
            with slurm_by_hand(database=database.socket) as own:
                scheduler = Slurm(own.spec(qos="one", account="people"))
                for number in range(2):
                    scheduler.submit(_request(tmp_path, f"one-{number}", _GATE.format(gate)))

                def one_waits() -> bool:
                    jobs = scheduler.jobs("one-").values()
                    return {(job.state, job.reason) for job in jobs} == {
                        ("running", ""),
                        ("waiting", "QOSMaxJobsPerUserLimit"),
                    }

                until("one that runs and one that waits", one_waits)
                gate.touch()
                _over(scheduler, "one-", 2)
                until("accounts", lambda: len(scheduler.accounting("one-")) == 2)
        finally:
            database.close()


@LONG
def test_a_job_over_its_time_limit_has_timed_out(
    slurm: SlurmByHand, prefix: str, tmp_path: Path
) -> None:
    """Slurm counts limits in minutes."""
    scheduler = Slurm(slurm.spec())
    scheduler.submit(_request(tmp_path, f"{prefix}a", "exec sleep 600\n", time_limit_s=1))
    assert _over(scheduler, prefix, 1)[f"{prefix}a"].state == "timed-out"
