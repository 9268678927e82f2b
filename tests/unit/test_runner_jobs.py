"""The course of jobs by a scheduler that says what a test wants, on a clock that a test moves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runner_plans import noop_plan

from loadstone.job.record import ARRIVED_FILE, RECORD_FILE, JobRecord, RankRecord, write_record
from loadstone.runner.clock import Clock
from loadstone.runner.jobs.course import Common, Course, End
from loadstone.runner.jobs.gate import GateKeeper
from loadstone.runner.jobs.parameters import Gate, Parameters, read_parameters
from loadstone.runner.jobs.submission import SUBMISSIONS_FILE, Submitted, Submitter
from loadstone.runner.jobs.told import TrialTime, job_event
from loadstone.runner.jobs.watch import Watch
from loadstone.runner.jobs.workload import open_jobs
from loadstone.runner.plan import RefusalError, parse_plan
from loadstone.runner.session import FailureError
from loadstone.schedulers.base import (
    JobState,
    Launch,
    NodeInfo,
    Request,
    Scheduler,
    SchedulerError,
    SchedulerSpec,
    SubmissionError,
)

PREFIX = "ls-"
JOB = {
    "name": "1-toy",
    "application": "toy",
    "ranks": 1,
    "nodes": 1,
    "per_node": 1,
    "command": ["true"],
}


class Told(Scheduler):
    """A scheduler that says what a test has put down."""

    kind = "told"
    title = "Told"

    def __init__(self) -> None:
        super().__init__(SchedulerSpec(kind="told", time_limit_s=100))
        self.found: dict[str, JobState] = {}
        self.silent = ""
        self.cancelled: list[str] = []
        self.requests: list[Request] = []
        self.refusal: SubmissionError | None = None

    def submit(self, request: Request) -> str:
        self.requests.append(request)
        if self.refusal is not None:
            raise self.refusal
        return "7"

    def jobs(self, prefix: str) -> Mapping[str, JobState]:
        if self.silent:
            raise SchedulerError(self.silent)
        return dict(self.found)

    def cancel(self, ids: Sequence[str]) -> None:
        self.cancelled += ids

    def nodes(self) -> list[NodeInfo]:
        return []

    def launcher(self, request: Request, how: Launch) -> list[str]:
        return []

    def version(self) -> str:
        return "told"


class Handed(Clock):
    """A clock that a test moves."""

    def __init__(self) -> None:
        super().__init__()
        self.at_s = 0.0

    def now_ns(self) -> int:
        return round(self.at_s * 1e9)


class Scene:
    """A job that was submitted, and what is known of it."""

    def __init__(self, desk: Path, **fields: Any) -> None:
        given = {"scheduler": {"kind": "told", "time_limit_s": 100}, "desk": str(desk)}
        self.parameters = Parameters.model_validate(
            {**given, "prefix": PREFIX, "jobs": [JOB], "patience_s": 20.0, **fields}
        )
        self.scheduler = Told()
        self.clock = Handed()
        self.watch = Watch(self.scheduler, PREFIX, 1.0, lambda: self.clock.at_s)
        self.keeper = GateKeeper(desk, 1, 60.0, lambda: self.clock.at_s)
        self.common = Common(self.parameters, self.scheduler, self.watch, self.clock, self.keeper)
        self.folder = desk / f"{PREFIX}1-toy"
        self.folder.mkdir()
        self.job = Submitted(f"{PREFIX}1-toy", self.parameters.jobs[0], self.folder, "7")
        self.course = Course(self.common, self.job, 0)
        self.wanted = True

    def says(self, state: str, reason: str = "", **fields: Any) -> None:
        """The scheduler answers a look with this."""
        job = JobState("7", self.job.name, state, reason, **fields)  # type: ignore[arg-type]
        self.scheduler.found = {self.job.name: job}
        self.watch.look()

    def arrives(self) -> None:
        told = {"token": "t", "boot_id": "", "arrived_epoch_s": 1.0, "arrived_monotonic_s": 1.0}
        (self.folder / ARRIVED_FILE).write_text(json.dumps(told))

    def tells(self, **fields: Any) -> JobRecord:
        """The job writes its record."""
        self.arrives()
        ranks = [RankRecord(rank=0, host="n1", cpus=[0], world=1, pid=3)]
        record = JobRecord(self.job.name, "toy", "n1", "", 1.0, 1.0, ranks=ranks)
        record = replace(record, **fields)
        write_record(self.folder / RECORD_FILE, record)
        return record

    def look(self, at_s: float) -> End | None:
        self.clock.at_s = at_s
        return self.course._look(lambda: self.wanted)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def ended(end: End | None) -> tuple[str, str]:
    assert end is not None
    return end.state, end.reason


# -- a job ---------------------------------------------------------------------------------------
def test_a_record_without_a_problem_is_a_good_end_with_the_reason_of_its_wait(
    scene: Scene,
) -> None:
    scene.says("waiting", "Resources")
    assert scene.look(1.0) is None
    scene.says("running")
    scene.tells(run_s=2.0)
    end = scene.look(3.0)
    assert ended(end) == ("ended", "Resources")
    assert end is not None
    assert end.failure is None


def test_the_scheduler_knows_better_why_a_job_failed(scene: Scene) -> None:
    scene.tells(problem="it was told to end (SIGTERM)", problem_class="cancelled")
    assert scene.look(1.0) is None, "the scheduler is given time to say why"
    scene.says("timed-out", "TimeLimit")
    assert ended(scene.look(2.0)) == ("timed-out", "TimeLimit")


def test_a_job_that_failed_by_itself_tells_why(scene: Scene) -> None:
    scene.tells(problem="rank 0 on n1: exit code 3", problem_class="failed")
    assert scene.look(1.0) is None
    scene.says("failed", "NonZeroExitCode")
    assert ended(scene.look(2.0)) == ("failed", "rank 0 on n1: exit code 3")


@pytest.mark.parametrize(
    ("state", "reason", "told"),
    [
        ("node-failed", "NodeFail", "NodeFail"),
        ("cancelled", "None", "it left no record of itself"),
        ("timed-out", "TimeLimit", "TimeLimit"),
    ],
)
def test_a_job_without_a_record_ends_as_the_scheduler_says(
    scene: Scene, state: str, reason: str, told: str
) -> None:
    scene.arrives()
    scene.says(state, reason)
    assert scene.look(1.0) is None, "its record may come later"
    assert ended(scene.look(12.0)) == (state, told)


def test_an_end_without_a_record_is_never_a_good_one(scene: Scene) -> None:
    scene.says("ended")
    assert scene.look(1.0) is None
    assert ended(scene.look(12.0)) == ("failed", "it ended without a record of itself")


def test_a_job_that_is_held_is_cancelled_and_told_once_that_is_sure(scene: Scene) -> None:
    scene.says("held", "Eqw: can't open output file")
    assert scene.look(1.0) is None
    scene.says("held", "Eqw: can't open output file")
    assert ended(scene.look(2.0)) == ("held", "Eqw: can't open output file")


def test_a_job_that_was_started_again_does_not_count(scene: Scene) -> None:
    (scene.folder / "again.json").write_text("{}")
    state, reason = ended(scene.look(1.0))
    assert state == "requeued"
    assert "only if it ran once" in reason


def test_a_job_that_the_scheduler_does_not_know_is_unknown_after_a_while(scene: Scene) -> None:
    scene.watch.look()
    assert scene.look(1.0) is None
    assert scene.look(20.0) is None
    scene.watch.look()
    assert ended(scene.look(22.0))[0] == "unknown"


def test_a_scheduler_that_does_not_answer_is_waited_for_and_then_named(scene: Scene) -> None:
    scene.scheduler.silent = "squeue did not answer within 30 s"
    scene.watch.look()
    assert scene.look(19.0) is None
    assert ended(scene.look(21.0)) == (
        "scheduler",
        "no answer for 20 s: squeue did not answer within 30 s",
    )


def test_a_job_that_runs_is_seen_through_without_its_scheduler(scene: Scene) -> None:
    scene.says("running")
    scene.arrives()
    scene.scheduler.silent = "dead"
    scene.watch.look()
    assert scene.look(90.0) is None
    scene.tells(run_s=1.0)
    assert ended(scene.look(91.0))[0] == "ended"


def test_nothing_waits_for_ever(tmp_path: Path) -> None:
    waiting = Scene(tmp_path, wait_timeout_s=30.0)
    waiting.says("waiting", "QOSMaxJobsPerUserLimit")
    waiting.clock.at_s = 29.0
    waiting.watch.look()
    assert waiting.look(29.0) is None
    waiting.watch.look()
    state, reason = ended(waiting.look(31.0))
    assert state == "waiting"
    assert "QOSMaxJobsPerUserLimit" in reason


def test_a_job_that_outlives_its_limit_is_timed_out(scene: Scene) -> None:
    scene.arrives()
    scene.says("running")
    assert scene.look(1.0) is None
    assert scene.look(220.0) is None
    scene.watch.look()
    assert ended(scene.look(222.0))[0] == "timed-out"


def test_a_replacement_that_nobody_needs_is_cancelled(scene: Scene) -> None:
    scene.says("running")
    scene.wanted = False
    assert scene.look(1.0) is None
    scene.tells(problem="it was told to end (SIGTERM)", problem_class="cancelled")
    assert ended(scene.look(2.0)) == ("cancelled", "the load was over")


def test_the_end_of_the_run_breaks_a_job_off(scene: Scene) -> None:
    scene.says("running")
    scene.common.stopping.set()
    assert scene.look(1.0) is None
    assert ended(scene.look(8.0)) == ("cancelled", "broken off: the run is to end")


# -- its event -----------------------------------------------------------------------------------
def test_the_event_of_a_job_has_its_times_on_the_trial_s_clock(scene: Scene) -> None:
    scene.says("running", nodes=("n1",))
    origin_s = scene.clock.unix_us(0) / 1e6
    scene.tells(
        began_epoch_s=origin_s + 4.0,
        began_monotonic_s=99.0,
        run_s=2.0,
        stage_s=0.5,
        launch_s=0.25,
        gate_s=1.0,
    )
    end = scene.look(7.0)
    assert end is not None
    event = job_event(scene.job, end, round(1e9), 3.5, TrialTime(scene.clock, "this kernel"))
    data = dict(event.data)
    assert event.name == "job"
    assert data.pop("arrived_s") == 0.0
    assert {name: round(v, 3) if isinstance(v, float) else v for name, v in data.items()} == {
        "name": "ls-1-toy",
        "application": "toy",
        "nodes": "n1",
        "state": "ended",
        "reason": "",
        "submitted_s": 1.0,
        "seen_s": 7.0,
        "waiting_s": 0.0,
        "stage_s": 0.5,
        "launch_s": 0.25,
        "gate_open_s": 3.5,
        "began_s": 4.0,
        "ended_s": 6.0,
        "run_s": 2.0,
        "late_s": 1.0,
    }


def test_nodes_with_this_kernel_have_its_monotonic_clock() -> None:
    clock = Clock()
    time = TrialTime(clock, "this")
    assert time.ns("this", clock.monotonic_s + 2.0, 0.0) == pytest.approx(2e9, abs=1e3)
    later_s = clock.unix_us(0) / 1e6 + 3.0
    assert time.ns("another", 0.0, later_s) == pytest.approx(3e9, abs=1e4)


# -- the gate ------------------------------------------------------------------------------------
def test_the_gate_opens_when_all_have_arrived(tmp_path: Path) -> None:
    keeper = GateKeeper(tmp_path, 2, 60.0, lambda: 5.0)
    keeper.submitted(0)
    keeper.arrived(0)
    keeper.look()
    assert not Path(keeper.told.file).exists()
    keeper.arrived(1)
    assert Path(keeper.told.file).exists()
    assert keeper.opened_s == 5.0


def test_the_gate_opens_for_those_that_are_there_a_while_after_the_last_submission(
    tmp_path: Path,
) -> None:
    now = [0.0]
    keeper = GateKeeper(tmp_path, 2, 60.0, lambda: now[0])
    keeper.arrived(0)
    now[0] = 1000.0
    keeper.look()
    assert keeper.opened_s is None, "one is still being submitted"
    keeper.submitted(1)
    now[0] = 1061.0
    keeper.look()
    assert keeper.opened_s == 1061.0


# -- submission ----------------------------------------------------------------------------------
def submitter(scene: Scene) -> Submitter:
    return Submitter(scene.scheduler, scene.parameters, scene.watch)


def lines(scene: Scene) -> list[str]:
    text = (scene.parameters.folder / SUBMISSIONS_FILE).read_text()
    return [json.loads(line)["name"] for line in text.splitlines()]


def test_a_job_is_noted_before_it_is_sent(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    job = submitter(scene).submit(scene.parameters.jobs[0], "2-toy", Gate(file="g", timeout_s=1.0))
    assert (job.name, job.id) == ("ls-2-toy", "7")
    assert lines(scene) == ["ls-2-toy"]
    (request,) = scene.scheduler.requests
    assert request.script.read_text().startswith("#!/bin/sh\n# ls-2-toy\n")
    assert json.loads((job.folder / "job.json").read_text())["gate"] == "g"


def test_a_refused_job_is_not_sent_again(scene: Scene) -> None:
    scene.scheduler.refusal = SubmissionError("no such partition", doubtful=False, advice="see x")
    with pytest.raises(FailureError, match=r"no such partition \(see x\)") as failed:
        submitter(scene).submit(scene.parameters.jobs[0], "2-toy", Gate())
    assert failed.value.error_class == "submission"
    assert len(scene.scheduler.requests) == 1


def test_a_doubtful_job_is_found_by_its_name(scene: Scene) -> None:
    scene.scheduler.refusal = SubmissionError("Socket timed out", doubtful=True)
    scene.scheduler.found = {"ls-2-toy": JobState("12", "ls-2-toy", "waiting")}
    job = submitter(scene).submit(scene.parameters.jobs[0], "2-toy", Gate())
    scene.watch.stop()
    assert job.id == "12"
    assert len(scene.scheduler.requests) == 1


def test_a_doubtful_job_that_is_not_found_is_not_sent_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path, patience_s=0.0)
    scene.scheduler.refusal = SubmissionError("Socket timed out", doubtful=True)
    with pytest.raises(FailureError, match="it is not sent again"):
        submitter(scene).submit(scene.parameters.jobs[0], "2-toy", Gate())
    scene.watch.stop()
    assert len(scene.scheduler.requests) == 1


def test_no_job_is_sent_to_a_scheduler_that_has_long_been_silent(scene: Scene) -> None:
    scene.scheduler.silent = "squeue did not answer within 30 s"
    scene.watch.look()
    scene.clock.at_s = 20.5
    with pytest.raises(FailureError, match="was not sent: the scheduler has not answered for 20 s"):
        submitter(scene).submit(scene.parameters.jobs[0], "2-toy", Gate())
    assert scene.scheduler.requests == []


# -- the plan ------------------------------------------------------------------------------------
def plan_of(folder: Path, users: int = 1, **fields: Any) -> Any:
    parameters = {
        "scheduler": {"kind": "plain", "state": str(folder / "state")},
        "desk": str(folder),
        "prefix": PREFIX,
        "jobs": [JOB],
        **fields,
    }
    plan = noop_plan()
    plan["workload"] = {"name": "jobs", "parameters": parameters}
    plan["connection"] = {"protocol": "none"}
    plan["phases"][0]["load"]["users"] = {"from": users, "to": users}
    return parse_plan(json.dumps(plan))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"jobs": [JOB, JOB]}, "workload.parameters.jobs: two jobs have one name"),
        ({"jobs": [{**JOB, "ranks": 2}]}, "jobs[0].ranks"),
        ({"jobs": []}, "workload.parameters.jobs"),
        ({"desk": "/nowhere/at/all"}, "workload.parameters.desk"),
        ({"scheduler": {"kind": "none-such"}}, "workload.parameters.scheduler"),
    ],
)
def test_a_plan_that_cannot_be_done_is_refused_by_its_field(
    tmp_path: Path, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(RefusalError) as refused:
        open_jobs(plan_of(tmp_path, **fields), Clock())
    assert field in str(refused.value)


def test_each_user_of_a_closed_load_has_a_job(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="there are 1 for 2 users"):
        open_jobs(plan_of(tmp_path, users=2), Clock())
    jobs = open_jobs(plan_of(tmp_path), Clock())
    assert jobs.operations == ("toy",)
    assert read_parameters(plan_of(tmp_path)).operations == ("toy",)
