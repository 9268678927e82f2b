"""When the users of the runner are due, and how many they are."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.runner.pacing import Grid, Pace, UserRamp
from loadstone.runner.plan import Pacing, RefusalError, Think, Waits
from loadstone.runner.retry import BackOff, pause_ns

NS = st.integers(0, 10**15)


@given(period_ns=st.integers(1, 10**12), origin_ns=NS, user=st.integers(0, 9999), at_ns=NS)
def test_the_next_moment_of_a_grid_is_the_first_later_one(
    period_ns: int, origin_ns: int, user: int, at_ns: int
) -> None:
    grid = Grid.of_user(period_ns, origin_ns, user)
    assert origin_ns <= grid.first_ns <= origin_ns + period_ns
    after_ns = grid.after_ns(at_ns)
    assert after_ns > at_ns or after_ns == grid.first_ns
    assert (after_ns - grid.first_ns) % period_ns == 0
    assert after_ns - period_ns <= at_ns or after_ns == grid.first_ns


@pytest.mark.parametrize("users", [2, 5, 20, 100])
def test_users_begin_spread_over_the_first_period(users: int) -> None:
    firsts = sorted(Grid.of_user(1_000_000, 0, user).first_ns for user in range(users))
    gaps = [after - before for before, after in pairwise(firsts)]
    assert max(gaps, default=0) < 3 * 1_000_000 / users
    assert min(gaps, default=1) > 0


def test_the_grid_is_that_of_the_rust_driver() -> None:
    # (user * 0.6180339887498949) mod 1 of the period, cut to whole nanoseconds.
    firsts = [Grid.of_user(1_000_000_000, 7, user).first_ns for user in range(4)]
    assert firsts == [7, 618_033_995, 236_067_984, 854_101_973]


def test_a_wait_is_keying_and_thinking() -> None:
    think = Think(distribution="constant", mean_s=2.0)
    pacing = Pacing(default=Waits(keying_s=1.0, think=think), operations={"b": Waits(every_s=3.0)})
    pace, draw = Pace(pacing, ("a", "b")), random.Random(1)
    assert 0 <= pace.gap_ns(None, "a", draw) < 3_000_000_000
    assert pace.gap_ns("a", "a", draw) == 3_000_000_000
    assert (pace.period_ns("a"), pace.period_ns("b")) == (None, 3_000_000_000)


@given(seed=st.integers(0, 1000), cap=st.floats(1.0, 10.0))
def test_a_drawn_think_time_is_cut_at_its_cap(seed: int, cap: float) -> None:
    think = Think(distribution="negative-exponential", mean_s=2.0, cap=cap)
    pace = Pace(Pacing(default=Waits(think=think)), ("a",))
    gap_ns = pace.gap_ns("a", "a", random.Random(seed))
    assert 0 <= gap_ns <= cap * 2e9 + 1


def test_waits_of_an_operation_that_is_not_there_are_refused() -> None:
    with pytest.raises(RefusalError, match=r"pacing\.operations\.c"):
        Pace(Pacing(operations={"c": Waits()}), ("a", "b"))


@given(
    start=st.integers(0, 300),
    end=st.integers(0, 300),
    duration_ns=st.integers(1, 10**12),
    share=st.floats(0.0, 1.2),
)
def test_a_ramp_is_a_straight_line_that_says_when_it_changes(
    start: int, end: int, duration_ns: int, share: float
) -> None:
    ramp = UserRamp(start, end, 1000, duration_ns)
    now_ns = 1000 + int(share * duration_ns)
    line = start + (end - start) * min(1.0, (now_ns - 1000) / duration_ns)
    assert abs(ramp.at(now_ns) - line) <= 0.5 + 1e-6
    change_ns = ramp.next_change_ns(now_ns)
    if change_ns is None:
        assert ramp.at(now_ns) == end
    else:
        assert ramp.at(change_ns - 1) == ramp.at(now_ns) != ramp.at(change_ns)


@given(base_ns=st.integers(0, 10**9), cap_ns=st.integers(0, 10**9), failures=st.integers(1, 99))
def test_a_pause_is_never_longer_than_its_limit(base_ns: int, cap_ns: int, failures: int) -> None:
    back_off = BackOff(base_ns, cap_ns)
    assert 0 <= pause_ns(back_off, failures, random.Random(3)) <= back_off.limit_ns(failures)
    assert back_off.limit_ns(failures) <= cap_ns


def test_the_limit_doubles_up_to_the_cap() -> None:
    limits = [BackOff(100, 1_000).limit_ns(failures) for failures in range(1, 7)]
    assert limits == [100, 200, 400, 800, 1_000, 1_000]
