"""The sum of prestack Kirchhoff time migration, compiled by Numba. docs/pstm.md has the formulas.

A trace stays in the nearest cache while its share of every column in its aperture is added. For
each column, loops over its samples first work out places and gains, and then gather what is there:
the first ones have neither branches nor gathered loads, and the compiler makes vector code of them.
Each writes few arrays: with more than eight pairs that may overlap, the compiler gives up.

Set `NUMBA_CACHE_DIR` before this module is imported: what is compiled is kept there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

from loadstone.applications.pstm.configuration import Floats
from loadstone.applications.pstm.tables import Axis, Columns, Shape, Times

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """A function as Numba compiles it on its first call; what it made is kept for later ones."""
    made = numba.njit(cache=True, fastmath=True, error_model="numpy")(function)
    return cast(F, made)


class _Place(NamedTuple):
    """A column seen from source and receiver of a trace: steps in metres, squares of distances."""

    source_x: float
    source_y: float
    source2: float
    group_x: float
    group_y: float
    group2: float
    gain: float
    """Of the trace, at the edge of the aperture."""


class _Work(NamedTuple):
    """Room for figures of the samples of a column."""

    first: Floats
    """The time from the source, then where that of the whole way is in the trace, in samples."""
    second: Floats
    """The time to the receiver, then half the width of the triangle, in samples."""
    gains: Floats
    """What a sample is multiplied by, but for `Times.gain_s`."""


class _Figures(NamedTuple):
    """Of the samples of a column that the aperture reaches; as in `Times`."""

    slowness2: Floats
    quarter_s2: Floats


@compiled
def linear(trace: Floats, place: float) -> float:
    """The value between two samples. Unsigned: for a negative index Numba looks at the end."""
    whole = np.int32(place)
    index = np.uint64(whole)
    before = trace[index]
    value: float = before + (place - whole) * (trace[index + np.uint64(1)] - before)
    return value


@compiled
def _cubic(trace: Floats, place: float) -> float:
    """The value between four samples, by a Catmull-Rom spline."""
    whole = np.int32(place)
    index = np.uint64(whole)
    part = place - whole
    first, second = trace[index - np.uint64(1)], trace[index]
    third, fourth = trace[index + np.uint64(1)], trace[index + np.uint64(2)]
    bend = 2.0 * first - 5.0 * second + 4.0 * third - fourth
    turn = 3.0 * (second - third) + fourth - first
    value: float = second + 0.5 * part * (third - first + part * (bend + part * turn))
    return value


@compiled
def _ways(source_s: Floats, group_s: Floats, figures: _Figures, place: _Place) -> None:
    """Times from the source to the samples of a column, and from there to the receiver."""
    for sample in range(source_s.size):
        square, quarter = figures.slowness2[sample], figures.quarter_s2[sample]
        source_s[sample] = math.sqrt(quarter + square * place.source2)
        group_s[sample] = math.sqrt(quarter + square * place.group2)


@compiled
def _triangles(work: _Work, slowness2: Floats, place: _Place, axis: Axis, shape: Shape) -> None:
    """Makes of both times the middle of the triangle in the trace, and half its width."""
    first, second, gains = work
    for sample in range(first.size):
        source_s, group_s = first[sample], second[sample]
        inverse = 1.0 / (source_s * group_s)
        per_source, per_group = group_s * inverse, source_s * inverse
        slope_x = abs(place.source_x * per_source + place.group_x * per_group)
        slope_y = abs(place.source_y * per_source + place.group_y * per_group)
        half = max(1.0, shape.spread * slowness2[sample] * max(slope_x, slope_y))
        both_s = source_s + group_s
        weight = both_s * (per_source * per_source + per_group * per_group)
        middle = min(max(both_s * axis.rate + axis.origin, axis.low), axis.high)
        first[sample], second[sample] = middle, half
        gains[sample] = place.gain * (weight if shape.weights else 1.0) / (half * half)


@compiled
def _points(work: _Work, place: _Place, axis: Axis, shape: Shape) -> None:
    """Makes of both times the place in the trace."""
    first, second, gains = work
    for sample in range(first.size):
        source_s, group_s = first[sample], second[sample]
        inverse = 1.0 / (source_s * group_s)
        per_source, per_group = group_s * inverse, source_s * inverse
        both_s = source_s + group_s
        weight = both_s * (per_source * per_source + per_group * per_group)
        first[sample] = min(max(both_s * axis.rate + axis.origin, axis.low), axis.high)
        gains[sample] = place.gain * (weight if shape.weights else 1.0)


@compiled
def _add_triangles(column: Floats, trace: Floats, work: _Work, gain_s: Floats) -> None:
    """Adds a trace through triangles: second differences of its double integral."""
    middles, halves, gains = work
    for sample in range(column.size):
        middle, half = middles[sample], halves[sample]
        around = linear(trace, middle - half) + linear(trace, middle + half)
        gain = gain_s[sample] * gains[sample]
        column[sample] += gain * (around - 2.0 * linear(trace, middle))


@compiled
def _add_points(column: Floats, trace: Floats, work: _Work, gain_s: Floats, cubic: bool) -> None:
    """Adds a trace as it is."""
    places, _, gains = work
    for sample in range(column.size):
        place = places[sample]
        value = _cubic(trace, place) if cubic else linear(trace, place)
        column[sample] += gain_s[sample] * gains[sample] * value


@compiled
def migrate(  # noqa: PLR0917 - Numba takes no keywords
    image: Floats,
    columns: Columns,
    times: Times,
    traces: Floats,
    positions: Floats,
    axis: Axis,
    shape: Shape,
) -> int:
    """Adds traces to an image.

    Args:
        image: Shape (columns, samples); it is changed.
        columns: Of the image.
        times: Of its samples.
        traces: As `preparing.prepared` makes them; shape (traces, padded samples).
        positions: x and y of the source, x and y of the receiver, in metres; shape (traces, 4).
        axis: Of the padded traces.
        shape: Of the operator.

    Returns:
        Trace-sample updates that were made: samples of the image to which a trace was added.
    """
    updates = 0
    room = np.empty((3, image.shape[1]))
    for number in range(traces.shape[0]):
        source_x, source_y = positions[number, 0], positions[number, 1]
        group_x, group_y = positions[number, 2], positions[number, 3]
        middle_x, middle_y = 0.5 * (source_x + group_x), 0.5 * (source_y + group_y)
        for column in range(columns.x.size):
            x, y, row = columns.x[column], columns.y[column], columns.row[column]
            distance_m = math.sqrt((x - middle_x) ** 2 + (y - middle_y) ** 2)
            if distance_m >= shape.aperture_m:
                continue
            gain = 1.0
            if shape.taper_m > 0.0:
                gain = min(1.0, (shape.aperture_m - distance_m) / shape.taper_m)
            xs, ys, xg, yg = x - source_x, y - source_y, x - group_x, y - group_y
            place = _Place(xs, ys, xs * xs + ys * ys, xg, yg, xg * xg + yg * yg, gain)
            first = np.searchsorted(times.reach_m[row], distance_m)
            figures = _Figures(times.slowness2[row, first:], times.quarter_s2[first:])
            work = _Work(room[0, first:], room[1, first:], room[2, first:])
            _ways(work.first, work.second, figures, place)
            own = image[column, first:]
            if shape.antialias:
                _triangles(work, figures.slowness2, place, axis, shape)
                _add_triangles(own, traces[number], work, times.gain_s[first:])
            else:
                _points(work, place, axis, shape)
                _add_points(own, traces[number], work, times.gain_s[first:], shape.cubic)
            updates += image.shape[1] - first
    return updates
