"""Spikes and what happened meanwhile: what is planted is found, what is not is rarely claimed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.results.statistics.coincidence import (
    SHUFFLES,
    Coincidence,
    KindResult,
    Span,
    _shuffled,
    coincidences,
    runs,
    touched,
    usual_limit,
)

WINDOWS = 300


def judge(slow: np.ndarray, tolerance_s: float = 1.0, **kinds: list[Span]) -> list[KindResult]:
    return coincidences(np.arange(slow.size + 1.0), slow, kinds, tolerance_s=tolerance_s)


def flags(*windows: int, size: int = WINDOWS) -> np.ndarray:
    found = np.zeros(size, dtype=np.bool_)
    found[list(windows)] = True
    return found


def random_spans(rng: np.random.Generator, count: int, length_s: float) -> list[Span]:
    begins = rng.uniform(0, WINDOWS - length_s, count)
    return [(float(begin), float(begin + length_s)) for begin in begins]


def clustered(rng: np.random.Generator, *, stay: float, share: float) -> np.ndarray:
    """Flags that come in intervals: each window is as the one before with probability `stay`."""
    state = rng.random() < share
    found = []
    for _ in range(WINDOWS):
        if rng.random() > stay:
            state = rng.random() < share
        found.append(state)
    return np.array(found)


def test_a_planted_coincidence_is_found_and_the_bystander_is_not() -> None:
    rng = np.random.default_rng(1)
    switches = random_spans(rng, 8, 0.5)
    slow = touched(np.arange(WINDOWS + 1.0), switches)
    found = {
        each.kind: each
        for each in judge(slow, switch=switches, bystander=random_spans(rng, 8, 0.5))
    }
    assert found["switch"].verdict is Coincidence.MORE_OFTEN
    assert found["switch"].together == found["switch"].spikes
    assert found["switch"].expected < 0.3 * found["switch"].spikes
    assert found["bystander"].verdict is Coincidence.AS_CHANCE
    assert judge(slow, b=random_spans(rng, 3, 0.1), a=switches)[0].kind == "a"


def test_half_of_the_spikes_are_enough() -> None:
    rng = np.random.default_rng(2)
    switches = random_spans(rng, 6, 0.5)
    slow = touched(np.arange(WINDOWS + 1.0), switches)
    slow |= flags(*rng.integers(0, WINDOWS, 6))
    assert judge(slow, switch=switches)[0].verdict is Coincidence.MORE_OFTEN


@pytest.mark.parametrize("spread", ["alone", "clustered"])
def test_what_is_independent_is_rarely_claimed(spread: str) -> None:
    """200 trials of 4 kinds, alpha 5 %: 10 false findings are expected, 19 come once in 300."""
    rng = np.random.default_rng(3)
    false = 0
    for _ in range(200):
        if spread == "alone":
            slow = flags(*rng.integers(0, WINDOWS, 10))
            kinds = {name: random_spans(rng, 10, 1.0) for name in "abcd"}
        else:
            # Both come in long intervals: a binomial test would find something most of the time.
            slow = clustered(rng, stay=0.95, share=0.2)
            kinds = {
                name: [
                    (float(first), float(last))
                    for first, last in runs(clustered(rng, stay=0.95, share=0.2))
                ]
                for name in "abcd"
            }
        found = judge(slow, 0.0, **kinds)
        false += any(each.verdict is Coincidence.MORE_OFTEN for each in found)
    assert false <= 19


def test_a_binomial_test_would_be_misled_by_stretches() -> None:
    """Shows why chance is tried out: windows are no independent draws."""
    rng = np.random.default_rng(4)
    misled = claimed = 0
    for _ in range(100):
        slow = clustered(rng, stay=0.97, share=0.2)
        spans = [(float(a), float(b)) for a, b in runs(clustered(rng, stay=0.97, share=0.2))]
        cover = touched(np.arange(WINDOWS + 1.0), spans)
        expected, both = cover.mean() * slow.sum(), (slow & cover).sum()
        deviation = np.sqrt(max(1e-9, expected * (1 - cover.mean())))
        misled += both > expected + 1.645 * deviation
        claimed += any(e.verdict is Coincidence.MORE_OFTEN for e in judge(slow, 0.0, kind=spans))
    assert misled > 20
    assert claimed <= 12


def test_a_kind_that_is_always_there_tells_nothing() -> None:
    result = judge(flags(10, 50, 90), always=[(0.0, float(WINDOWS))])[0]
    assert result.together == 3
    assert result.expected == 3.0
    assert result.p_value == 1.0
    assert result.verdict is Coincidence.CANNOT_TELL


def test_a_short_trial_cannot_tell() -> None:
    result = judge(flags(5, size=15), switch=[(5.0, 5.5)])[0]
    assert result.together == 1
    assert result.verdict is Coincidence.CANNOT_TELL


def test_without_spikes_nothing_is_found() -> None:
    result = judge(flags(), switch=[(5.0, 5.5)])[0]
    assert (result.spikes, result.together, result.p_value) == (0, 0, 1.0)
    assert result.verdict is Coincidence.CANNOT_TELL


def test_what_lies_outside_is_left_out() -> None:
    assert judge(flags(3), before=[(-5.0, -2.0)], after=[(400.0, 401.0)], none=[]) == []


def test_the_tolerance_widens() -> None:
    slow = flags(10)
    assert judge(slow, 0.0, near=[(8.2, 8.9)])[0].together == 0
    assert judge(slow, 1.5, near=[(8.2, 8.9)])[0].together == 1


def test_neighbouring_windows_are_one_spike() -> None:
    assert runs(flags(0, 1, 2, 7, 299)) == [(0, 2), (7, 7), (299, 299)]
    assert judge(flags(3, 4, 5), x=[(4.0, 4.1)])[0].spikes == 1


def test_flags_must_fit_the_windows() -> None:
    with pytest.raises(ValueError, match="2 flags for 3"):
        coincidences(np.arange(4.0), flags(size=2), {}, tolerance_s=0)


@given(
    st.lists(st.integers(0, 59), min_size=1, max_size=12),
    st.lists(st.tuples(st.floats(0, 59), st.floats(0, 10)), min_size=1, max_size=6),
)
def test_coincidences_are_counted_and_chance_keeps_spikes_and_gaps(
    windows: list[int], spans: list[Span]
) -> None:
    slow = flags(*windows, size=60)
    kind = [(begin, begin + length) for begin, length in spans]
    cover = touched(np.arange(61.0), kind)
    spikes = runs(slow)
    result = judge(slow, 0.0, x=kind)[0]
    assert result.together == sum(any(cover[a : b + 1]) for a, b in spikes)
    assert 1 / (SHUFFLES + 1) <= result.p_value <= 1.0
    made = _shuffled(spikes, 60, np.random.default_rng(1))
    assert (np.sort(made.length, axis=1) == sorted(b - a + 1 for a, b in spikes)).all()
    for first, length in zip(made.first[:20], made.length[:20], strict=True):
        places = [(f + i) % 60 for f, n in zip(first, length, strict=True) for i in range(n)]
        assert len(set(places)) == slow.sum(), "no spike lies upon another"


def test_what_only_becomes_more_frequent_together_is_no_coincidence() -> None:
    """Spikes and happenings are six times as frequent in the second half of a trial."""
    rng = np.random.default_rng(6)
    early, late = np.arange(150), np.arange(150, 300)
    false = 0
    for _ in range(100):
        slow = flags(*rng.choice(late, 18), *rng.choice(early, 3))
        kind = [(float(w), float(w)) for w in (*rng.choice(late, 18), *rng.choice(early, 3))]
        false += judge(slow, 0.0, kind=kind)[0].verdict is Coincidence.MORE_OFTEN
    assert false <= 12


def test_the_limit_is_robust_and_a_flat_series_has_no_spikes() -> None:
    rng = np.random.default_rng(5)
    values = rng.lognormal(0, 0.1, 200)
    values[[20, 80]] = 50.0
    limit = usual_limit(values)
    assert limit is not None
    assert list(np.flatnonzero(values > limit)) == [20, 80]
    flat = usual_limit(np.full(100, 2.0))
    assert flat == 4.0
    assert usual_limit(np.full(19, 2.0)) is None
    assert usual_limit(np.append(np.full(30, 1.0), np.nan)) == 2.0
    many = rng.lognormal(0, 0.1, 200)
    many[::3] *= 10
    limit = usual_limit(many)
    assert limit is not None
    assert list(np.flatnonzero(many > limit)) == list(range(0, 200, 3))
