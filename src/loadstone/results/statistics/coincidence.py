"""What happened when operations took long: more often than chance, or not?

A trial is cut into windows. Some of them are *slow*; slow windows without a gap are one spike.
Beside them lie the spans of several kinds of things that happened (a checkpoint, a log switch). A
spike coincides with a kind when a span of that kind, widened by a tolerance, touches it.

How often chance alone would bring them together is counted, not modelled: the spikes are moved
round the trial as a ring, by every number of windows, while the spans stay. That keeps how spikes
cluster and how spans cluster, which a binomial test would not (as the toroidal shifts of Lotwick &
Silverman 1982, J. R. Stat. Soc. B 44:406). The p-value is the share of the shifts, the unmoved one
among them, that have at least as many coincidences. The kinds of one trial are corrected together
by Holm's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.compare import holm

Flags = NDArray[np.bool_]
Figures = NDArray[np.float64]
Span = tuple[float, float]
"""Begin and end in seconds; equal for a moment."""

DEVIATIONS = 5.0
"""A spike lies so many standard deviations, estimated by the MAD, above the median..."""
RATIO = 3.0
"""...and is at least so many times the median."""
FEWEST_WINDOWS = 20
"""Below this nothing is usual."""
_MAD_OF_SIGMA = 1.4826


class Coincidence(StrEnum):
    """What was found of a kind."""

    MORE_OFTEN = "more often than chance"
    AS_CHANCE = "as often as by chance"
    CANNOT_TELL = "cannot tell"
    """The trial is too short, or the kind too rare or too common: no outcome would be a finding."""


@dataclass(frozen=True, slots=True)
class KindResult:
    """One kind of thing that happened, against the spikes.

    Attributes:
        kind: Its name.
        spans: How often it happened.
        covered: Share of the windows that its widened spans touch, 0 to 1.
        spikes: Spikes of the trial.
        together: Those of them that coincide with it.
        expected: How many would by chance: the mean over all shifts.
        p_value: Share of the shifts with at least as many.
        p_adjusted: Corrected for the number of kinds.
        verdict: At the level that was asked for.
    """

    kind: str
    spans: int
    covered: float
    spikes: int
    together: int
    expected: float
    p_value: float
    p_adjusted: float
    verdict: Coincidence


def usual_limit(
    values: Figures, *, deviations: float = DEVIATIONS, ratio: float = RATIO
) -> float | None:
    """The value above which one of a series stands out from the rest.

    Median plus `deviations` times the scaled median absolute deviation, and at least `ratio` times
    the median, so that a series with hardly any spread does not spike all the time.

    Args:
        values: Any unit; those that are not finite are left out.
        deviations: Of the spread.
        ratio: Of the median.

    Returns:
        None for fewer than 20 values.
    """
    finite = values[np.isfinite(values)]
    if finite.size < FEWEST_WINDOWS:
        return None
    median = float(np.median(finite))
    spread = _MAD_OF_SIGMA * float(np.median(np.abs(finite - median)))
    return max(median + deviations * spread, ratio * median)


def runs(flags: Flags) -> list[tuple[int, int]]:
    """First and last index of each stretch of flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def touched(edges_s: Figures, spans: Sequence[Span], tolerance_s: float = 0.0) -> Flags:
    """Which windows are touched by any of the spans.

    Args:
        edges_s: Edges of n windows that follow each other: n + 1 times, ascending.
        spans: In any order.
        tolerance_s: By which each span is widened on both sides.
    """
    flags = np.zeros(len(edges_s) - 1, dtype=np.bool_)
    for from_s, to_s in spans:
        begin, end = from_s - tolerance_s, to_s + tolerance_s
        first = int(np.searchsorted(edges_s, begin, side="right")) - 1
        last = int(np.searchsorted(edges_s, end, side="right")) - 1
        if last >= 0 and first < flags.size:
            flags[max(0, first) : last + 1] = True
    return flags


def coincidences(
    edges_s: Figures,
    slow: Flags,
    kinds: Mapping[str, Sequence[Span]],
    *,
    tolerance_s: float,
    alpha: float = 0.05,
) -> list[KindResult]:
    """Counts which kinds coincide with spikes, and what chance would give.

    Args:
        edges_s: Edges of the windows, as for `touched`.
        slow: For each window, whether it belongs to a spike.
        kinds: Kind: its spans. Those without a span within the windows are left out.
        tolerance_s: By which spans are widened: clocks and samples are no better than that.
        alpha: The chance of any false finding in the trial that is accepted.

    Returns:
        One result for each kind, the clearest first.

    Raises:
        ValueError: If `slow` is not one flag for each window.
    """
    if len(slow) != len(edges_s) - 1:
        raise ValueError(f"{len(slow)} flags for {len(edges_s) - 1} windows")
    spikes = runs(slow)
    within: dict[str, list[Span]] = {
        kind: [span for span in spans if span[1] >= edges_s[0] and span[0] <= edges_s[-1]]
        for kind, spans in kinds.items()
    }
    present = {kind: spans for kind, spans in within.items() if spans}
    covers = {kind: touched(edges_s, spans, tolerance_s) for kind, spans in present.items()}
    counts = {kind: _counts_by_shift(spikes, cover) for kind, cover in covers.items()}
    p_values = [float(np.mean(count >= count[0])) for count in counts.values()]
    results = [
        KindResult(
            kind=kind,
            spans=len(present[kind]),
            covered=float(np.mean(covers[kind])),
            spikes=len(spikes),
            together=int(count[0]),
            expected=float(np.mean(count)),
            p_value=p,
            p_adjusted=adjusted,
            verdict=_verdict(count, adjusted, alpha, len(counts)),
        )
        for (kind, count), p, adjusted in zip(counts.items(), p_values, holm(p_values), strict=True)
    ]
    return sorted(results, key=lambda each: (each.p_value, -each.together, each.kind))


def _counts_by_shift(spikes: Sequence[tuple[int, int]], cover: Flags) -> NDArray[np.int64]:
    """Coincidences when all spikes are moved by 0, 1, ... n - 1 windows round the ring."""
    n = cover.size
    counts = np.zeros(n, dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(np.concatenate((cover, cover)))))
    for first, last in spikes:
        begin = (first + np.arange(n)) % n
        counts += before[begin + (last - first) + 1] > before[begin]
    return counts


def _verdict(counts: NDArray[np.int64], adjusted: float, alpha: float, kinds: int) -> Coincidence:
    """Equal must count as equal: p-values are products of rounded figures."""
    if counts.max() > 0 and adjusted <= alpha * (1.0 + 1e-9):
        return Coincidence.MORE_OFTEN
    clearest = float(np.mean(counts == counts.max()))
    if kinds * clearest > alpha * (1.0 + 1e-9):
        return Coincidence.CANNOT_TELL
    return Coincidence.AS_CHANCE
