"""From which share of a cause do trials scatter more than the others? Asked of the store.

python -m benchmarks.noise.limits
"""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.noise.rules import all_kept, shares_of
from benchmarks.noise.store import STORE, Session, sessions
from loadstone.results.statistics.contrasts import residuals
from loadstone.results.taken import Cause

EDGES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.01)


def deviations(session: Session) -> Iterator[tuple[dict[Cause, float], float]]:
    """What was taken from each trial, above the median of its session, and how far it lies off."""
    trials = [each for each in all_kept(session.trials) if each.figure]
    blocks = sorted({each.block for each in trials})
    variants = sorted({each.variant for each in trials})
    logs = np.full((len(blocks), len(variants)), np.nan)
    for each in trials:
        logs[blocks.index(each.block), variants.index(each.variant)] = np.log(each.figure or 1.0)
    found = residuals(logs)
    usual = {
        cause: float(np.median([shares_of(each).get(cause, 0.0) for each in trials]))
        for cause in shares_of(trials[0])
    }
    scale = 1.4826 * float(np.nanmedian(np.abs(found))) or 1.0
    for each in trials:
        off = float(found[blocks.index(each.block), variants.index(each.variant)])
        excess = {cause: share - usual[cause] for cause, share in shares_of(each).items()}
        yield excess, off / scale


def table(recorded: Sequence[Session]) -> None:
    """Prints, for each cause and range of its excess, how many trials and how they scatter."""
    rows: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for session in recorded:
        for excess, off in deviations(session):
            for cause, share in excess.items():
                rows["all", cause].append((share, off))
                rows[session.kind, cause].append((share, off))
    for (kind, name), found in sorted(rows.items()):
        values = np.array(found)
        calm = values[values[:, 0] <= 0.005][:, 1]
        told = [f"{kind:12} {name:10} calm n {calm.size:4} {_spread(calm):5.2f} |"]
        for low, high in itertools.pairwise(EDGES):
            own = values[(values[:, 0] > low) & (values[:, 0] <= high)][:, 1]
            if own.size:
                told.append(f"{100 * low:g}-{100 * high:g}%: {own.size} {_spread(own):.2f}")
        print("  ".join(told))


def _spread(off: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Root of the mean square, which one far trial moves, as it moves a t."""
    return float(np.sqrt(np.mean(off**2))) if off.size else 0.0


if __name__ == "__main__":
    chosen = [int(word) for word in sys.argv[1:]] or [1]
    table([each for each in sessions(STORE) if each.seed in chosen])
