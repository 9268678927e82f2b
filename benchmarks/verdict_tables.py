"""How often verdicts are right, by calculation: error, power, coverage of drawn experiments.

Each cell of a table is a number of experiments with a truth that is known. Cells are written to a
file as they are done, so a run that was ended goes on where it stood.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Report
from benchmarks.verdict_draws import SD, Logs, Truth, covers, judged, share_of
from benchmarks.verdict_peers import (
    free_dealing_p,
    percentile_bootstrap,
    pooled_where_equal_p,
)
from benchmarks.verdict_rules import (
    ALPHA,
    Rule,
    by_free_dealing,
    by_product,
    wide_left_out,
    without_guard,
)
from loadstone.results.statistics import fewest_blocks
from loadstone.results.statistics.power import least_shift
from loadstone.results.statistics.sign_flip import FEWEST_TO_FLIP

SHIFT = 2.0
"""The true difference that is looked for, in sd of a trial."""
FAR = 8.0
"""How far off another level is, in sd."""


BATCH = 250
"""Experiments that are drawn from one seed."""


@dataclass
class Cells:
    """Makes cells batch by batch, or finds them in the file of an earlier run."""

    batches: int
    records: Path

    def __post_init__(self) -> None:
        self._known: dict[str, Any] = {}
        if self.records.exists():
            lines = self.records.read_text(encoding="utf-8").split("\n")[:-1]
            self._known = dict(json.loads(line) for line in lines)

    def of(self, name: str, make: Callable[[int, int], list[float]]) -> list[float]:
        """The figures of a cell: means over the batches, each from a seed of its own."""
        return [
            float(each)
            for each in np.mean(
                [self._batch(f"{name}, batch {batch}", make) for batch in range(self.batches)],
                axis=0,
            )
        ]

    def _batch(self, key: str, make: Callable[[int, int], list[float]]) -> list[float]:
        if key not in self._known:
            self._known[key] = make(BATCH, zlib.crc32(key.encode()))
            with self.records.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([key, self._known[key]]) + "\n")
        found: list[float] = self._known[key]
        return found

    @property
    def error(self) -> str:
        """How exact the shares are."""
        runs = BATCH * self.batches
        at_5, at_50 = (100.0 * sqrt(p * (1.0 - p) / runs) for p in (0.05, 0.5))
        return (
            f"{runs:,} experiments a cell: a share of 5 % has a standard error of {at_5:.2g} "
            f"points, one of 50 % of {at_50:.2g}."
        )


def tables(cells: Cells) -> list[Report]:
    """All of them, in the order of the page."""
    return [
        two_levels(cells),
        more_levels(cells),
        one_wider(cells),
        intervals(cells),
        detectable(cells),
    ]


def false_claims(truth: Truth, rule: Rule = by_product) -> Callable[[int, int], list[float]]:
    """Per cent of experiments in which a level that is equal to the baseline is claimed."""
    equal = [level for level in range(1, truth.levels) if level not in truth.shifts]

    def make(runs: int, seed: int) -> list[float]:
        said = rule(truth.draw(runs, seed))
        return [share_of([any(each[level - 1] for level in equal) for each in said])]

    return make


def found(truth: Truth, rule: Rule = by_product) -> Callable[[int, int], list[float]]:
    """Per cent of experiments in which the difference of the last level is claimed."""
    shifts = {truth.levels - 1: SHIFT, **truth.shifts}

    def make(runs: int, seed: int) -> list[float]:
        said = rule(replace(truth, shifts=shifts).draw(runs, seed))
        return [share_of([each[-1] for each in said])]

    return make


def one(cells: Cells, name: str, make: Callable[[int, int], list[float]]) -> float:
    """A cell of one figure."""
    (figure,) = cells.of(name, make)
    return figure


def both(cells: Cells, name: str, truth: Truth, rule: Rule = by_product) -> str:
    """False claims and power, as `5.1/66`."""
    name = f"{name}, {truth}"
    (error,) = cells.of(f"false claims, {name}", false_claims(truth, rule))
    (power,) = cells.of(f"found, {name}", found(truth, rule))
    return f"{error:.1f}/{power:.0f}"


def peer(cells: Cells, name: str, p_of: Callable[[Logs], Any], truth: Truth) -> str:
    """The same of a rule that judges all experiments at once."""
    far = replace(truth, shifts={1: SHIFT})

    def make(runs: int, seed: int) -> list[float]:
        return [share_of(p_of(each.draw(runs, seed)) <= ALPHA) for each in (truth, far)]

    error, power = cells.of(f"{name}, {truth}", make)
    return f"{error:.1f}/{power:.0f}"


def sign_flip(cells: Cells, truth: Truth) -> str:
    """The check that the product shows beside its verdict."""

    def make(runs: int, seed: int) -> list[float]:
        drawn = (each.draw(runs, seed) for each in (truth, replace(truth, shifts={1: SHIFT})))
        flips = ([judged(logs)[0].flip_p for logs in each] for each in drawn)
        return [share_of([p is not None and p <= ALPHA for p in each]) for each in flips]

    error, power = cells.of(f"sign flip, {truth}", make)
    return f"{error:.1f}/{power:.0f}"


def two_levels(cells: Cells) -> Report:
    """Shares of the blocks, tails, wild trials; beside the rule of before and others."""
    rows = []
    for blocks in (4, 5, 6, 8, 12):
        truths = {share: Truth(blocks, share=share) for share in (0.0, 0.5, 0.99)}
        row = [str(blocks)]
        row += [peer(cells, "free dealing", free_dealing_p, truths[s]) for s in (0.0, 0.5, 0.99)]
        row += [both(cells, "product", truths[s]) for s in (0.0, 0.5, 0.99)]
        row += [both(cells, "product", Truth(blocks, shape=shape)) for shape in ("t3", "wild")]
        row += [sign_flip(cells, truths[0.0]) if blocks >= FEWEST_TO_FLIP else ""]
        row += [peer(cells, "pooled where equal", pooled_where_equal_p, truths[0.0])]
        rows.append(row)
    return Report(
        title="Verdicts, simulated: two levels",
        how="False claims % / differences of 2 sd that are found %; sd is that of a trial within "
        "its block, share the part of the variance that lies between blocks. t3: Student's t with "
        "3 degrees of freedom; wild: one trial in 20 scatters ten times as much. Free dealing is "
        "the rule of before; the last column gives up blocks that do not seem to differ, as REML "
        f"does. {cells.error} `python -m benchmarks.verdicts simulate`.",
        header=("blocks", *(f"free dealing, share {s}" for s in ("0", ".5", ".99")),
                *(f"Loadstone, share {s}" for s in ("0", ".5", ".99")),
                "Loadstone, t3", "Loadstone, wild", "sign flip", "blocks given up"),
        rows=rows,
        aims=(),
    )  # fmt: skip


def more_levels(cells: Cells) -> Report:
    """Three to six levels, each against the first, with Holm's correction."""
    rows = []
    for levels, blocks in [(k, n) for k in (3, 4, 6) for n in (3, 5, 8)]:
        equal = Truth(blocks, levels, share=0.5)
        off = replace(equal, shifts=dict.fromkeys(range(1, levels // 2 + 1), 6.0))
        far = replace(equal, shifts={1: FAR})
        row = [f"{levels}, {blocks}", both(cells, "product", equal)]
        row += [f"{one(cells, f'false claims, product, {off}', false_claims(off)):.1f}"]
        row += [f"{one(cells, f'found, product, {far}', found(far)):.0f}"]
        row += [both(cells, "free dealing, Holm", equal, by_free_dealing)]
        rows.append(row)
    return Report(
        title="Verdicts, simulated: more levels",
        how="Each level against the first, half of the variance between blocks, Holm over the "
        "pairs. False claims are experiments in which any level without a difference is claimed; "
        f"found is a last level that is 2 sd off. {cells.error}",
        header=("levels, blocks", "false/found", "false, half of the levels 6 sd off",
                f"found, another level {FAR:g} sd off", "free dealing: false/found"),
        rows=rows,
        aims=(),
    )  # fmt: skip


def one_wider(cells: Cells) -> Report:
    """One level that scatters more than the others, under three rules of its scatter."""
    rules: Mapping[str, Rule] = {
        "all share": without_guard, "product": by_product, "left out": wide_left_out,
    }  # fmt: skip
    rows = []
    for levels, width in [(k, w) for k in (4, 6) for w in (2.0, 4.0)]:
        truth = Truth(5, levels, share=0.5, widths={levels - 1: width})
        row = [str(levels), f"{width:g} x"]
        for name, rule in rules.items():
            row.append(
                f"{one(cells, f'false claims, {name}, {truth}', false_claims(truth, rule)):.1f}"
            )
        rows.append(row)
    return Report(
        title="Verdicts, simulated: one level wider",
        how="False claims % among equal levels in 5 blocks, of which the last scatters more. "
        "Loadstone holds a level whose residual variance is over three times the median against "
        "its own differences, and keeps its scatter in that of the others. The last column takes "
        f"it out there too. {cells.error}",
        header=("levels", "width", "all share one scatter", "Loadstone", "taken out of the others"),
        rows=rows,
        aims=(),
    )


def coverage(truth: Truth) -> Callable[[int, int], list[float]]:
    """Per cent of intervals of the last level that hold its true difference."""

    def make(runs: int, seed: int) -> list[float]:
        return [share_of([covers(judged(logs)[-1], 0.0) for logs in truth.draw(runs, seed)])]

    return make


def bootstrapped(truth: Truth) -> Callable[[int, int], list[float]]:
    """The same of a percentile bootstrap."""

    def make(runs: int, seed: int) -> list[float]:
        ends = percentile_bootstrap(truth.draw(runs, seed), np.random.default_rng(seed))
        return [share_of((ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0))]

    return make


def intervals(cells: Cells) -> Report:
    """How many intervals of 95 % hold the truth."""
    rows = []
    for blocks in (2, 3, 4, 5, 8, 12):
        kinds = [Truth(blocks, shape=shape) for shape in ("normal", "t3", "wild", "skewed")]
        kinds.append(Truth(blocks, shape="skewed", widths={1: 4.0}))
        row = [str(blocks)]
        if blocks >= fewest_blocks(2):
            row += [f"{one(cells, f'coverage, {truth}', coverage(truth)):.1f}" for truth in kinds]
        else:
            row += ["none"] * len(kinds)
        row.append(f"{one(cells, f'bootstrap, {kinds[0]}', bootstrapped(kinds[0])):.1f}")
        rows.append(row)
    return Report(
        title="Verdicts, simulated: intervals",
        how="Intervals of 95 % of a pair that hold the true ratio, in per cent. Skewed: the error "
        "of one level is exponential. The bootstrap takes percentiles of trials drawn again from "
        f"each level, which few trials cannot carry. {cells.error}",
        header=("blocks", "normal", "t3", "wild", "skewed", "skewed, 4 times as wide",
                "percentile bootstrap, normal"),
        rows=rows,
        aims=(),
    )  # fmt: skip


def detectable(cells: Cells) -> Report:
    """The least detectable difference, and how often it is found."""
    rows = []
    for blocks in (4, 5, 6, 8, 12):
        row = [str(blocks)]
        for levels in (2, 3, 6):
            freedom = (blocks - 1) * (levels - 1)
            shift = least_shift(freedom, ALPHA / (levels - 1)) * sqrt(2.0 / blocks)
            truth = Truth(blocks, levels, share=0.5, shifts={levels - 1: shift})

            row.append(f"{shift:.2f} ({one(cells, f'least, {truth}', found(truth)):.0f} %)")
        rows.append(row)
    return Report(
        title="Verdicts, simulated: the least detectable difference",
        how="In sd of a trial within its block, at a power of 80 %, of Holm's first step; in "
        f"brackets how often it was found (at sd {100 * SD:g} %). {cells.error}",
        header=("blocks", "2 levels", "3 levels", "6 levels"),
        rows=rows,
        aims=(),
    )
