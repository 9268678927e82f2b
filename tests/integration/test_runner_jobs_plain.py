"""The runner's jobs as plain processes of this machine: frames, gate, faults, what is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from runner_process import Runner
from target_context import context_in

from loadstone.job.record import read_record
from loadstone.protocol.frames import Event
from loadstone.schedulers.base import Request, SchedulerSpec, SubmissionError
from loadstone.schedulers.plain import Plain
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster import cancel_announced
from loadstone.targets.plain import Local

PREFIX = "lst-"
QUICK = "import pathlib; pathlib.Path('made.txt').write_text('made'); print('said')"
LONG_S = 600
"""A job that is to be ended by somebody would run so long."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "desk"
    folder.mkdir()
    yield folder
    cancel_announced({"scheduler": spec_of(folder).model_dump(mode="json"), "prefix": ""})
    await_that(lambda: left_in(tmp_path) == [])


def left_in(folder: Path) -> list[str]:
    """Processes that know a folder by a word of their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
        except psutil.Error:
            continue
        if process.pid != os.getpid() and any(str(folder) in word for word in words):
            found.append(" ".join(words))
    return found


def spec_of(desk: Path, **fields: Any) -> SchedulerSpec:
    given = {"slots": 2, "time_limit_s": 300, **fields}
    return SchedulerSpec(kind="plain", state=str(desk.parent / "state"), **given)


def a_job(name: str, code: str = QUICK, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "application": "toy",
        "ranks": 1,
        "nodes": 1,
        "per_node": 1,
        "command": [sys.executable, "-c", code],
        "bring_back": ["*.txt"],
        **fields,
    }


def a_plan(desk: Path, *jobs: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    parameters = {
        "scheduler": spec_of(desk).model_dump(mode="json"),
        "desk": str(desk),
        "prefix": PREFIX,
        "jobs": list(jobs),
        "poll_s": 0.1,
        "python": sys.executable,
        **fields,
    }
    users = len(jobs)
    load = {"model": "closed", "users": {"from": users, "to": users}}
    return {
        "version": 4,
        "workload": {"name": "jobs", "parameters": parameters},
        "connection": {"protocol": "none"},
        "phases": [{"name": "measure", "kind": "measure", "duration_s": 900.0, "load": load}],
    }


def told(runner: Runner) -> dict[str, Mapping[str, Any]]:
    """The event of each job, by its name."""
    events = [event for event in runner.events("workload") if isinstance(event, Event)]
    return {str(event.data["name"]): event.data for event in events}


def classes(runner: Runner) -> dict[str, int]:
    """The errors of all ticks, by their class."""
    found: Counter[str] = Counter()
    for tick in runner.ticks:
        for operation in tick.operations.values():
            found.update(operation.errors)
    return dict(found)


def sleeping(seconds: float = LONG_S) -> str:
    return f"import time; time.sleep({seconds})"


def await_that(reached: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 30.0
    while not reached():
        assert time.monotonic() < until_s
        time.sleep(0.02)


def test_two_jobs_pass_the_gate_together_and_tell_their_times(desk: Path) -> None:
    with Runner(a_plan(desk, a_job("1-toy"), a_job("2-toy"))) as runner:
        assert runner.wait() == 0, runner.errors
    assert runner.end.reason == "completed"
    assert runner.end.operations["toy"].count == 2
    jobs = told(runner)
    assert set(jobs) == {f"{PREFIX}1-toy", f"{PREFIX}2-toy"}
    for name, data in jobs.items():
        record = read_record(desk / name / "record.json")
        assert data["state"] == "ended"
        assert data["submitted_s"] <= data["arrived_s"] <= data["gate_open_s"] + 0.001
        assert data["gate_open_s"] <= data["began_s"] < data["ended_s"] <= data["seen_s"]
        assert data["run_s"] == record.run_s
        assert data["nodes"] == record.host
        assert (desk / name / "output" / "made.txt").read_text() == "made"
        assert (desk / name / "out.txt").read_text() == "said\n"
        assert not (desk / name / "work").exists()
    sent = [json.loads(line) for line in (desk / "submissions.jsonl").read_text().splitlines()]
    assert {each["name"] for each in sent} == set(jobs)


def test_a_job_that_fails_is_told_and_the_others_go_on(desk: Path) -> None:
    jobs = (a_job("1-toy"), a_job("2-toy", "raise SystemExit(3)"))
    with Runner(a_plan(desk, *jobs)) as runner:
        assert runner.wait() == 0, runner.errors
    end = runner.end.operations["toy"]
    assert (end.count, classes(runner)) == (1, {"failed": 1})
    data = told(runner)[f"{PREFIX}2-toy"]
    assert data["state"] == "failed"
    assert "exit code 3" in str(data["reason"])


def test_jobs_that_find_no_slot_are_not_waited_for_at_the_gate(desk: Path) -> None:
    jobs = [a_job(f"{number}-toy") for number in range(3)]
    plan = a_plan(desk, *jobs, gate_timeout_s=0.5)
    with Runner(plan) as runner:
        assert runner.wait() == 0, runner.errors
    found = told(runner)
    assert [data["state"] for data in found.values()] == ["ended"] * 3
    assert "Resources" in {data["reason"] for data in found.values()}


def test_a_job_over_its_time_is_ended_by_the_scheduler(desk: Path) -> None:
    plan = a_plan(desk, a_job("1-toy", sleeping()))
    plan["workload"]["parameters"]["scheduler"]["time_limit_s"] = 1
    with Runner(plan) as runner:
        assert runner.wait(60.0) == 0, runner.errors
    assert classes(runner) == {"timed-out": 1}
    assert "TimeLimit of 1 s" in str(told(runner)[f"{PREFIX}1-toy"]["reason"])


def test_ranks_of_a_job_are_told_their_numbers(desk: Path) -> None:
    code = "import os, pathlib as p; n = os.environ['LOADSTONE_RANK']; p.Path(n + '.txt').touch()"
    with Runner(a_plan(desk, a_job("1-toy", code, ranks=2, per_node=2))) as runner:
        assert runner.wait() == 0, runner.errors
    folder = desk / f"{PREFIX}1-toy"
    record = read_record(folder / "record.json")
    assert [(rank.rank, rank.world) for rank in record.ranks] == [(0, 2), (1, 2)]
    assert {path.name for path in (folder / "output").iterdir()} == {"0.txt", "1.txt"}


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun (openmpi-bin) is missing")
def test_mpi_ranks_are_told_one_world(desk: Path) -> None:
    with Runner(a_plan(desk, a_job("1-toy", "pass", ranks=2, per_node=2, launch="mpi"))) as runner:
        assert runner.wait(60.0) == 0, runner.errors
    record = read_record(desk / f"{PREFIX}1-toy" / "record.json")
    assert record.problem == ""
    assert [(rank.rank, rank.world) for rank in record.ranks] == [(0, 2), (1, 2)]
    assert 0 <= record.launch_s < 60


def test_a_shorter_job_is_replaced_until_the_others_have_ended(desk: Path) -> None:
    stop = desk / "stop"
    code = f"import os, time\nwhile not os.path.exists({str(stop)!r}): time.sleep(0.02)"
    plan = a_plan(desk, a_job("1-toy"), a_job("2-toy", code), replace=True)
    with Runner(plan) as runner:
        await_that((desk / f"{PREFIX}1-toy-r2" / "arrived.json").exists)
        stop.touch()
        assert runner.wait() == 0, runner.errors
    found = told(runner)
    assert found[f"{PREFIX}1-toy-r1"]["state"] == "ended"
    last = found[max(name for name in found if "-r" in name)]
    assert last["state"] in {"ended", "cancelled"}
    assert not runner.end.operations["toy"].errors


def test_an_open_load_counts_from_the_due_time_to_the_end(desk: Path) -> None:
    plan = a_plan(desk, a_job("1-toy"))
    rates = {"from": 2.0, "to": 2.0}
    opened = {"model": "open", "rate_per_s": rates, "arrival": "uniform", "sessions": 4}
    closed = {"model": "closed", "users": {"from": 1, "to": 0}}
    plan["phases"] = [
        {"name": "measure", "kind": "measure", "duration_s": 2.0, "load": opened},
        {"name": "drain", "kind": "drain", "duration_s": 60.0, "load": closed},
    ]
    with Runner(plan) as runner:
        assert runner.wait(90.0) == 0, runner.errors
    found = told(runner)
    assert len(found) == runner.end.operations["toy"].count == 4
    assert not runner.end.operations["toy"].errors
    assert all(data["state"] == "ended" for data in found.values())
    assert not any("gate_open_s" in data for data in found.values())


def test_the_end_of_the_run_cancels_what_runs(desk: Path) -> None:
    with Runner(a_plan(desk, a_job("1-toy", sleeping()), a_job("2-toy", sleeping()))) as runner:
        await_that((desk / "gate").exists)
        runner.signal(signal.SIGTERM)
        assert runner.wait(30.0) == 0, runner.errors
    assert runner.end.reason == "stopped"
    assert classes(runner) == {"cancelled": 2}
    await_that(lambda: left_in(desk.parent) == [])


def test_what_a_killed_runner_left_is_found_by_its_name_and_ended(
    desk: Path, tmp_path: Path
) -> None:
    with Runner(a_plan(desk, a_job("1-toy", sleeping()), a_job("2-toy", sleeping()))) as runner:
        await_that((desk / "gate").exists)
        runner.signal(signal.SIGKILL)
        runner.wait()
    assert left_in(tmp_path)
    data = {"scheduler": spec_of(desk).model_dump(mode="json"), "prefix": PREFIX}
    cancel_announced(data)
    assert {job.state for job in Plain(spec_of(desk)).jobs(PREFIX).values()} == {"cancelled"}
    await_that(lambda: left_in(tmp_path) == [])
    cancel_announced(data)


def test_jobs_whose_supervisors_were_killed_are_ended_too(desk: Path, tmp_path: Path) -> None:
    with Runner(a_plan(desk, a_job("1-toy", sleeping()))) as runner:
        await_that((desk / "gate").exists)
        runner.signal(signal.SIGKILL)
        runner.wait()
    for path in (tmp_path / "state" / "jobs").glob("*/supervisor.json"):
        os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)
    name, scheduler = f"{PREFIX}1-toy", Plain(spec_of(desk))
    await_that(lambda: scheduler.jobs(PREFIX)[name].state == "unknown")
    cancel_announced({"scheduler": spec_of(desk).model_dump(mode="json"), "prefix": PREFIX})
    await_that(lambda: left_in(tmp_path) == [])


def test_a_name_is_never_taken_twice_and_a_second_node_is_not_there(desk: Path) -> None:
    script = desk / "job.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    scheduler = Plain(spec_of(desk))
    request = Request(PREFIX + "x", script, desk, 1, 1, 1, 60)
    scheduler.submit(request)
    with pytest.raises(SubmissionError, match="was submitted before") as again:
        scheduler.submit(request)
    assert not again.value.doubtful
    with pytest.raises(SubmissionError, match="this machine is one"):
        scheduler.submit(Request(PREFIX + "y", script, desk, 2, 2, 1, 60))
    with pytest.raises(SubmissionError, match="asks for 3 slots, and there are 2"):
        scheduler.submit(Request(PREFIX + "y", script, desk, 3, 1, 3, 60))
    await_that(lambda: scheduler.jobs(PREFIX)[PREFIX + "x"].over)
    assert scheduler.jobs(PREFIX)[PREFIX + "x"].state == "ended"


def test_a_job_that_is_started_again_does_nothing(desk: Path) -> None:
    with Runner(a_plan(desk, a_job("1-toy"))) as runner:
        assert runner.wait() == 0, runner.errors
    folder = desk / f"{PREFIX}1-toy"
    before = (folder / "record.json").read_bytes()
    assert os.waitstatus_to_exitcode(os.system(f"{folder}/job.sh 2> /dev/null")) == os.EX_TEMPFAIL  # noqa: S605
    assert (folder / "again.json").exists()
    assert (folder / "record.json").read_bytes() == before


def test_a_target_forgets_its_jobs_and_leaves_nothing(tmp_path: Path) -> None:
    spec = TargetSpec(engine="local", data=str(tmp_path), settings={"slots": 1})
    context = context_in(tmp_path)
    trial = tmp_path / "trial"
    trial.mkdir()
    with context.journal:
        target = Local(spec, context)
        target.open()
        try:
            desk = target.desk(trial)
            script = desk / "job.sh"
            script.write_text(f"#!/bin/sh\nexec sleep {LONG_S}\n")
            script.chmod(0o755)
            target.announce(PREFIX)
            target.scheduler().submit(Request(PREFIX + "x", script, desk, 1, 1, 1, 60))
            (reading,) = target.restore("", spec)
            assert (reading.requested, reading.read_back) == (1, 1)
            (job,) = target.scheduler().jobs(PREFIX).values()
            assert job.state == "cancelled"
            assert (trial / "desk" / "job.sh").exists()
            assert not desk.exists()
            target.check_ready()
        finally:
            target.close()
    assert [path.name for path in tmp_path.glob("loadstone-*")] == []
