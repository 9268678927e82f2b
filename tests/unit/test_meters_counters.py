from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meter_series import DRAM, PACKAGE, each_second, series

from loadstone.meters import counters
from loadstone.meters.base import Channel
from loadstone.meters.counters import steps_of
from loadstone.meters.series import Series
from loadstone.meters.watts import watts_between


def steps(of: Series) -> list[counters.Step]:
    return steps_of(of.readings, of.channel, of.every_s)


def microjoules(*values: int) -> list[float]:
    return [value / 1e6 for value in values]


@pytest.mark.parametrize(
    ("channel", "values", "watts"),
    [
        (PACKAGE, (262_000_000_000, 262_100_000_000, 56_671_150, 156_671_150), [100.0] * 3),
        (DRAM, (65_700_000_000, 65_710_000_000, 7_000_387), [10.0] * 2),
    ],
)
def test_a_wrap_goes_through_the_range(
    channel: Channel, values: tuple[int, ...], watts: list[float]
) -> None:
    found = steps(each_second(channel, microjoules(*values)))

    assert [each.watts for each in found] == pytest.approx(watts)


def test_a_fall_without_a_range_has_no_watts() -> None:
    unknown = replace(PACKAGE, range_j=None)

    (found,) = steps(each_second(unknown, microjoules(4_000_000_000, 10_000)))

    assert (found.joules, found.lost) == (None, counters.NO_RANGE)


def test_a_reset_loses_one_interval_and_is_told() -> None:
    counted = each_second(
        PACKAGE, microjoules(150_000_000_000, 150_100_000_000, 5_000_000, 105_000_000)
    )

    found = steps(counted)

    assert [each.watts for each in found] == [pytest.approx(100), None, pytest.approx(100)]
    assert found[1].lost == counters.RESET
    level = watts_between(counted, 0.0, 3.0)
    assert (level.watts, level.covered) == (None, pytest.approx(2 / 3, abs=1e-6))
    assert counters.RESET in level.reason
    assert "66.7% of it was measured" in level.reason


def test_a_reset_in_a_long_level_leaves_watts_and_is_told() -> None:
    values = [1000.0 + 100 * t for t in range(30)] + [5.0 + 100 * t for t in range(31)]

    level = watts_between(each_second(PACKAGE, values), 0.0, 60.0)

    assert level.watts == pytest.approx(100)
    assert level.covered == pytest.approx(59 / 60, abs=1e-6)
    assert level.joules == pytest.approx(6000)
    assert level.reason == counters.RESET


def test_a_gap_longer_than_the_range_lasts_at_the_limit_has_no_watts() -> None:
    limited = replace(PACKAGE, most_w=200.0)  # 262 kJ last 1311 s
    before, after = [(float(t), 100.0 * t) for t in range(5)], 1400.0
    points = [*before, *((after + t, 90_000 + 100.0 * t) for t in range(5))]

    found = steps(series(limited, points))

    assert [each.lost for each in found if each.lost] == [counters.SEVERAL_WRAPS]
    assert all(each.watts == pytest.approx(100) for each in found if not each.lost)


def test_a_small_range_without_a_limit_is_held_against_the_power_that_was_seen() -> None:
    small = replace(PACKAGE, range_j=500.0)  # lasts 5 s at 100 W
    counted = [(float(t), 100.0 * t % 500) for t in range(12)]
    late = [(t + 12.0, 100.0 * t % 500) for t in range(3)]

    found = steps(series(small, [*counted, *late]))
    stopped = steps(series(small, [*counted, *((t + 9.0, value) for t, value in late)]))

    assert [each.watts for each in found[:11]] == pytest.approx([100.0] * 11)
    assert stopped[11].lost == counters.SEVERAL_WRAPS


def test_a_rise_by_more_than_the_system_can_draw_is_none() -> None:
    found = steps(each_second(PACKAGE, [0.0, 100.0, 90_000.0, 90_100.0]))

    assert [each.lost for each in found] == ["", counters.IMPOSSIBLE, ""]


def test_a_counter_that_stands_still_in_a_level_has_no_watts() -> None:
    level = watts_between(each_second(PACKAGE, [0.0, 100.0, *[200.0] * 10]), 3.0, 9.0)

    assert level.watts is None
    assert "the counter did not move" in level.reason


def test_what_is_drawn_before_and_after_a_level_does_not_leak_into_it() -> None:
    """300 W in each ramp, 100 W in the level from 10 s to 23 s, read at odd moments."""

    def counted(t_s: float) -> float:
        return 300 * t_s - 200 * (min(max(t_s, 10.0), 23.0) - 10.0)

    moments = [0.37 + 1.013 * turn for turn in range(33)]
    level = watts_between(series(PACKAGE, [(t, counted(t)) for t in moments]), 10.0, 23.0)

    assert level.watts == pytest.approx(100, rel=1e-9)
    assert level.covered == 1.0


def test_a_level_between_two_readings_takes_its_share_by_time() -> None:
    level = watts_between(series(PACKAGE, [(0.0, 0.0), (10.0, 500.0)]), 2.0, 6.0)

    assert (level.watts, level.joules) == (pytest.approx(50), pytest.approx(200))


def test_a_reading_that_failed_leaves_the_difference_across_it() -> None:
    level = watts_between(each_second(PACKAGE, [0.0, 100.0, "gone", 300.0, 400.0]), 0.0, 4.0)

    assert level.watts == pytest.approx(100)
    assert (level.readings, level.invalid) == (4, 1)
    assert "1 of 5 readings are no power (gone)" in level.reason


def test_a_meter_that_dies_in_a_level_leaves_no_watts() -> None:
    level = watts_between(each_second(PACKAGE, [100.0 * t for t in range(6)]), 0.0, 10.0)

    assert (level.watts, level.covered) == (None, 0.5)


def test_the_resolution_is_the_step_of_the_counter_over_the_level() -> None:
    level = watts_between(each_second(PACKAGE, [0.0, 100.5, 200.0, 301.5]), 0.0, 3.0)

    assert level.resolution_w == pytest.approx(0.5 / 3)


@given(
    watts=st.floats(1, 400),
    outside=st.floats(0, 400),
    gaps=st.lists(st.floats(0.2, 1.5), min_size=24, max_size=60),
    start_j=st.floats(0, 999),
)
def test_a_level_has_its_energy_exactly_through_wraps(
    watts: float, outside: float, gaps: list[float], start_j: float
) -> None:
    """A counter that wraps each few readings, of known power, read at random moments."""
    small = Channel("package-0", "package", "counter", range_j=1000.0, most_w=400.0)
    moments = [sum(gaps[:count]) for count in range(len(gaps) + 1)]
    from_s, to_s = 0.31 * moments[-1], 0.83 * moments[-1]

    def counted(t_s: float) -> float:
        inside = min(max(t_s, from_s), to_s) - from_s
        return (start_j + outside * t_s + (watts - outside) * inside) % 1000.0

    level = watts_between(series(small, [(t, counted(t)) for t in moments]), from_s, to_s)

    whole = [pair for pair in pairwise(moments) if pair[0] >= from_s and pair[1] <= to_s]
    assert whole
    if outside <= 3 * watts <= 9 * outside:  # a wrap that needs far more power is told as a reset
        assert level.joules == pytest.approx(watts * (to_s - from_s), rel=1e-6, abs=1e-3)
    elif level.watts is not None:
        assert level.watts == pytest.approx(watts, rel=1e-6, abs=1e-3)
