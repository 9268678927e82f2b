"""From which share of a cause do trials scatter more than the others? Asked of the store.

    python -m benchmarks.noise.limits           # of the half by which rules are made
    python -m benchmarks.noise.limits --page    # puts the table on docs/benchmarks.md

The log figure of a trial is set against the share that was taken from it, blocks and levels taken
out of both. Where the slope is sure, there is a share that moves a figure by as much as trials
scatter without it: from there on, such trials scatter more than the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.noise.asking import asked, show
from benchmarks.noise.rules import all_kept, shares_of
from benchmarks.noise.store import Session
from benchmarks.table import Report
from loadstone.results.statistics.contrasts import Unexplained
from loadstone.results.taken import Cause

SURE = 3.0
"""|t| of a slope that is told."""


@dataclass(frozen=True)
class Slope:
    """What a cause did to the figures of a session.

    Attributes:
        cause: Which.
        usual: Median of its shares.
        slope: Of the log figure; -1: a tenth taken costs a tenth.
        t: The slope in its standard errors.
        scatter: Standard deviation of a trial without it, of its log figure.
    """

    cause: Cause
    usual: float
    slope: float
    t: float
    scatter: float

    @property
    def limit(self) -> float:
        """The share that moves a figure by as much as it scatters."""
        return self.scatter / abs(self.slope)


def slopes(session: Session) -> Iterator[Slope]:
    """Of each cause that took unlike shares from the trials of a session."""
    trials = [each for each in all_kept(session.trials) if each.figure]
    blocks = sorted({each.block for each in trials})
    variants = sorted({each.variant for each in trials})
    logs = np.full((len(blocks), len(variants)), np.nan)
    shares = {cause: np.full_like(logs, np.nan) for cause in shares_of(trials[0])}
    for each in trials:
        at = blocks.index(each.block), variants.index(each.variant)
        logs[at] = np.log(each.figure or 1.0)
        for cause, share in shares_of(each).items():
            shares[cause][at] = share
    plain = Unexplained.of(logs)
    for cause, taken in shares.items():
        left = plain.adjusted(logs, taken)
        if left.taken_squares == 0.0:
            continue
        scatter = sqrt(left.squares / left.freedom)
        error = scatter / sqrt(left.taken_squares)
        yield Slope(cause, float(np.nanmedian(taken)), left.slope, left.slope / error, scatter)


def table(recorded: Sequence[Session]) -> Report:
    """Every session and cause whose slope is sure."""
    rows = []
    for session in recorded:
        for each in slopes(session):
            if abs(each.t) < SURE:
                continue
            rows.append([
                each.cause, session.kind, session.noise or "idle", f"{100 * each.usual:.1f} %",
                f"{each.slope:+.2f}", f"{each.t:+.1f}", f"{100 * each.scatter:.2g} %",
                f"{100 * each.limit:.2g} %",
            ])  # fmt: skip
    return Report(
        title="From which share on do trials scatter more",
        how=" ".join((__doc__ or "").split("\n\n")[-1].split())
        + f" Told are slopes of |t| over {SURE:g}.",
        header=("cause", "load", "beside", "usual share", "slope", "t", "scatter without it",
                "share that moves as much"),
        rows=sorted(rows),
        aims=[],
    )  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Prints the table, or puts it on the page."""
    recorded, page = asked("limits", __doc__, arguments, seed=1)
    show(table(recorded), page=page)


if __name__ == "__main__":
    main(sys.argv[1:])
