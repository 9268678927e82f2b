"""The pure logic of a search: any threshold is found, in a bounded number of trials."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.experiments.designs.ascent import (
    Ascent,
    level_below,
    levels_at_most,
    narrowness,
    next_level,
    share_of,
)
from loadstone.experiments.designs.search_state import MOST_SOAKS, PlannedLevel, Rules, SearchState
from loadstone.results.record import LevelReason, LevelRecord
from loadstone.workloads.search import SearchIncrements

Truth = Callable[[PlannedLevel], bool]


def ascent(first: float = 100.0, precision: float = 0.02, **fields: float | bool | None) -> Ascent:
    return Ascent(SearchIncrements(first), precision, **fields)  # type: ignore[arg-type]


def steps(first: float, coarse: float, fine: float) -> Ascent:
    return Ascent(SearchIncrements(first, "steps", coarse, fine), 0.02)


def climbed(chosen: Ascent, limit: float) -> tuple[float | None, float | None, list[float]]:
    """Goes up with a sharp limit: low, high and the levels tried."""
    low: float | None = None
    high: float | None = None
    tried: list[float] = []
    while (level := next_level(chosen, low, high)) is not None:
        assert level not in tried
        assert low is None or level > low
        assert high is None or level < high
        tried.append(level)
        low, high = (level, high) if level <= limit else (low, level)
    return low, high, tried


@given(limit=st.floats(1, 1e7), first=st.floats(0.5, 1e5), percent=st.floats(0.5, 20))
def test_bisection_finds_any_limit_within_its_precision(limit: float, first: float, percent: float):
    chosen = ascent(first, percent / 100)
    low, high, tried = climbed(chosen, limit)
    if low is None:
        assert limit < chosen.bottom
    elif high is None:
        assert low == chosen.top
    else:
        assert low <= limit < high
        assert high - low <= percent / 100 * low * 1.001
    assert (
        len(tried)
        <= levels_at_most(Ascent(chosen.increments, chosen.precision, 2 * limit + first)) + 12
    )


@given(limit=st.integers(0, 50_000), first=st.integers(1, 5_000))
def test_users_are_found_to_the_last_one_or_within_the_precision(limit: int, first: int):
    low, high, tried = climbed(ascent(float(first), whole=True), limit)
    assert all(level == int(level) >= 1 for level in tried)
    if limit == 0:
        assert (low, high) == (None, 1.0)
    else:
        assert low is not None
        assert high is not None
        assert low <= limit < high
        assert high - low <= max(1, 0.02 * low)


@given(limit=st.floats(15_000, 600_000))
def test_steps_end_with_a_fine_one(limit: float):
    chosen = steps(15_000, 15_000, 1_000)
    low, high, tried = climbed(chosen, limit)
    assert low is not None
    assert high is not None
    assert low <= limit < high
    assert high - low <= 1_000
    most = Ascent(chosen.increments, chosen.precision, at_most=max(limit, 15_001.0))
    assert len(tried) <= levels_at_most(most) + 1


def test_steps_go_as_they_did_at_cern():
    """Doubling until one fails, then 15,000 at a time, then 1,000 at a time."""
    _, _, tried = climbed(steps(15_000, 15_000, 1_000), 151_500)
    assert tried[:5] == [15_000, 30_000, 60_000, 120_000, 240_000]
    assert tried[5:8] == [135_000, 150_000, 165_000]
    assert tried[8:] == [151_000, 152_000]


def test_a_cap_that_holds_ends_the_ascent():
    low, high, tried = climbed(ascent(64, at_most=500), 1e9)
    assert (low, high) == (500, None)
    assert tried == [64, 128, 256, 500]


@given(st.floats(1, 1e6), st.floats(0.002, 0.2))
def test_shares_of_a_level_are_near_their_percent(level: float, precision: float):
    for percent in (95.0, 105.0):
        found = share_of(ascent(precision=precision), level, percent)
        assert abs(found - level * percent / 100) <= precision * level / 2


def test_shares_of_few_users_are_one_off():
    chosen = ascent(1, whole=True)
    assert [share_of(chosen, 5, percent) for percent in (95, 105)] == [4, 6]
    assert [share_of(chosen, 1, percent) for percent in (95, 105)] == [1, 2]


def test_the_step_below_is_lower_and_never_nothing():
    assert level_below(steps(100, 100, 10), 200) == 190
    assert level_below(ascent(1, whole=True), 2) == 1
    assert level_below(ascent(1, whole=True), 1) is None


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_samples_lengthen_and_never_shorten_as_the_bracket_narrows(choices: list[bool]):
    chosen = ascent(100)
    low: float | None = None
    high: float | None = None
    before = 0.0
    for holds in choices:
        level = next_level(chosen, low, high)
        if level is None:
            break
        low, high = (level, high) if holds else (low, level)
        now = narrowness(chosen, low, high)
        assert 0.0 <= before <= now + 1e-9 <= 1.0 + 1e-9
        before = now


# -- the whole search -------------------------------------------------------------------------


def rules(chosen: Ascent | None = None, **fields: object) -> Rules:
    values: dict[str, object] = {
        "over": "rate",
        "unit": "operations/s",
        "ascent": chosen or ascent(),
        "objective": ("p99 < 1 s",),
        "window_s": 10.0,
        "failures": 2,
        "shortest_s": 10.0,
        "longest_s": 40.0,
        "soak_s": 0.0,
        "confirm": 3,
        "raises": False,
    }
    return Rules(**{**values, **fields})  # type: ignore[arg-type]


def record(planned: PlannedLevel, holds: bool) -> LevelRecord:
    reasons = [] if holds else [LevelReason(cause="backlog", at_s=3.0, text="the backlog rises")]
    return LevelRecord(
        over="rate", unit="operations/s", level=planned.level, kind=planned.kind, of=planned.of,
        from_s=0.0, duration_s=planned.measure_s, holds=holds, reasons=reasons,
        achieved_per_s=planned.level, windows=1,
    )  # fmt: skip


def searched(given_rules: Rules, truth: Truth) -> tuple[SearchState, list[LevelRecord]]:
    """Makes the whole search; the state is made anew from the records each time, as from files."""
    records: list[LevelRecord] = []
    while planned := SearchState.of(given_rules, records).next():
        records += [record(each, truth(each)) for each in planned]
        assert len(records) < 400
    return SearchState.of(given_rules, records), records


@given(limit=st.floats(10, 1e6))
def test_a_sharp_limit_is_found_within_the_precision_and_confirmed(limit: float):
    state, records = searched(rules(), lambda planned: planned.level <= limit)
    assert state.sustained is not None
    assert 0.98 * limit * 0.999 <= state.sustained <= limit
    assert state.contradictions() == []
    kinds = [each.kind for each in records]
    assert kinds.count("confirm") == 9
    assert kinds == sorted(kinds)  # ascent, then confirm


def test_a_level_fails_only_when_it_fails_twice():
    spiked: set[float] = set()

    def truth(planned: PlannedLevel) -> bool:
        if planned.level not in spiked and planned.kind == "ascent":
            spiked.add(planned.level)
            return False  # the first trial of every level meets a spike
        return planned.level <= 1000

    state, _ = searched(rules(), truth)
    assert state.sustained == pytest.approx(1000, rel=0.02)
    alone, _ = searched(rules(failures=1, confirm=0), lambda s: s.level <= 1000)
    assert alone.sustained == pytest.approx(1000, rel=0.02)


def test_a_soak_that_fails_is_repeated_one_step_lower():
    state, records = searched(
        rules(soak_s=3600.0),
        lambda s: s.level <= (985 if s.kind == "soak" else 1000),
    )
    soaks = [(each.level, each.holds) for each in records if each.kind == "soak"]
    assert [holds for _, holds in soaks] == [False, True]
    assert state.sustained == soaks[-1][0]


def test_what_never_lasts_is_given_up_after_three_soaks():
    state, records = searched(rules(soak_s=3600.0), lambda s: s.kind != "soak" and s.level <= 1000)
    assert sum(each.kind == "soak" for each in records) == MOST_SOAKS
    assert state.sustained is None


def test_a_level_that_proves_too_low_is_left_upwards():
    """The ascent met a bad hour below the limit; the confirmation shows that 105 % holds."""
    early = {"left": 12}

    def truth(planned: PlannedLevel) -> bool:
        early["left"] -= 1
        return planned.level <= (500 if early["left"] > 0 else 1000)

    state, records = searched(rules(), truth)
    assert state.sustained is not None
    assert state.sustained >= 0.93 * 1000
    assert len({each.of for each in records if each.kind == "confirm"}) >= 2


def test_what_is_not_confirmed_is_confirmed_lower_alone():
    state, records = searched(rules(), lambda s: s.level <= (1000 if s.kind == "ascent" else 985))
    assert state.sustained is not None
    assert 0.96 * 1000 <= state.sustained <= 985
    later = [each for each in records if each.kind == "confirm"][9:]
    assert {each.level for each in later} == {each.of for each in later}


def test_levels_that_contradict_are_named():
    """Everything between 400 and 900 fails at first: only the confirmation sees that it was bad."""
    calls = {"made": 0}

    def truth(planned: PlannedLevel) -> bool:
        calls["made"] += 1
        return planned.level <= 400 or (planned.kind == "confirm")

    state, _ = searched(rules(), truth)
    assert state.contradictions()


@given(st.integers(0, 10_000), st.floats(0.0, 0.35))
def test_any_search_ends_however_the_trials_come_out(seed: int, noise: float):
    drawn = random.Random(seed)
    chosen = drawn.choice(
        [ascent(), steps(100, 100, 10), ascent(4, whole=True), ascent(at_most=700)]
    )
    given_rules = rules(chosen, soak_s=drawn.choice([0.0, 60.0]), failures=drawn.choice([1, 2]))
    searched(given_rules, lambda s: (s.level <= 1000) != (drawn.random() < noise))


def test_the_first_levels_are_raised_in_one_trial():
    state = SearchState(rules(ascent(100, at_most=1000), raises=True))
    first = state.next()[0]
    assert (first.level, first.raised) == (100, (200, 400, 800, 1000))
    state.note(record(PlannedLevel(100, "ascent", 10.0), True))
    assert state.next()[0].raised == ()
