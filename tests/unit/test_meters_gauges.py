from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meter_series import WALL, each_second, series

from loadstone.meters.base import Reading
from loadstone.meters.series import Series, stands_still
from loadstone.meters.watts import sum_of, watts_between


def test_the_mean_is_weighted_by_time() -> None:
    level = watts_between(series(WALL, [(0, 100), (2, 200), (3, 200), (4, 200)], 2), 0.0, 4.0)

    assert level.watts == pytest.approx((1 * 100 + 3 * 200) / 4)
    assert level.joules == pytest.approx(700)


def test_readings_of_a_ramp_do_not_leak_into_the_level() -> None:
    moments = [0.37 + 1.013 * turn for turn in range(33)]
    ramps = [(t, 100.0 if 10 <= t <= 23 else 300.0) for t in moments]

    level = watts_between(series(WALL, ramps), 10.0, 23.0)

    assert (level.watts, level.covered) == (pytest.approx(100), 1.0)


def test_a_mean_over_seconds_counts_only_where_all_of_them_are_of_the_level() -> None:
    averaging = replace(WALL, mean_over_s=1.0)
    values = [300.0] * 11 + [180.0] + [100.0] * 11 + [180.0] + [300.0] * 3

    level = watts_between(series(averaging, enumerate(values)), 10.4, 22.6)

    assert (level.watts, level.covered) == (pytest.approx(100), 1.0)


def test_what_repeats_is_a_reading() -> None:
    repeating = each_second(WALL, [319.0] * 10)

    assert watts_between(repeating, 1.0, 8.0).watts == pytest.approx(319)
    assert not stands_still(repeating)


def test_a_gauge_that_is_always_0_is_no_meter() -> None:
    assert stands_still(each_second(WALL, [0.0] * 5))
    assert not stands_still(each_second(WALL, [0.0]))


def test_invalid_readings_are_not_averaged_and_take_their_time_away() -> None:
    values: list[float | str] = [100.0] * 60
    values[20] = values[40] = "not a number"

    level = watts_between(each_second(WALL, values), 0.0, 59.0)

    assert level.watts == pytest.approx(100)
    assert level.covered == pytest.approx(57 / 59, abs=1e-6)
    assert (level.readings, level.invalid) == (58, 2)
    assert level.reason == "2 of 60 readings are no power (not a number)"


def test_too_many_invalid_readings_leave_no_watts() -> None:
    level = watts_between(each_second(WALL, [24.3, "range too small"] * 10), 0.0, 19.0)

    assert (level.watts, level.joules) == (None, None)
    assert level.reason.startswith("50.0% of it was measured, less than 95%")
    assert "10 of 20 readings are no power (range too small)" in level.reason


def test_a_late_reading_is_no_gap_and_a_long_silence_is() -> None:
    late = [float(t) for t in range(10) if t != 5]
    silent = [float(t) for t in range(10) if t not in (4, 5, 6)]

    assert watts_between(series(WALL, [(t, 50) for t in late]), 0, 9).covered == 1.0
    quiet = watts_between(series(WALL, [(t, 50) for t in silent]), 0, 9)
    assert (quiet.watts, quiet.covered) == (None, pytest.approx(7 / 9, abs=1e-6))


def test_a_slow_meter_has_its_own_pace() -> None:
    slow = series(WALL, [(5.0 * turn, 200.0) for turn in range(20)])

    assert watts_between(slow, 11.0, 41.0).watts == pytest.approx(200)
    once = watts_between(slow, 11.0, 16.0)
    assert (once.watts, once.covered) == (None, 0.0)
    assert "1 valid reading in it: too few for a mean" in once.reason


def test_a_level_without_readings_has_no_watts() -> None:
    level = watts_between(each_second(WALL, [5.0, 5.0]), 10.0, 20.0)

    assert (level.watts, level.readings) == (None, 0)
    assert "no valid reading in it" in level.reason


def test_lag_and_resolution_are_told() -> None:
    stamped = Series(WALL, 1.0)
    for t in range(5):
        stamped.append(Reading("wall", float(t), 200.0 + 4 * (t % 2), of_s=t - 0.62))

    level = watts_between(stamped, 0.0, 4.0)

    assert level.lag_s == pytest.approx(0.62)
    assert level.resolution_w == pytest.approx(4)


def test_a_stretch_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="end after its begin"):
        watts_between(each_second(WALL, [1.0]), 5.0, 5.0)


def test_readings_come_in_order_and_of_their_channel() -> None:
    made = each_second(WALL, [1.0, 2.0])

    with pytest.raises(ValueError, match="time went back"):
        made.append(Reading("wall", 0.5, 1.0))
    with pytest.raises(ValueError, match="a reading of other"):
        made.append(Reading("other", 3.0, 1.0))


def test_a_sum_needs_all_of_its_parts() -> None:
    one = watts_between(each_second(WALL, [100.0] * 10), 0.0, 9.0)
    other = watts_between(each_second(WALL, [40.0] * 10), 0.0, 9.0)
    gone = watts_between(each_second(WALL, ["dead"] * 10), 0.0, 9.0)

    both = sum_of([("a", one), ("b", other)], 9.0)
    half = sum_of([("a", one), ("b", gone)], 9.0)

    assert (both.watts, both.joules, both.reason) == (pytest.approx(140), pytest.approx(1260), "")
    assert (half.watts, half.covered) == (None, 0.0)
    assert half.reason.startswith("b: 0.0% of it was measured")


@given(
    watts=st.floats(1, 5000),
    outside=st.floats(0, 5000),
    gaps=st.lists(st.floats(0.5, 1.5), min_size=12, max_size=60),
    over_s=st.sampled_from([0.0, 0.5]),
)
def test_a_level_has_its_energy_exactly(
    watts: float, outside: float, gaps: list[float], over_s: float
) -> None:
    """A gauge of known power, read at random moments."""
    moments = [sum(gaps[:count]) for count in range(len(gaps) + 1)]
    from_s, to_s = 0.31 * moments[-1], 0.83 * moments[-1]
    averaging = replace(WALL, mean_over_s=over_s)

    def shown(t_s: float) -> float:
        if over_s == 0:
            return watts if from_s <= t_s <= to_s else outside
        inside = max(0.0, min(t_s, to_s) - max(t_s - over_s, from_s)) / over_s
        return watts * inside + outside * (1 - inside)

    level = watts_between(series(averaging, [(t, shown(t)) for t in moments]), from_s, to_s)

    assert level.covered == 1.0
    assert level.joules == pytest.approx(watts * (to_s - from_s), rel=1e-9)
