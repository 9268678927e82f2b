"""The figures of a decision-support run, by the formulas of TPC-H 3.0.1, clause 5.4.

They carry names of Loadstone's own: a figure that was not audited is none of the TPC's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log, sqrt

SHORTEST_SHARE = 1e-3
"""A time below this share of the longest query's counts as that share (clause 5.4.1.4)."""
_HOUR_S = 3600.0
QUERIES = 22


def geometric_mean(times_s: Sequence[float]) -> float:
    """The geometric mean of times.

    Args:
        times_s: Seconds, all above zero, at least one.
    """
    return exp(fsum(log(time) for time in times_s) / len(times_s))


def power(scale: float, queries_s: Sequence[float], refreshes_s: Sequence[float]) -> float:
    """Queries an hour of one stream, times the scale (clause 5.4.1).

    Args:
        scale: Scale factor.
        queries_s: Times of the 22 queries in seconds.
        refreshes_s: Times of the two refresh functions in seconds.

    Raises:
        ValueError: If there are not 22 and 2 of them, or one is not above zero.
    """
    if len(queries_s) != QUERIES or len(refreshes_s) != 2:
        raise ValueError(
            f"power is made of 22 queries and 2 refreshes, not {len(queries_s)} and "
            f"{len(refreshes_s)}"
        )
    times_s = [*queries_s, *refreshes_s]
    if min(times_s) <= 0.0:
        raise ValueError(f"a time of {min(times_s)} s cannot be")
    shortest_s = max(queries_s) * SHORTEST_SHARE
    return _HOUR_S * scale / geometric_mean([max(time, shortest_s) for time in times_s])


def throughput(scale: float, streams: int, elapsed_s: float) -> float:
    """Queries an hour of all streams, times the scale (clause 5.4.2).

    Args:
        scale: Scale factor.
        streams: Query streams.
        elapsed_s: From the first query's start to the end of the last query or refresh.
    """
    return streams * QUERIES * _HOUR_S / elapsed_s * scale


def composite(power: float, throughput: float) -> float:
    """The geometric mean of both (clause 5.4.3)."""
    return sqrt(power * throughput)
