"""What verdicts said of experiments of the real driver, beside the rule of before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import log

import numpy as np

from benchmarks.table import Aim, Report, median
from benchmarks.verdict_draws import claimed
from benchmarks.verdict_looks import FIXED, LOOKS, stopped
from benchmarks.verdict_peers import free_dealing_p
from benchmarks.verdict_product import HOW as OF_PRODUCT
from benchmarks.verdict_trials import (
    MEASURE_S,
    MEDIAN,
    OPEN,
    RATE_PER_S,
    SERVICE_TIME_US,
    USERS,
    Made,
)
from loadstone.results.statistics import Comparison, judge, looks_of, within_blocks

LEVEL = 0.05
FEW = 5
UNLIKELY = 0.01
"""Fewer or more false claims are as rare as this, if the chance of one is `LEVEL`."""

HOW = (
    f"Workload `noop`, service time {SERVICE_TIME_US:g} us, trials of {MEASURE_S:g} s in drawn "
    f"blocks, one seed of the load for each block. Open: {RATE_PER_S:g} operations/s, judged by "
    f"the mean response time, and by its median; closed: {USERS} users, judged by operations/s. "
    f"Before: labels are dealt over all trials, whatever their blocks. {OF_PRODUCT}"
)


@dataclass(frozen=True)
class Said:
    """One experiment as it is judged, and as it was judged before."""

    now: Comparison
    before_p: float


def said_of(made: Made, blocks: int) -> Said:
    """Judges the first blocks of an experiment."""
    logs = np.log(made.pairs[:blocks])
    levels = {
        name: {block: pair[level] for block, pair in enumerate(made.pairs[:blocks])}
        for level, name in enumerate(("baseline", "candidate"))
    }
    (now,) = judge(
        [within_blocks(levels, "candidate", "baseline")],
        higher_is_better=[made.load not in (OPEN, MEDIAN)],
    )
    return Said(now, float(free_dealing_p(logs[np.newaxis])[0]))


def equal_levels(made: Sequence[Made]) -> Report:
    """False claims, whether p-values are uniform, and how often intervals hold 1."""
    rows: list[list[str]] = []
    aims: list[Aim] = []
    for (load, blocks), group in _groups(made, equal=True):
        all_said = [said_of(each, blocks) for each in group]
        scatters = [each.now.spread or 0.0 for each in all_said]
        row, own = _row([each.now.p_value for each in all_said])
        least, most = _likely(len(all_said))
        covered = sum(_holds(each.now) for each in all_said)
        kind = f"{load}, {len(all_said)} of {blocks} blocks"
        rows.append([
            kind, *row, f"{100 * covered / len(all_said):.1f} %", f"{100 * median(scatters):.2g} %",
        ])  # fmt: skip
        before, _ = _row([each.before_p for each in all_said])
        rows.append([f"{kind}, before", *before, "", ""])
        fair = least <= own <= most
        aims.append(Aim(f"false claims, {load}", own, "", f"{least} to {most}", fair))
    return Report(
        title="How often the verdicts are right: equal levels",
        how=f"{HOW} Uniform: p of the Kolmogorov-Smirnov test that p-values are. The aim holds in "
        f"{100 * (1 - UNLIKELY):g} of 100 runs in which every p-value is right. Scatter is "
        "the median sd of a trial within its block. `python -m benchmarks.verdicts driver --seeds "
        "0:400`; `driver --loads order-entry order-entry-beside --seeds 0:60`.",
        header=("experiments", "claims", "median p", "first decile of p", "uniform",
                "intervals with 1", "scatter"),
        rows=rows,
        aims=aims,
    )  # fmt: skip


def slowdowns(made: Sequence[Made]) -> Report:
    """Share of planted slowdowns that are found, and the blocks and minutes it takes."""
    rows: list[list[str]] = []
    kinds = _groups([each for each in made if each.slower_percent], equal=False)
    for (load, blocks), several in kinds:
        for slower, group in _by_size(several):
            rows.append(_found(load, blocks, slower, group))
    return Report(
        title="How often the verdicts are right: planted slowdowns",
        how=f"{HOW} A slowdown is a longer service time. Found: claimed, and in the right "
        f"direction. Looks: after {', '.join(map(str, LOOKS))} blocks, with the blocks it took on "
        "average. `python -m benchmarks.verdicts driver --slower 1 2 5 --blocks 12 --seeds 0:40`; "
        "`driver --loads order-entry --slower 2 5 --blocks 12 --seeds 0:10`.",
        header=("load", "slower", "experiments", f"found in {FEW} blocks", "before",
                f"found in {FIXED} blocks", "before", "found by looks", "blocks",
                "minutes of all blocks"),
        rows=rows,
        aims=(),
    )  # fmt: skip


def _found(load: str, blocks: int, slower: float, group: Sequence[Made]) -> list[str]:
    row = [load, f"{slower:g} %", f"{len(group)} of {blocks} blocks"]
    for count in (FEW, FIXED):
        if blocks < count:
            row += ["", ""]
            continue
        said = [said_of(each, count) for each in group]
        row.append(_share([claimed(each.now) and _is_worse(each.now) for each in said]))
        row.append(_share([each.before_p <= LEVEL and _is_worse(each.now) for each in said]))
    if blocks >= LOOKS[-1]:
        looks = looks_of(LOOKS, 2, LEVEL)
        ends = [stopped(np.log(each.pairs), looks) for each in group]
        is_time = load in (OPEN, MEDIAN)
        row.append(_share([low > 0.0 if is_time else high < 0.0 for _, _, low, high in ends]))
        row.append(f"{np.mean([taken for taken, _, _, _ in ends]):.1f}")
    else:
        row += ["", ""]
    return [*row, f"{median([each.seconds for each in group]) / 60:.2g}"]


def _groups(made: Sequence[Made], *, equal: bool) -> Iterator[tuple[tuple[str, int], list[Made]]]:
    """By load and blocks; those that lost too many blocks to be judged are left out."""

    def kind(each: Made) -> tuple[str, int]:
        return each.load, each.blocks

    chosen = [each for each in made if equal == (each.slower_percent == 0)]
    chosen += [replace(each, load=MEDIAN) for each in chosen if each.load == OPEN]
    for key, group in groupby(sorted(chosen, key=kind), key=kind):
        yield key, [each for each in group if len(each.pairs) >= 4]


def _by_size(made: Sequence[Made]) -> Iterator[tuple[float, list[Made]]]:
    ordered = sorted(made, key=lambda each: each.slower_percent)
    for size, group in groupby(ordered, key=lambda each: each.slower_percent):
        yield size, list(group)


def _row(p_values: Sequence[float]) -> tuple[list[str], int]:
    from scipy import stats

    claims = sum(p <= LEVEL for p in p_values)
    uniform = float(stats.kstest(p_values, "uniform").pvalue)
    decile = float(np.quantile(p_values, 0.1))
    return [str(claims), f"{median(p_values):.2f}", f"{decile:.2f}", f"p {uniform:.2g}"], claims


def _likely(count: int) -> tuple[int, int]:
    from scipy import stats

    least, most = stats.binom.interval(1.0 - UNLIKELY, count, LEVEL)
    return int(least), int(most)


def _holds(comparison: Comparison) -> bool:
    return (
        comparison.low is not None
        and comparison.high is not None
        and log(comparison.low) <= 0.0 <= log(comparison.high)
    )


def _is_worse(comparison: Comparison) -> bool:
    return (comparison.ratio < 1.0) == comparison.higher_is_better


def _share(found: Sequence[bool]) -> str:
    return f"{100 * float(np.mean(found)):.0f} %"
