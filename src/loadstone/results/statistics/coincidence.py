"""What happened when operations took long: more often than chance, or not?

A trial is cut into windows. Some of them are *slow*; slow windows without a gap are one spike.
Beside them lie the spans of several kinds of things that happened (a checkpoint, a log switch),
widened by a tolerance. A spike coincides with a kind when it touches a span of it. How closely they
go together is the *overlap*: the number of slow windows that lie in spans.

How often chance alone would bring them together is tried out, while the spans stay where they are,
so that it does not matter how those cluster. A binomial test would take windows for independent
draws, which they are not.

* *Shuffles:* the spikes and the gaps between them are put into random order, and the whole turned
  by a random number of windows on the ring of the trial. That keeps how long spikes and gaps are
  (Louis, Borgelt & Gruen 2010, Generation and selection of surrogate methods, in Analysis of
  Parallel Spike Trains). The p-value is the share of the shuffles, the trial among them, with
  at least as much overlap.
* *Turns:* the spikes as they are, turned by every number of windows (as the toroidal shifts of
  Lotwick & Silverman 1982, J. R. Stat. Soc. B 44:406). That keeps their order too. Where more than
  a tenth of the turns have as much overlap, both only became more frequent together, as things
  do towards the end of a long trial, and that share is the p-value if it is the larger one.

The kinds of one trial are corrected together by Holm's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from loadstone.results.statistics.verdicts import holm

Flags = NDArray[np.bool_]
Figures = NDArray[np.float64]
Indices = NDArray[np.int64]
Span = tuple[float, float]
"""Begin and end in seconds; equal for a moment."""

DEVIATIONS = 4.0
"""A spike lies so many standard deviations, estimated below the median, above it..."""
RATIO = 2.0
"""...and is at least so many times the median."""
FEWEST_WINDOWS = 20
"""Below this nothing is usual."""
SHUFFLES = 1999
SLOW_SHARE = 0.1
"""Of the turns; if more are as good, what comes together does so slowly, not by the moment."""
_SIGMA_OF_QUARTER = 1.4826
"""Of a normal distribution: the standard deviation over the distance from quartile to median."""


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
        expected: How many would by chance: the mean over the shuffles.
        p_value: Of the overlap.
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

    Median plus `deviations` times the spread, and at least `ratio` times the median, so that a
    series with hardly any spread does not spike all the time. The spread is that of the lower half
    (median to lower quartile): spikes may be a third of the values and do not widen it.

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
    unit = float(np.abs(finite).max()) or 1.0  # no difference is beyond all numbers
    quartile, median = (float(value) for value in np.quantile(finite / unit, (0.25, 0.5)))
    spread = _SIGMA_OF_QUARTER * (median - quartile)
    return min(max(median + deviations * spread, ratio * median) * unit, float_info.max)


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
    seed: int = 1,
) -> list[KindResult]:
    """Counts which kinds coincide with spikes, and what chance would give.

    Args:
        edges_s: Edges of the windows, as for `touched`.
        slow: For each window, whether it belongs to a spike.
        kinds: Kind: its spans. Those without a span within the windows are left out.
        tolerance_s: By which spans are widened: clocks and samples are no better than that.
        alpha: The chance of any false finding in the trial that is accepted.
        seed: Of the shuffles.

    Returns:
        One result for each kind, the clearest first; none without windows.

    Raises:
        ValueError: If `slow` is not one flag for each window.
    """
    if len(slow) != len(edges_s) - 1:
        raise ValueError(f"{len(slow)} flags for {len(edges_s) - 1} windows")
    if not slow.size:
        return []
    spikes = runs(slow)
    within: dict[str, list[Span]] = {
        kind: [span for span in spans if span[1] >= edges_s[0] and span[0] <= edges_s[-1]]
        for kind, spans in kinds.items()
    }
    present = {kind: spans for kind, spans in within.items() if spans}
    covers = {kind: touched(edges_s, spans, tolerance_s) for kind, spans in present.items()}
    shuffled = _shuffled(spikes, slow.size, np.random.default_rng(seed))
    turned = _turned(spikes, slow.size)
    overlaps = {kind: _covered(shuffled, cover) for kind, cover in covers.items()}
    p_values = [
        _p_value(overlap.sum(axis=1), _covered(turned, covers[kind]).sum(axis=1))
        for kind, overlap in overlaps.items()
    ]
    results = [
        KindResult(
            kind=kind,
            spans=len(present[kind]),
            covered=float(np.mean(covers[kind])),
            spikes=len(spikes),
            together=int(np.sum(overlap[0] > 0)),
            expected=float(np.mean(np.sum(overlap > 0, axis=1))),
            p_value=p,
            p_adjusted=adjusted,
            verdict=_verdict(overlap.sum(axis=1), adjusted, alpha, len(overlaps)),
        )
        for (kind, overlap), p, adjusted in zip(
            overlaps.items(), p_values, holm(p_values), strict=True
        )
    ]
    return sorted(results, key=lambda each: (each.p_value, -each.together, each.kind))


@dataclass(frozen=True, slots=True)
class _Arrangements:
    """Spikes in several arrangements: first window and length of each, one row an arrangement.

    The first row is the trial as it was.
    """

    first: Indices
    length: Indices


def _turned(spikes: Sequence[tuple[int, int]], windows: int) -> _Arrangements:
    """Turned by 0, 1, ... windows round the ring."""
    first = np.array([first for first, _ in spikes], dtype=np.int64)
    length = np.array([last - first + 1 for first, last in spikes], dtype=np.int64)
    every = (first[None, :] + np.arange(windows)[:, None]) % windows
    return _Arrangements(every, np.broadcast_to(length, every.shape))


def _shuffled(
    spikes: Sequence[tuple[int, int]], windows: int, rng: np.random.Generator
) -> _Arrangements:
    """The trial, and its spikes and gaps in random order from a random window on."""
    first = np.array([first for first, _ in spikes], dtype=np.int64)
    length = np.array([last - first + 1 for first, last in spikes], dtype=np.int64)
    gap = (np.roll(first, -1) - first - length) % windows
    shape = (SHUFFLES, len(spikes))
    lengths = rng.permuted(np.broadcast_to(length, shape), axis=1)
    gaps = rng.permuted(np.broadcast_to(gap, shape), axis=1)
    steps = lengths + gaps
    begin = rng.integers(0, windows, (SHUFFLES, 1))
    firsts = (begin + np.cumsum(steps, axis=1) - steps) % windows
    return _Arrangements(np.vstack((first, firsts)), np.vstack((length, lengths)))


def _covered(arrangements: _Arrangements, cover: Flags) -> Indices:
    """Covered windows of each spike, for each arrangement."""
    before = np.concatenate(([0], np.cumsum(np.concatenate((cover, cover)))))
    first = arrangements.first
    windows: Indices = before[first + arrangements.length] - before[first]
    return windows


def _p_value(shuffled: Indices, turned: Indices) -> float:
    by_shuffle = float(np.mean(shuffled >= shuffled[0]))
    by_turn = float(np.mean(turned >= turned[0]))
    return max(by_shuffle, by_turn) if by_turn > SLOW_SHARE else by_shuffle


def _verdict(overlaps: Indices, adjusted: float, alpha: float, kinds: int) -> Coincidence:
    """Equal must count as equal: p-values are products of rounded figures."""
    if overlaps.max() > 0 and adjusted <= alpha * (1.0 + 1e-9):
        return Coincidence.MORE_OFTEN
    clearest = float(np.mean(overlaps == overlaps.max()))
    if kinds * clearest > alpha * (1.0 + 1e-9):
        return Coincidence.CANNOT_TELL
    return Coincidence.AS_CHANCE
