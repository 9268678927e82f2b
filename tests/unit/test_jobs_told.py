"""What is made of the jobs of a trial: figures, how many ran at once, and what counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sample_jobs
from sample_jobs import event, planned, put, rank, record, sampled

from loadstone.job.record import BROKEN_OFF
from loadstone.protocol.frames import Event
from loadstone.results.jobs import JobsRecord, most_at_once, time_at_depth
from loadstone.results.record import CheckResult
from loadstone.schedulers.base import Accounted
from loadstone.workloads.jobs.checks import (
    check_at_once,
    check_ended,
    check_once,
    check_placed,
    check_times,
)
from loadstone.workloads.jobs.kept import JobsLoad, PlannedJobs, records_of
from loadstone.workloads.jobs.metrics import metric_values
from loadstone.workloads.jobs.notices import notices_of
from loadstone.workloads.jobs.told import jobs_record
from loadstone.workloads.measured import Measured, Observation


def trial(
    desk: Path, events: Sequence[Event], *jobs: PlannedJobs, **fields: Any
) -> tuple[JobsRecord, JobsLoad]:
    load = sample_jobs.load(desk, *jobs, **fields)
    for each in events:
        name = str(each.data["name"]).removeprefix(load.prefix)
        put(desk, record(name, application=str(each.data["application"])))
    return jobs_record(events, load, records_of(load)), load


def figures(record: JobsRecord, load: JobsLoad) -> dict[str, float]:
    nothing = Observation(0.0, {})
    measured = Measured(nothing, nothing, 60.0, {}, {}, 0, 0, 0.0, None, {}, {}, 0)
    return {each.name: each.value for each in metric_values(measured, record, load)}


FOUR = [event(f"{number}-command", 5, 10 + number) for number in range(4)]


# -- at once -----------------------------------------------------------------------------------
def test_spans_that_touch_do_not_overlap() -> None:
    assert most_at_once([(0, 1), (1, 2)]) == 1
    assert most_at_once([(0, 2), (1, 3), (1.5, 4)]) == 3
    assert most_at_once([]) == 0
    assert time_at_depth([(0, 2), (1, 3)], 2) == 1
    assert time_at_depth([(0, 2), (1, 3)], 1) == 3


def test_jobs_that_ran_at_once_reached_their_load(tmp_path: Path) -> None:
    found, load = trial(tmp_path, FOUR, planned(count=4))
    assert (found.asked, found.at_once, found.reached) == (4, 4, True)
    assert found.no_ratio == ""
    assert found.overlap_s == pytest.approx(10)
    assert found.load_share == 1.0
    assert figures(found, load)["throughput_per_job"] == pytest.approx(3600 / 11.5)
    assert check_at_once(found).passed


def test_four_at_once_that_ran_two_by_two_are_told_with_the_schedulers_reason(
    tmp_path: Path,
) -> None:
    """A job that names no memory gets all of a node; the others wait for it."""
    late = {"waiting_s": 10.5, "reason": "Resources"}
    events = [
        event("0-command", 5, 10), event("1-command", 5, 10),
        event("2-command", 16, 10, **late), event("3-command", 16, 10, **late),
    ]  # fmt: skip
    found, _ = trial(tmp_path, events, planned(count=4))
    told = "4 asked, 2 ran at a time (reason: Resources)"
    assert (found.at_once, found.reached) == (2, False)
    assert found.no_ratio == told
    check = check_at_once(found)
    assert (check.passed, check.detail) == (False, told)


def test_more_ranks_than_processors_give_no_ratio(tmp_path: Path) -> None:
    crowded = "8 slots share 2 processors"
    found, _ = trial(tmp_path, FOUR, planned(count=4), functional_only=crowded)
    assert found.no_ratio == crowded


def test_jobs_that_were_refused_alike_are_told_together(tmp_path: Path) -> None:
    refused = {"state": "failed", "reason": "the queue is full"}
    events = [
        event(f"{number}-command", 5, 10, **refused, problem="submission") for number in range(3)
    ]
    found, load = trial(tmp_path, [*events, event("3-command", 5, 10)], planned(count=4))
    names = [job.name for job in found.jobs]
    check = check_ended(found, load)
    assert not check.passed
    assert check.detail == f"{names[0]} and 2 more failed (the queue is full)"


def test_a_scheduler_without_accounting_says_so(tmp_path: Path) -> None:
    found, load = trial(tmp_path, FOUR, planned(count=4), unaccounted="sacct is not installed")
    (notice,) = notices_of(found, load)
    assert (notice.severity, notice.message) == ("info", "no accounting: sacct is not installed")


def test_an_open_arrival_asks_for_no_jobs_at_once(tmp_path: Path) -> None:
    found, load = trial(tmp_path, FOUR[:1], planned(count=2), asked=0)
    assert found.reached
    assert check_at_once(found).passed
    assert figures(found, load)["jobs_per_h"] == 60


# -- unequal applications ----------------------------------------------------------------------
MIX = (planned("flow", count=1), planned("pstm", count=1))
SHORT, LONG = event("1-flow", 5, 10, "flow"), event("1-pstm", 5, 30, "pstm")


def test_without_replacement_only_what_ran_at_the_whole_load_counts(tmp_path: Path) -> None:
    found, load = trial(tmp_path, [SHORT, LONG], *MIX)
    told = figures(found, load)
    assert told["throughput_per_job_flow"] == pytest.approx(360)
    assert "throughput_per_job_pstm" not in told
    (notice,) = notices_of(found, load)
    assert notice.code == "jobs-overlap"
    assert "1-pstm (at the whole load for 33% of its time)" in notice.message
    assert "replace=true" in notice.advice


def test_with_replacement_all_that_ran_to_their_end_count(tmp_path: Path) -> None:
    again = event("1-flow-r1", 16, 12, "flow")
    spare = event("1-flow-r2", 29, 6, "flow", state="cancelled", reason="cancelled while it ran")
    long = event("1-pstm", 5, 24, "pstm")
    found, load = trial(tmp_path, [SHORT, again, spare, long], *MIX, replaced=True)
    told = figures(found, load)
    assert told["run_s_flow"] == pytest.approx(11)
    assert told["run_s_pstm"] == pytest.approx(24)
    assert check_ended(found, load).passed
    assert check_once(found, load, ()).passed
    (notice,) = notices_of(found, load)
    assert notice.severity == "info"
    assert notice.message.startswith("2 jobs replaced others that had ended")
    assert sum(found.asked_of.values()) == found.asked < len(found.jobs)
    assert "1 of them was cancelled then. The load was whole for 92% of that time" in (
        notice.message
    )


def test_each_application_counts_once_in_the_headline(tmp_path: Path) -> None:
    events = [
        event("1-flow", 5, 10, "flow"),
        event("2-flow", 5, 10, "flow"),
        event("1-pstm", 5, 10.5, "pstm"),
    ]
    found, load = trial(tmp_path, events, planned("flow", count=2), planned("pstm", count=1))
    assert figures(found, load)["throughput_per_job"] == pytest.approx((360 + 3600 / 10.5) / 2)
    assert [notice.severity for notice in notices_of(found, load)] == ["info"]


# -- checks ------------------------------------------------------------------------------------
def test_a_job_that_failed_is_named_with_its_reason(tmp_path: Path) -> None:
    bad = event("3-command", 5, 4, state="timed-out", reason="TimeLimit")
    found, load = trial(tmp_path, [*FOUR[:3], bad], planned(count=4))
    check = check_ended(found, load)
    assert not check.passed
    assert check.detail == f"{load.prefix}3-command timed-out (TimeLimit)"
    assert figures(found, load)["run_s"] == pytest.approx(11)


def test_a_job_that_was_under_way_at_the_end_of_an_open_load_is_told_and_fails_nothing(
    tmp_path: Path,
) -> None:
    late = event("4-command", 5, 4, state="cancelled", reason=BROKEN_OFF)
    found, load = trial(tmp_path, [*FOUR[:3], late], planned(count=4), asked=0)
    assert check_ended(found, load).passed
    (notice,) = (each for each in notices_of(found, load) if each.code == "jobs-under-way")
    assert notice.message.startswith("1 job that had arrived was under way")
    by_others = event("4-command", 5, 4, state="cancelled", reason="CANCELLED by 0")
    found, load = trial(tmp_path, [*FOUR[:3], by_others], planned(count=4), asked=0)
    assert not check_ended(found, load).passed


def test_no_job_at_all_is_no_success(tmp_path: Path) -> None:
    found, load = trial(tmp_path, [], planned(count=4))
    assert not check_ended(found, load).passed
    assert not check_once(found, load, ()).passed
    assert not check_placed(found, load, {}).passed
    assert not check_at_once(found).passed


def test_a_scheduler_that_gives_a_job_less_time_than_it_ran_is_told(tmp_path: Path) -> None:
    found, _ = trial(tmp_path, FOUR, planned(count=4))
    first = found.jobs[0]
    assert first.run_s is not None
    assert list(check_times(found, {})) == []
    near = Accounted("1", first.name, "ended", began_s=100.0, ended_s=101.0 + first.run_s)
    (check,) = check_times(found, {first.name: near})
    assert check.passed, check.detail
    short = replace(near, ended_s=97.0 + first.run_s)
    (check,) = check_times(found, {first.name: short})
    assert not check.passed
    assert f"{first.name} ran" in check.detail


def planted(desk: Path, load: JobsLoad, what: str) -> CheckResult:
    """The check of names after one fault was planted."""
    path = desk / "submissions.jsonl"
    names = [json.loads(line)["name"] for line in path.read_text().splitlines()]
    known = list(names)
    if what == "submitted twice":
        names.append(names[0])
    elif what == "never told of":
        names.append(f"{load.prefix}9-command")
    elif what == "in the accounting only":
        known.append(f"{load.prefix}9-command")
    elif what == "started a second time":
        (desk / names[1] / "again.json").write_text("{}")
    path.write_text("".join(json.dumps({"name": name}) + "\n" for name in names))
    return check_once(jobs_record(FOUR, load, records_of(load)), load, known)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("submitted twice", "0-command was submitted 2 times"),
        ("never told of", "what became of ls00000000-9-command is not known"),
        ("in the accounting only", "9-command is in the accounting only"),
        ("started a second time", "1-command was started a second time"),
    ],
)
def test_a_job_too_many_is_seen(tmp_path: Path, what: str, said: str) -> None:
    _, load = trial(tmp_path, FOUR, planned(count=4))
    assert planted(tmp_path, load, "nothing").passed
    found = planted(tmp_path, load, what)
    assert not found.passed
    assert said in found.detail


def test_a_job_too_few_is_seen(tmp_path: Path) -> None:
    found, load = trial(tmp_path, FOUR[:3], planned(count=4))
    check = check_once(found, load, ())
    assert not check.passed
    assert "4 jobs of command asked, 3 told of" in check.detail


# -- file I/O ----------------------------------------------------------------------------------
def test_file_io_is_told_by_parts_of_the_run_time(tmp_path: Path) -> None:
    """240 MiB are read in the first tenth, then 2 MiB a second are written."""
    mib = 2**20
    own = sampled(rank(), (1.0, 240 * mib, 0), (10.0, 240 * mib, 18 * mib))
    put(tmp_path, record("1-command", [own]))
    load = sample_jobs.load(tmp_path, planned(count=1))
    found = jobs_record([event("1-command", 5, 10)], load, records_of(load))
    first, *_, last = found.io
    assert (first.from_share, last.to_share, len(found.io)) == (0.0, 1.0, 10)
    assert first.read_mib == pytest.approx(240)
    assert first.read_mib_per_s == pytest.approx(240)
    assert (first.written_mib, last.read_mib) == (0, 0)
    assert last.written_mib_per_s == pytest.approx(2, rel=0.01)
    (job,) = found.jobs
    assert (job.read_mib, job.written_mib, job.cpu_s, job.max_rss_mib) == (240, 18, 9, 2)


def test_a_record_that_is_no_record_is_left_out(tmp_path: Path) -> None:
    _, load = trial(tmp_path, FOUR[:2], planned())
    broken = tmp_path / f"{load.prefix}1-command" / "record.json"
    broken.write_text("{")
    assert list(records_of(load)) == [f"{load.prefix}0-command"]
