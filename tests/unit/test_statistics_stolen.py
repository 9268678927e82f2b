"""Figures that are adjusted for the processor time that other guests of a host took."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from loadstone.results.statistics import Contrast, Method, judge, within_blocks
from loadstone.results.statistics.planning import Made, scatter_of

Figures = NDArray[np.float64]
SLOPE = -2.0
"""A tenth of the processors costs a fifth of the figure."""


def by_block(values: Figures) -> dict[str, dict[int, float]]:
    return {
        f"v{column}": {block: float(value) for block, value in enumerate(own)}
        for column, own in enumerate(values.T)
    }


def drawn(
    seed: int, blocks: int, levels: int, stolen_sd: float = 0.03, effect: float = 0.0
) -> tuple[Figures, Figures]:
    """Log figures that scatter by 1 % besides what was stolen, and what that was."""
    rng = np.random.default_rng(seed)
    stolen = np.abs(rng.normal(0.0, stolen_sd, (blocks, levels)))
    logs = rng.normal(0.0, 1.0, (blocks, 1)) + rng.normal(0.0, 0.01, (blocks, levels))
    logs = logs + SLOPE * stolen
    logs[:, 1] += effect
    return logs, stolen


def compared(logs: Figures, stolen: Figures | None) -> Contrast:
    given = None if stolen is None else by_block(stolen)
    return within_blocks(by_block(np.exp(logs)), "v1", "v0", given)


def p_of(contrast: Contrast) -> float:
    (found,) = judge([contrast], higher_is_better=[True])
    assert found.p_value is not None
    return found.p_value


def linear_model(logs: Figures, stolen: Figures) -> tuple[float, float]:
    """Coefficient and p of level 1 in lm(log y ~ block + level + stolen), as a textbook has it."""
    blocks, levels = logs.shape
    block, level = np.indices(logs.shape)
    columns = [np.ones(logs.size), stolen.ravel()]
    columns += [(block.ravel() == each).astype(float) for each in range(1, blocks)]
    columns += [(level.ravel() == each).astype(float) for each in range(1, levels)]
    design = np.column_stack(columns)
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ design.T @ logs.ravel()
    left = logs.ravel() - design @ found
    freedom = logs.size - design.shape[1]
    at = blocks + 1
    error = np.sqrt(left @ left / freedom * inverse[at, at])
    return float(found[at]), float(2.0 * stats.t.sf(abs(found[at] / error), freedom))


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_it_is_a_linear_model_with_a_covariate(levels: int, seed: int) -> None:
    logs, stolen = drawn(seed, 7, levels)
    found = compared(logs, stolen)
    if found.method in (Method.PAIRED, Method.BLOCKS):
        pytest.skip("by chance the two levels differ in what was stolen")
    shift, p = linear_model(logs, stolen)
    assert found.shift == pytest.approx(shift)
    assert p_of(found) == pytest.approx(p)
    assert found.freedom == 6 * (levels - 1) - 1


def test_it_makes_no_more_false_claims_and_finds_more() -> None:
    false, found, without = 0, 0, 0
    for seed in range(600):
        logs, stolen = drawn(seed, 6, 2)
        false += p_of(compared(logs, stolen)) <= 0.05
        changed = logs + np.array([0.0, 0.04])
        found += p_of(compared(changed, stolen)) <= 0.05
        without += p_of(compared(changed, None)) <= 0.05
    assert 0.02 <= false / 600 <= 0.08  # 5 %, within 3.4 standard errors
    assert found > 1.5 * without


def unadjusted(contrast: Contrast) -> bool:
    return contrast.method in (Method.PAIRED, Method.BLOCKS)


def test_a_machine_without_other_guests_is_judged_as_ever() -> None:
    logs, stolen = drawn(1, 8, 2, stolen_sd=0.0)
    assert compared(logs, stolen) == compared(logs, None)
    assert unadjusted(compared(logs, None))


@pytest.mark.parametrize(("blocks", "levels", "adjusts"), [(4, 2, False), (5, 2, True),
                                                          (3, 3, True)])  # fmt: skip
def test_it_must_leave_degrees_of_freedom(blocks: int, levels: int, adjusts: bool) -> None:
    found = [compared(*drawn(seed, blocks, levels)) for seed in range(20)]
    assert any(not unadjusted(each) for each in found) is adjusts


def test_what_is_not_known_of_every_trial_adjusts_nothing() -> None:
    logs, stolen = drawn(1, 8, 2)
    assert not unadjusted(compared(logs, stolen))
    stolen[3, 0] = np.nan
    assert unadjusted(compared(logs, stolen))
    known = by_block(stolen)
    del known["v1"]
    assert unadjusted(within_blocks(by_block(np.exp(logs)), "v1", "v0", known))


def test_a_level_that_makes_others_take_more_keeps_its_figure() -> None:
    """It asks for twice as many processors: what is stolen from it then is its own doing."""
    logs, stolen = drawn(1, 10, 2)
    stolen[:, 1] += 0.1
    assert unadjusted(compared(logs, stolen))


def test_a_wide_level_is_held_against_itself_after_it_was_adjusted() -> None:
    logs, stolen = drawn(1, 8, 5)
    logs[:, 1] += np.random.default_rng(2).normal(0.0, 0.2, 8)
    found = compared(logs, stolen)
    assert found.method in (Method.PAIRED, Method.PAIRED_ADJUSTED)
    assert found.levels == 2


def test_a_plan_counts_on_the_scatter_that_is_left() -> None:
    logs, stolen = drawn(3, 12, 2)
    figures = by_block(np.exp(logs))
    plain = scatter_of([Made(figures, 1.0)])
    adjusted = scatter_of([Made(figures, 1.0, stolen=by_block(stolen))])
    assert plain is not None and adjusted is not None
    assert adjusted.freedom == plain.freedom - 1
    assert adjusted.of_trial(1.0) == pytest.approx(0.01, rel=0.5)
    assert plain.of_trial(1.0) > 2 * adjusted.of_trial(1.0)
