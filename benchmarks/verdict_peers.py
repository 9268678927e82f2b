"""Rules that Loadstone does not use, kept to show what they would have said of the same trials.

All take logarithms of drawn experiments, shape (experiments, blocks, 2), baseline first.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.float64]

MOST_DEALS = 20_000
DRAWN_DEALS = 4_999
_CHUNK = 2_000_000
"""Sums that are in memory at once."""


def free_dealing_p(logs: Logs) -> Logs:
    """The rule until issue 22: labels are dealt over all trials, whatever their blocks; two-sided.

    All deals are made up to `MOST_DEALS`; beyond that, `DRAWN_DEALS` are drawn and the real one is
    counted among them (Phipson & Smyth 2010).
    """
    blocks = logs.shape[1]
    chosen, exact = _deals(blocks)
    trials = np.concatenate([logs[:, :, 1], logs[:, :, 0]], axis=1)
    trials = trials - trials.mean(axis=1, keepdims=True)
    observed = trials[:, :blocks].sum(axis=1, keepdims=True)
    extra = 0 if exact else 1
    p_values = []
    step = max(1, _CHUNK // len(chosen))
    for start in range(0, len(trials), step):
        sums = trials[start : start + step] @ chosen.T
        own = observed[start : start + step]
        more = (sums >= own - 1e-10).sum(axis=1)
        less = (sums <= own + 1e-10).sum(axis=1)
        p_values.append(2.0 * (np.minimum(more, less) + extra) / (len(chosen) + extra))
    return np.minimum(1.0, np.concatenate(p_values))


@lru_cache(maxsize=16)
def _deals(blocks: int) -> tuple[Logs, bool]:
    """Which trials are called the candidate, a row of 0 and 1 for each deal; whether it is all."""
    if comb(2 * blocks, blocks) <= MOST_DEALS:
        choices = list(combinations(range(2 * blocks), blocks))
        rows = np.zeros((len(choices), 2 * blocks))
        for row, choice in enumerate(choices):
            rows[row, list(choice)] = 1.0
        return rows, True
    deck = np.tile(np.repeat([1.0, 0.0], blocks), (DRAWN_DEALS, 1))
    return np.random.default_rng(blocks).permuted(deck, axis=1), False


def pooled_where_equal_p(logs: Logs) -> Logs:
    """What REML does: blocks that do not seem to differ are given up, and their scatter is pooled.

    t of the mean difference; its variance is that within blocks, or that of all trials of a level
    where this is smaller (Patterson & Thompson 1971: a variance of blocks below 0 is set to 0).
    """
    from scipy import stats

    blocks = logs.shape[1]
    differences = logs[:, :, 1] - logs[:, :, 0]
    within = differences.var(axis=1, ddof=1) / 2.0
    between = logs.mean(axis=2).var(axis=1, ddof=1) * 2.0
    seem_equal = between < within
    variance = np.where(seem_equal, (within + between) / 2.0, within)
    freedom = np.where(seem_equal, 2 * blocks - 2, blocks - 1)
    t = np.abs(differences.mean(axis=1)) / np.sqrt(2.0 * variance / blocks)
    found: Logs = 2.0 * stats.t.sf(t, freedom)
    return found


def percentile_bootstrap(logs: Logs, rng: np.random.Generator, samples: int = 999) -> Logs:
    """The 95 % interval between percentiles of trials that are drawn again, of each level apart.

    Returns:
        Lower and upper ends of the difference, shape (experiments, 2).
    """
    count, blocks, _ = logs.shape
    ends = np.empty((count, 2))
    for each in range(count):
        picks = rng.integers(0, blocks, size=(2, samples, blocks))
        means = [logs[each, picks[level], level].mean(axis=1) for level in (0, 1)]
        ends[each] = np.quantile(means[1] - means[0], [0.025, 0.975])
    return ends
