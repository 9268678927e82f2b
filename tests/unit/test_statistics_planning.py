"""Plans find what they promise: the scatter is recovered, and the advice has a power of 80 %."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from loadstone.results.statistics.planning import (
    MOST_BLOCKS,
    Made,
    Plan,
    Scatter,
    Test,
    cheapest,
    fewest,
    scatter_of,
    variance_within,
)

PAIR = Test(levels=2, level=0.05)
KNOWN = Scatter(
    between_trials=0.01, within_trial=0.05, between_blocks=0.0, freedom=32, is_limit=False
)
ANY = (1.0, 1e6)
Logs = NDArray[np.float64]


def ticks(rng: np.random.Generator, seconds: int, sd: float, correlation: float) -> Logs:
    """Log figures of each second, of which each resembles the one before."""
    series = rng.normal(0.0, sd, seconds)
    for second in range(1, seconds):
        rest = np.sqrt(1.0 - correlation**2)
        series[second] = correlation * series[second - 1] + rest * series[second]
    return series


def made(
    rng: np.random.Generator, *, blocks: int, levels: int, seconds: int, correlation: float = 0.0
) -> Made:
    """Trials that scatter by 5 % between blocks, 1 % between trials, 6 % from second to second."""
    of_block = rng.normal(0.0, 0.05, blocks)
    found: dict[str, dict[int, float]] = {f"v{level}": {} for level in range(levels)}
    within = []
    for block in range(blocks):
        for level, own in enumerate(found.values()):
            shift = of_block[block] + 0.3 * level + rng.normal(0.0, 0.01)
            series = np.exp(shift + ticks(rng, seconds, 0.06, correlation))
            own[block] = float(series.mean())
            within.append(variance_within(list(series), 1.0))
    return Made(found, float(seconds), [each for each in within if each is not None])


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_the_reasons_of_scatter_are_told_apart(correlation: float) -> None:
    rng = np.random.default_rng(11)
    several = [
        made(rng, blocks=40, levels=4, seconds=seconds, correlation=correlation)
        for seconds in (40, 60)
    ]
    scatter = scatter_of(several)
    assert scatter is not None
    assert (scatter.freedom, scatter.is_limit) == (2 * 39 * 3, False)
    assert scatter.within_trial == pytest.approx(
        0.06 * np.sqrt((1 + correlation) / (1 - correlation)), rel=0.15
    )
    assert scatter.between_trials == pytest.approx(0.01, rel=0.2)
    assert scatter.between_blocks == pytest.approx(0.05, rel=0.2)


def test_ticks_tell_at_most_what_trials_of_a_block_differ_by() -> None:
    """Open arrivals are drawn once for a block: they scatter from second to second, not within."""
    same = {name: {block: 100.0 + 9 * block for block in range(9)} for name in "ab"}
    same["b"][3] += 0.1
    scatter = scatter_of([Made(same, 10.0, [0.04] * 18)])
    assert scatter is not None and scatter.within_trial is not None
    assert scatter.between_trials == pytest.approx(0.0, abs=1e-9)
    assert scatter.of_trial(10.0) < 0.001


def test_few_degrees_of_freedom_give_the_upper_limit() -> None:
    rng = np.random.default_rng(3)
    limits = []
    for _ in range(400):
        figures = np.exp(rng.normal(0.0, 0.02, (4, 2)))
        levels = {f"v{c}": dict(enumerate(figures[:, c].tolist())) for c in range(2)}
        scatter = scatter_of([Made(levels, 10.0)])
        assert scatter is not None and scatter.is_limit and scatter.within_trial is None
        limits.append(scatter.between_trials)
    assert np.mean(np.array(limits) > 0.02) == pytest.approx(0.8, abs=0.05)


def test_one_block_or_one_level_tells_nothing() -> None:
    assert scatter_of([Made({"a": {1: 2.0}, "b": {1: 3.0}}, 10.0)]) is None
    assert scatter_of([Made({"a": {1: 2.0, 2: 3.0}}, 10.0)]) is None
    assert scatter_of([]) is None


@pytest.mark.parametrize("series", [[1.0, 2.0, 3.0], [0.0] * 9, [1.0, float("nan")] * 5])
def test_ticks_that_tell_nothing_are_left_out(series: list[float]) -> None:
    assert variance_within(series, 1.0) is None


def test_the_cheapest_pair_is_the_worked_example() -> None:
    assert cheapest(KNOWN, PAIR, 5.0, beside_s=20, lengths_s=ANY) == Plan(5, 8.0)


def test_a_trial_that_costs_nothing_beside_its_load_is_short_and_made_often() -> None:
    dear = cheapest(KNOWN, PAIR, 2.0, beside_s=300, lengths_s=ANY)
    cheap = cheapest(KNOWN, PAIR, 2.0, beside_s=0, lengths_s=ANY)
    assert dear is not None and cheap is not None
    assert dear.blocks < cheap.blocks and dear.measured_s > cheap.measured_s


def test_the_length_keeps_within_bounds() -> None:
    longer = cheapest(KNOWN, PAIR, 5.0, beside_s=20, lengths_s=(30, 60))
    shorter = cheapest(KNOWN, PAIR, 5.0, beside_s=20, lengths_s=(1, 4))
    assert (longer, shorter) == (Plan(4, 30.0), Plan(7, 4.0))


def test_many_levels_have_blocks_enough_that_none_seems_wide_by_luck() -> None:
    plan = cheapest(KNOWN, Test(levels=5, level=0.0125), 50.0, beside_s=20, lengths_s=ANY)
    assert plan == Plan(5, 1.0)


def test_what_no_number_of_blocks_finds_is_said() -> None:
    assert cheapest(KNOWN, PAIR, 0.1, beside_s=20, lengths_s=ANY) is None
    assert fewest(KNOWN, PAIR, 0.1, measured_s=10) is None
    assert PAIR.finds_percent(3, 0.01) is None
    assert PAIR.power(3, 0.01, 1.0) == 0.0
    least = PAIR.finds_percent(MOST_BLOCKS, 0.01)
    assert least is not None and 0 < least < 1


@pytest.mark.parametrize(
    ("test", "change_percent"), [(PAIR, 5.0), (PAIR, 2.0), (Test(levels=4, level=0.05 / 3), 3.0)]
)
def test_the_advice_finds_the_change_in_80_of_100(test: Test, change_percent: float) -> None:
    plan = cheapest(KNOWN, test, change_percent, beside_s=20, lengths_s=ANY)
    assert plan is not None
    rng = np.random.default_rng(5)
    runs = 4000
    sd = np.sqrt(0.01**2 + 0.05**2 / plan.measured_s)
    logs = rng.normal(0.0, sd, (runs, plan.blocks, test.levels))
    logs += rng.normal(0.0, 0.1, (runs, plan.blocks, 1))
    logs[:, :, 1] += np.log1p(change_percent / 100)
    rest = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=2, keepdims=True)
    rest += logs.mean(axis=(1, 2), keepdims=True)
    freedom = test.freedom(plan.blocks)
    error = np.sqrt(2 * (rest**2).sum(axis=(1, 2)) / freedom / plan.blocks)
    t = (logs[:, :, 1] - logs[:, :, 0]).mean(axis=1) / error
    found = np.mean(2 * stats.t.sf(np.abs(t), freedom) <= test.level)
    assert found == pytest.approx(0.8, abs=0.035)
    spread = KNOWN.of_trial(plan.measured_s)
    assert test.power(plan.blocks, spread, np.log1p(change_percent / 100)) == pytest.approx(
        found, abs=0.025
    )
    least = test.finds_percent(plan.blocks, spread)
    assert least is not None and 0.9 * change_percent < least <= change_percent


def test_where_trials_have_their_length_only_repeats_are_left() -> None:
    scatter = Scatter(0.02, None, 0.0, 8, is_limit=False)
    plan = fewest(scatter, PAIR, 5.0, measured_s=70.5)
    assert plan is not None and plan.measured_s == 70.5
    assert PAIR.power(plan.blocks, 0.02, np.log1p(0.05)) >= 0.8
    assert PAIR.power(plan.blocks - 1, 0.02, np.log1p(0.05)) < 0.8
