"""The live display, with a clock of its own and a console in memory."""

from __future__ import annotations

import io

import pytest
from hdrh.histogram import HdrHistogram
from rich.console import Console

from loadstone.cli.execute import worst
from loadstone.cli.live import LoadState
from loadstone.cli.progress import SIGN_EVERY_S, Display, Lines, trial_line
from loadstone.errors import ExitCode
from loadstone.experiments.designs import design_of
from loadstone.results.record import (
    CheckResult,
    MetricValue,
    Notice,
    Status,
    TrialResult,
)
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.workload import EventArchive
from loadstone.workloads.jobs.parameters import JobsParameters
from loadstone.workloads.jobs.workload import Jobs

EXPERIMENT = Experiment.model_validate(
    {
        "version": 1,
        "name": "shown",
        "workload": {"name": "noop"},
        "target": {"engine": "none"},
        "profile": {"warm_up": "10s", "measure": "90s"},
        "repeats": 3,
    }
)


def plans() -> list[TrialPlan]:
    return design_of(EXPERIMENT).stages(EXPERIMENT).next([])


def result(status: Status = Status.VALID, **fields: object) -> TrialResult:
    return TrialResult.model_validate(
        {
            "experiment": "shown",
            "trial": "b01-1-baseline",
            "variant": "baseline",
            "block": 1,
            "order": 1,
            "status": status,
            "started_at": "2026-01-01T00:00:00+00:00",
            "metrics": [MetricValue(name="x", value=12_345.6, unit="operations/s")],
            "judged_by": "x",
            **fields,
        }
    )


def histogram(*milliseconds: float) -> str:
    made = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in milliseconds:
        made.record_value(int(value * 1e6))
    return str(made.encode().decode())


def tick(**operations: dict[str, object]) -> dict[str, object]:
    return {
        "frame": "tick",
        "phase": "measure",
        "phase_kind": "measure",
        "from_s": 10.0,
        "to_s": 10.5,
        "users": 8,
        "operations": operations,
    }


def test_long_operations_are_told_by_gauges_and_not_by_a_rate() -> None:
    load = LoadState(Jobs(JobsParameters()))
    ended = {"count": 1, "errors": {}, "retries": {}}
    gauges = {"jobs_running": 2.0, "jobs_waiting": 1.0, "jobs_in_flight": 3.0}
    load.take({**tick(pstm=ended), "gauges": gauges}, 10.5)
    load.take({**tick(pstm={**ended, "count": 0}), "gauges": gauges}, 11.0)
    assert load.figures().plain.strip() == "running 2   waiting 1   ended 1   errors 0"


def test_a_tick_becomes_rate_percentile_errors_and_retries():
    state = LoadState()
    state.take({"frame": "event", "kind": "phase-begin", "phase": "measure"}, 100.0)
    first = {"count": 90, "errors": {"23505": 2}, "retries": {"40001": 3}}
    state.take(tick(a={**first, "response": histogram(*[1] * 90)}, b={"count": 10}), 100.5)
    state.take(tick(a={**first, "response": histogram(*[4] * 90)}), 101.0)
    assert state.rate_per_s == 180
    assert state.p95_ms == pytest.approx(4, rel=0.01)
    assert (state.errors, state.retries, state.users) == (4, 6, 8)
    text = state.figures().plain
    assert "180 operations/s" in text
    assert "p95 4" in text
    assert "errors 4" in text


def test_a_phase_shows_how_much_of_it_is_left():
    state = LoadState()
    begin = {"frame": "event", "kind": "phase-begin", "phase": "warm-up", "phase_kind": "warm-up"}
    state.take(begin, 100.0)
    assert "7s left" in rendered(state.bar(103.0, plans()[0]))


def test_between_two_phases_neither_time_nor_rate_goes_on():
    state = LoadState()
    begin = {"frame": "event", "kind": "phase-begin", "phase": "measure"}
    state.take(begin, 100.0)
    state.take(tick(a={"count": 90}), 100.5)
    state.take({**begin, "kind": "phase-end"}, 101.0)
    assert state.line(150.0, plans()[0]) == "after measure"
    assert "after measure" in rendered(state.bar(150.0, plans()[0]))
    assert state.figures().plain.strip() == ""
    state.take(begin, 160.0)
    assert state.line(163.0, plans()[0]).startswith("measure, 3s")


def test_what_ends_after_its_phase_is_no_rate_of_the_next():
    state = LoadState()
    begin = {"frame": "event", "kind": "phase-begin", "phase": "measure"}
    state.take({**begin, "phase": "warm-up"}, 100.0)
    state.take(begin, 103.0)
    state.take(tick(a={"count": 90}), 103.5)
    late = {"count": 1, "errors": {"40001": 1}}
    state.take({**tick(a=late), "phase": "warm-up"}, 103.5)
    assert (state.rate_per_s, state.errors) == (180, 1)
    state.take({"frame": "end"}, 104.0)
    assert state.phase == ""


def test_that_data_is_loaded_is_no_load():
    state = LoadState()
    load = {"phase": "load", "phase_kind": "prepare"}
    state.take({"frame": "event", "kind": "phase-begin", **load}, 100.0)
    state.take({**tick(a={"count": 9}), **load}, 101.0)
    assert state.phase == ""
    assert state.figures().plain.strip() == ""


def rendered(part: object) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(part)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_display_tells_the_time_left_of_the_whole():
    clock = Clock()
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    display = Display(console, clock)
    try:
        design = design_of(EXPERIMENT)
        display.experiment_begins(EXPERIMENT, design.variants(EXPERIMENT), 3)
        assert "about 5min 6s left" in rendered(display._render())
        first, second, _ = plans()
        display.trial_begins(first, 1, 3)
        clock.now = 120.0
        display.trial_ends(result())
        display.trial_begins(second, 2, 3)
        clock.now = 150.0
        text = rendered(display._render())
        assert "trial 2 of 3" in text
        assert "about 3min 30s left" in text
    finally:
        display.close()
    assert "1/3 b01-1-baseline  12,346 operations/s  valid" in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_display_tells_the_step_and_for_how_long_it_lasts():
    clock = Clock()
    display = Display(Console(file=io.StringIO(), width=100), clock)
    try:
        display.activity("loading the data")
        clock.now = 4.0
        assert "loading the data  4s" in rendered(display._render())
    finally:
        display.close()


def test_a_short_trial_is_one_line(capsys: pytest.CaptureFixture[str]):
    lines = Lines(Clock())
    lines.trial_begins(plans()[0], 1, 3)
    lines.frame(tick(a={"count": 1}))
    lines.activity("restoring the data")
    lines.sign()
    lines.trial_ends(result())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "1/3 b01-1-baseline  12,346 operations/s  valid\n"


def test_a_long_trial_gives_signs_of_life(capsys: pytest.CaptureFixture[str]):
    clock = Clock()
    lines = Lines(clock)

    def signs_until(end: float) -> list[str]:
        while clock.now < end:
            clock.now += 0.5
            lines.sign()
        return capsys.readouterr().err.splitlines()

    lines.trial_begins(plans()[0], 1, 3)
    lines.activity("loading the data")
    assert signs_until(12.0) == [
        "  1/3 b01-1-baseline  loading the data, 5s",
        "  1/3 b01-1-baseline  loading the data, 10s",
    ]
    begin = {"frame": "event", "kind": "phase-begin", "phase": "measure", "phase_kind": "measure"}
    lines.frame(begin)
    assert signs_until(15.0) == ["  1/3 b01-1-baseline  measure, 3s of 1min 30s"]
    lines.frame(tick(a={"count": 90, "response": histogram(*[4] * 90)}))
    (figures,) = signs_until(20.0)
    assert figures.startswith(
        "  1/3 b01-1-baseline  measure, 8s of 1min 30s: now 180 operations/s, p95 4"
    )
    assert figures.endswith("ms, errors 0, users 8")
    lines.trial_ends(result())
    clock.now += SIGN_EVERY_S - 0.5
    lines.sign()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_lines_begin_with_what_will_be_done(capsys: pytest.CaptureFixture[str]):
    lines = Lines(Clock())
    try:
        lines.experiment_begins(EXPERIMENT, design_of(EXPERIMENT).variants(EXPERIMENT), 3)
    finally:
        lines.close()
    assert capsys.readouterr().err == "shown: 3 trials, about 5min: baseline\n"


def test_a_line_says_why_a_trial_does_not_count():
    check = CheckResult(name="rows add up", passed=False, detail="3 are missing")
    assert "check failed: rows add up" in trial_line(result(Status.INVALID, checks=[check]))
    notice = Notice(code="x", severity="error", message="the generator was the bottleneck")
    assert "bottleneck" in trial_line(result(Status.INVALID, notices=[notice]))
    assert "unsafe" in trial_line(result(unsafe=["fsync=off"]))


def test_a_trial_that_failed_says_how_to_make_it_again(capsys: pytest.CaptureFixture[str]):
    again = "loadstone run results/shown/b01-1-baseline/plan.json"
    Lines().trial_ends(result(Status.FAILED, repeat_command=again))
    assert capsys.readouterr().err.endswith(f"  again: {again}\n")
    Lines().trial_ends(result(repeat_command=again))
    assert again not in capsys.readouterr().err


FAILED_CHECK = CheckResult(name="a", passed=False, detail="")


@pytest.mark.parametrize(
    ("trials", "code"),
    [
        ([], ExitCode.OK),
        ([result(), result(Status.DISTURBED)], ExitCode.OK),
        ([result(), result(Status.INVALID)], ExitCode.INVALID_TRIAL),
        ([result(Status.INVALID, checks=[FAILED_CHECK])], ExitCode.FAILED_CHECK),
        ([result(Status.INVALID), result(Status.FAILED)], ExitCode.TARGET),
        ([result(Status.FAILED), result(Status.INTERRUPTED)], ExitCode.INTERRUPTED),
    ],
)
def test_the_exit_code_is_that_of_the_worst_trial(trials: list[TrialResult], code: ExitCode):
    assert worst(trials) is code


def test_a_workload_with_a_flow_shows_what_it_stores_loses_and_holds_back() -> None:
    state = LoadState(EventArchive(ArchiveParameters()))
    counters = {"events_offered": 4000, "events_stored": 3000, "events_lost": 250}
    tick = {"frame": "tick", "from_s": 0.0, "to_s": 2.0, "operations": {}, "counters": counters}
    for _ in range(2):
        state.take({**tick, "gauges": {"events_buffered": 12_345_678.0}}, 1.0)
    text = state.figures().plain
    assert "1,500 events/s" in text
    assert "held back 12,345,678" in text
    assert "lost 500" in text
