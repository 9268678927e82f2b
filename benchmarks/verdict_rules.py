"""Rules of which level differs from the first: the product's, and others of its scatter.

All take logarithms of drawn experiments, shape (experiments, blocks, levels), baseline first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from unittest import mock

import numpy as np

from benchmarks.verdict_draws import Logs, claimed, judged, levels_of
from benchmarks.verdict_peers import free_dealing_p
from loadstone.results.statistics import Method, contrasts, holm, judge, within_blocks

ALPHA = 0.05

Rule = Callable[[Logs], list[list[bool]]]
"""Of each experiment: of each level but the first, whether a difference is claimed."""


def by_product(drawn: Logs) -> list[list[bool]]:
    """What the product says."""
    return [[claimed(each) for each in judged(logs)] for logs in drawn]


def by_free_dealing(drawn: Logs) -> list[list[bool]]:
    """What the rule of before says: each level against the first by itself, then Holm."""
    p_values = np.stack(
        [free_dealing_p(drawn[:, :, [0, level]]) for level in range(1, drawn.shape[2])], axis=1
    )
    return [[p <= ALPHA for p in holm([float(p) for p in each])] for each in p_values]


def without_guard(drawn: Logs) -> list[list[bool]]:
    """What the product would say if all levels shared their scatter, whatever it is."""
    with mock.patch.object(contrasts, "WIDE", inf):
        return by_product(drawn)


def wide_left_out(drawn: Logs) -> list[list[bool]]:
    """What it would say if the scatter of a wide level were left out of the others' scatter too."""
    return [_wide_left_out(logs) for logs in drawn]


def _wide_left_out(logs: Logs) -> list[bool]:
    levels = levels_of(logs)
    names = [name for name in levels if name != "0"]
    own = {name: within_blocks(levels, name, "0") for name in names}
    calm = {name for name in names if own[name].method is Method.BLOCKS}
    rest = {name: figures for name, figures in levels.items() if name in calm or name == "0"}
    found = judge(
        [within_blocks(rest, name, "0") if name in calm else own[name] for name in names],
        higher_is_better=[True] * len(names),
    )
    return [claimed(each) for each in found]
