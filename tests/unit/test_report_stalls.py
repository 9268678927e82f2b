"""Spikes of a trial, and what its report says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sample_frames import hello, phase, tick
from sample_trials import plan_of

from loadstone.protocol.frames import parse_frame
from loadstone.report.happenings import Happenings
from loadstone.report.model.trials import StallReport
from loadstone.report.reading import RecordedTrial
from loadstone.report.stalls import stall_report
from loadstone.report.terminal_stalls import stall_table
from loadstone.results.record import OutageRecord, Status
from loadstone.results.trial_files import empty_result
from loadstone.workloads.base import Workload
from loadstone.workloads.charts import Charts
from loadstone.workloads.noop import Noop

SECONDS = 200
SWITCHES = (23, 61, 102, 148, 187)


def frames(slow: dict[int, float], *, data: dict[str, Any] | None = None) -> list[Any]:
    """A measured phase in which some seconds have an operation of so many seconds."""
    lines = [hello(), phase("begin", "measure", 0.0)]
    for second in range(SECONDS):
        times = [2_000_000] * 20 + ([int(slow[second] * 1e9)] if second in slow else [])
        lines.append(tick([("new-order", ns, 10, None) for ns in times], second))
        if second in SWITCHES:
            lines.append(
                {
                    "frame": "event", "t_s": second + 0.9, "kind": "workload",
                    "name": "segment-switch", "data": {"number": 1, **(data or {})},
                }
            )  # fmt: skip
    return [parse_frame(line) for line in [*lines, phase("end", "measure", float(SECONDS))]]


def report(
    folder: Path,
    found: list[Any],
    origin: float = 0.0,
    *,
    outages: Sequence[OutageRecord] = (),
    workload: Workload | None = None,
) -> StallReport | None:
    plan = plan_of()
    result = empty_result(plan, Status.VALID, "2026-11-22T15:00:00Z")
    result = result.model_copy(update={"outages": list(outages)})
    happened = Happenings(RecordedTrial(folder, plan, result, {}), found, None)
    return stall_report(workload or Noop(Noop.Parameters()), found, happened, origin)


def test_the_switch_is_found_and_told(tmp_path: Path) -> None:
    stalls = report(tmp_path, frames(dict.fromkeys(SWITCHES, 0.4)))
    assert stalls is not None
    assert [round(spike.from_s) for spike in stalls.spikes] == list(SWITCHES)
    assert all(spike.kinds == ["segment-switch"] for spike in stalls.spikes)
    assert stalls.spikes[0].max_ms == pytest.approx(400, rel=0.01)
    (kind,) = stalls.kinds
    assert (kind.kind, kind.times, kind.together) == ("segment-switch", 5, 5)
    assert kind.verdict == "more often than chance"
    assert kind.p_adjusted <= 0.05
    console = Console(width=100, record=True)
    for part in stall_table("b01-t01", stalls):
        console.print(part)
    text = console.export_text()
    assert "segment-switch" in text
    assert "5 of 5" in text


def test_an_outage_that_was_asked_for_is_among_what_happened(tmp_path: Path) -> None:
    outage = OutageRecord(kind="pause", from_s=80.5, to_s=83.0, back_s=0.25)
    stalls = report(tmp_path, frames({83: 2.5}), outages=[outage])
    assert stalls is not None
    assert stalls.spikes[0].kinds == ["outage: paused"]
    span = next(each for each in stalls.happenings if each.kind == "outage: paused")
    assert (span.from_s, span.to_s) == (80.5, 83.25)


def test_spikes_elsewhere_are_as_by_chance_and_not_printed(tmp_path: Path) -> None:
    stalls = report(tmp_path, frames(dict.fromkeys((10, 40, 80, 125, 170), 0.4)))
    assert stalls is not None
    assert stalls.kinds[0].verdict == "as often as by chance"
    assert stall_table("b01-t01", stalls) == []


def test_a_slow_operation_lasts_from_its_begin(tmp_path: Path) -> None:
    """It ended in second 50 and took 4.5 s: what happened in second 46 is part of the spike."""
    stalls = report(tmp_path, frames({50: 4.5}), origin=10.0)
    assert stalls is not None
    (spike,) = stalls.spikes
    assert (spike.from_s, spike.to_s) == (36.0, 41.0)


def test_what_took_time_ends_with_its_event(tmp_path: Path) -> None:
    stalls = report(tmp_path, frames({50: 0.4}, data={"took_s": 3.0}))
    assert stalls is not None
    first = stalls.happenings[0]
    assert (first.from_s, first.to_s) == (pytest.approx(20.9), pytest.approx(23.9))


class Ruled(Noop):
    """A workload with a rule of its own."""

    def charts(self) -> Charts:
        return Charts(slow_after_s=1.0)


def test_a_workload_may_have_a_rule_of_its_own(tmp_path: Path) -> None:
    slow = dict.fromkeys(range(0, SECONDS, 2), 1.2)
    stalls = report(tmp_path, frames(slow), workload=Ruled(Noop.Parameters()))
    assert stalls is not None
    assert stalls.own_rule
    assert stalls.max_limit_ms == 1000.0
    assert stalls.slow_windows >= len(slow)


def test_a_rule_of_its_own_hides_no_spike_below_it(tmp_path: Path) -> None:
    ruled = Ruled(Noop.Parameters())
    stalls = report(tmp_path, frames({50: 0.4, 90: 1.2}), workload=ruled)
    assert stalls is not None
    assert not stalls.own_rule
    assert [spike.max_ms for spike in stalls.spikes] == [
        pytest.approx(400, rel=0.01),
        pytest.approx(1200, rel=0.01),
    ]


def test_a_steady_trial_has_no_spikes(tmp_path: Path) -> None:
    stalls = report(tmp_path, frames({}))
    assert stalls is not None
    assert stalls.spikes == []
    assert stalls.kinds[0].verdict == "cannot tell"


def test_a_short_trial_has_no_report(tmp_path: Path) -> None:
    assert report(tmp_path, frames({50: 0.4})[:15]) is None
    assert report(tmp_path, []) is None
