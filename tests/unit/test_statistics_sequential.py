"""Looks that are fixed in advance, with limits of so few blocks."""

from __future__ import annotations

import numpy as np
import pytest

from loadstone.results.statistics import looks_of
from loadstone.results.statistics.sequential import spent

LOOKS = (4, 6, 8, 12)


def test_limits_are_those_that_others_have_simulated() -> None:
    looks = looks_of(LOOKS, 2, 0.05)
    assert looks.limits == pytest.approx((4.36, 3.74, 3.33, 2.81), rel=0.02)
    assert looks.spent[-1] == 0.05
    assert looks_of(LOOKS, 2, 0.05) is looks, "they are constants of the plan"


def test_all_looks_together_claim_what_they_may() -> None:
    looks = looks_of(LOOKS, 2, 0.05)
    rng = np.random.default_rng(11)
    differences = rng.normal(size=(40_000, LOOKS[-1]))
    stopped = np.zeros(len(differences), dtype=bool)
    for blocks, limit in zip(LOOKS, looks.limits, strict=True):
        own = differences[:, :blocks]
        t = own.mean(axis=1) / (own.std(axis=1, ddof=1) / np.sqrt(blocks))
        stopped |= np.abs(t) >= limit
    assert stopped.mean() == pytest.approx(0.05, abs=0.004)


def test_p_at_a_limit_is_what_was_spent() -> None:
    looks = looks_of(LOOKS, 2, 0.05)
    for at, (limit, handed_out) in enumerate(zip(looks.limits, looks.spent, strict=True)):
        assert looks.p_value(at, limit) == pytest.approx(handed_out, rel=0.01)
    assert looks.p_value(3, 0.0) == pytest.approx(1.0, abs=0.01)
    assert looks.p_value(3, -5.0) == looks.p_value(3, 5.0)


def test_more_levels_share_their_scatter_and_need_less() -> None:
    assert looks_of(LOOKS, 4, 0.05).limits[0] < looks_of(LOOKS, 2, 0.05).limits[0]


@pytest.mark.parametrize("blocks", [(), (3, 6), (4, 4), (6, 4)])
def test_looks_ascend_from_the_fewest_blocks(blocks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="looks must ascend and begin at 4 blocks"):
        looks_of(blocks, 2, 0.05)


def test_a_look_that_could_never_stop_is_refused() -> None:
    with pytest.raises(ValueError, match="a look after 4 blocks could never stop"):
        looks_of((4, 100), 2, 0.001)


def test_all_is_spent_at_the_end_and_some_from_the_begin() -> None:
    assert spent(1.0, 0.05) == 0.05
    assert 0 < spent(0.1, 0.05) < spent(0.5, 0.05) < 0.05
