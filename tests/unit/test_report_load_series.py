from __future__ import annotations

from dataclasses import replace

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW

from loadstone.protocol.frames import OperationTick, Tick
from loadstone.report.load_series import (
    MOST_POINTS,
    group_series,
    load_series,
    phase_spans,
    workload_series,
)


def histogram(*values_ms: float) -> str:
    made = HdrHistogram(1, 60_000_000_000, 3)
    for value in values_ms:
        made.record_value(int(value * 1e6))
    return str(made.encode().decode())


def tick(from_s: float, to_s: float, count: int, phase: str = "measure") -> Tick:
    operation = OperationTick(
        count=count, rolled_back=0, errors={"23505": 1}, retries={},
        response=histogram(*[5.0] * count) if count else None, service=None,
    )  # fmt: skip
    return Tick(
        t_s=to_s, seq=0, phase=phase, phase_kind=phase, from_s=from_s, to_s=to_s,
        operations={"noop": operation}, lag=None, late_starts=0, dropped=0, due=0, users=4,
        in_flight=4, queued=0, reconnects=0, cpu_user_s=0.1, cpu_system_s=0.1, rss_bytes=1,
    )  # fmt: skip


def test_rates_are_per_second_whatever_the_tick() -> None:
    series = load_series([tick(0, 2, 100), tick(2, 4, 200)], origin=0)
    assert series.t_s == [1, 3]
    assert series.columns["throughput_per_s"] == [50, 100]
    assert series.columns["errors_per_s"] == [0.5, 0.5]
    assert series.columns["driver_cpu_percent"] == [10, 10]
    assert series.columns["p50_ms"] == [pytest.approx(5, rel=0.01)] * 2


def test_short_tick_joins_its_neighbour_but_never_another_phase() -> None:
    ticks = [
        tick(0.0, 1.0, 50, "warm-up"),
        tick(1.0, 1.02, 1, "warm-up"),
        tick(1.02, 2.0, 49),
        tick(2.0, 3.0, 50),
    ]
    series = load_series(ticks, origin=0)
    assert len(series.t_s) == 3
    assert series.columns["throughput_per_s"][0] == 50
    assert [span.name for span in phase_spans([], ticks, 0)] == ["warm-up", "measure"]


def test_operations_left_over_from_a_phase_are_no_second_of_silence() -> None:
    ticks = [
        tick(0.0, 1.0, 50, "warm-up"),
        tick(1.0, 2.0, 48),
        tick(1.0, 2.0, 2, "warm-up"),
        tick(2.0, 3.0, 50),
    ]
    series = load_series(ticks, origin=0)
    assert series.t_s == [0.5, 1.5, 2.5]
    assert series.columns["throughput_per_s"] == [50, 50, 50]
    assert [span.name for span in phase_spans([], ticks, 0)] == ["warm-up", "measure"]


def test_empty_ticks_have_no_percentile_and_no_zero() -> None:
    series = load_series([tick(0, 1, 0), tick(1, 2, 3)], origin=0)
    assert series.columns["throughput_per_s"] == [0, 3]
    assert series.columns["p95_ms"] == [None, pytest.approx(5, rel=0.01)]


def test_counters_become_rates_and_gauges_stay_at_their_highest() -> None:
    ticks = [
        replace(tick(0, 1, 1), counters={"stored": 40, "lost": 0}, gauges={"buffered": 7.0}),
        replace(tick(1, 1.2, 1), counters={"stored": 20}, gauges={"buffered": 9.0}),
        replace(tick(1.2, 2, 1), counters={"stored": 20, "lost": 3}, gauges={"buffered": 2.0}),
        tick(2, 3, 1),
    ]
    series = workload_series(ticks, origin=0)
    assert series.t_s == [0.6, 1.6], "the short tick is joined, the silent one is left out"
    assert series.columns["stored_per_s"] == [50, 25]
    assert series.columns["lost_per_s"] == [0, 3.75]
    assert series.columns["buffered"] == [9, 2]


def test_a_group_has_the_times_of_all_its_operations_together() -> None:
    def operation(*values_ms: float) -> OperationTick:
        return OperationTick(
            count=len(values_ms), rolled_back=0, errors={}, retries={},
            response=histogram(*values_ms), service=None,
        )  # fmt: skip

    both = {"minute": operation(*[10.0] * 60), "group-last": operation(*[20.0] * 139, 900.0)}
    ticks = [tick(0, 1, 5), replace(tick(1, 2, 5), operations=both)]
    groups = {"operators": ("minute", "group-last"), "idle": ("close",)}
    series = group_series(ticks, 0, groups)
    assert series.t_s == [0.5, 1.5]
    assert series.columns == {
        "operators p50_ms": [None, pytest.approx(20, rel=0.01)],
        "operators p99_ms": [None, pytest.approx(20, rel=0.01)],
        "operators max_ms": [None, pytest.approx(900, rel=0.01)],
    }
    assert group_series(ticks, 0, {}).t_s == []


@SLOW
@given(st.integers(min_value=1, max_value=3 * MOST_POINTS))
def test_long_trials_are_drawn_with_few_points(length: int) -> None:
    empty = replace(tick(0, 1, 0), operations={})
    ticks = [replace(empty, from_s=float(i), to_s=float(i + 1), due=i) for i in range(length)]
    series = load_series(ticks, origin=0)
    assert 1 <= len(series.t_s) <= MOST_POINTS
    assert series.t_s == sorted(series.t_s)
