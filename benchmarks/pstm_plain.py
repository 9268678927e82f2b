"""The sum of the migration as NumPy does it: arrays over all columns in the aperture of a trace."""

from __future__ import annotations

import numpy as np

from loadstone.applications.pstm.configuration import Floats
from loadstone.applications.pstm.tables import Axis, Columns, Shape, Times


def migrate(  # noqa: PLR0917 - as the kernel
    image: Floats,
    columns: Columns,
    times: Times,
    traces: Floats,
    positions: Floats,
    axis: Axis,
    shape: Shape,
) -> int:
    """As `kernel.migrate`, with the triangle filter; returns the updates that count."""
    updates = 0
    for trace, place in zip(traces, positions, strict=True):
        source, group = place[:2], place[2:]
        middle = (source + group) / 2
        distance_m = np.hypot(columns.x - middle[0], columns.y - middle[1])
        (near,) = np.nonzero(distance_m < shape.aperture_m)
        rows = columns.row[near]
        reached = times.reach_m[rows] >= distance_m[near, np.newaxis]
        at = np.column_stack((columns.x[near], columns.y[near]))
        gain = np.minimum(1.0, (shape.aperture_m - distance_m[near]) / shape.taper_m)
        share = _share(at - source, at - group, times, rows, trace, axis, shape)
        image[near] += np.where(reached, gain[:, np.newaxis] * share, 0.0)
        updates += int(reached.sum())
    return updates


def _share(  # noqa: PLR0917 - as the kernel
    from_source: Floats,
    from_group: Floats,
    times: Times,
    rows: Floats,
    trace: Floats,
    axis: Axis,
    shape: Shape,
) -> Floats:
    """What a trace adds to each sample of some columns, before its gain."""
    square = times.slowness2[rows]
    with np.errstate(divide="ignore", invalid="ignore"):  # at time 0, which is not reached
        source_s = np.sqrt(times.quarter_s2 + square * _squares(from_source))
        group_s = np.sqrt(times.quarter_s2 + square * _squares(from_group))
        slopes = [
            np.abs(
                from_source[:, axis_, np.newaxis] / source_s
                + from_group[:, axis_, np.newaxis] / group_s
            )
            for axis_ in (0, 1)
        ]
        half = np.maximum(1.0, shape.spread * square * np.maximum(*slopes))
        weight = times.gain_s * (source_s + group_s) * (source_s**-2 + group_s**-2)
        middle = np.clip((source_s + group_s) * axis.rate + axis.origin, axis.low, axis.high)
        bent = (
            _between(trace, middle - half)
            - 2 * _between(trace, middle)
            + _between(trace, middle + half)
        )
        return weight * bent / half**2


def _squares(steps: Floats) -> Floats:
    return np.square(steps).sum(axis=1)[:, np.newaxis]


def _between(trace: Floats, places: Floats) -> Floats:
    places = np.where(np.isfinite(places), places, 0.0)
    whole = places.astype(np.int64)
    before = trace[whole]
    return before + (places - whole) * (trace[whole + 1] - before)
