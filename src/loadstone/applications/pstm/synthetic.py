"""A survey over known diffractors, drawn from a seed, as a SEG-Y file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats, Grid, Operator
from loadstone.applications.pstm.diffractors import (
    Diffractor,
    Known,
    Seen,
    peaks_of,
    rays_of,
    recorded,
)
from loadstone.applications.pstm.parameters import APART, MARGIN, PstmParameters
from loadstone.applications.pstm.survey import (
    GROUP_X,
    GROUP_Y,
    INTERVAL,
    KIND,
    SAMPLES,
    SCALAR,
    SOURCE_X,
    SOURCE_Y,
    UNIT,
    Positions,
)
from loadstone.applications.pstm.tables import times_of
from loadstone.applications.pstm.velocity import VelocityField

_CM_OF_M = 100
_SHALLOWEST, _DEEPEST = 0.35, 0.8
"""Diffractors lie between these shares of the image's time."""
_LEAST_STRENGTH = 0.7
_WAVELETS_BEHIND = 1.5
"""The record goes on so many periods behind the last answer."""
_BINARY_INTERVAL, _BINARY_SAMPLES, _BINARY_SYSTEM = 3217, 3221, 3255
_TRACE_NUMBER, _FIELD_RECORD, _OFFSET = 1, 9, 37
IBM, IEEE = 1, 5


@dataclass(frozen=True)
class Made:
    """A survey that was drawn."""

    positions: Positions
    values: NDArray[np.float32]
    """Shape (traces, samples)."""
    known: list[Known]


def draw(
    parameters: PstmParameters,
    grid: Grid,
    velocities: VelocityField,
    operator: Operator,
    seed: int,
) -> Made:
    """The traces of a survey; the same seed gives the same ones."""
    random = np.random.default_rng(seed)
    positions = _positions(parameters, grid, random)
    points = _points(parameters, grid, random)
    seen = [Seen(point, rays_of(point, positions, grid, velocities)) for point in points]
    reach_m = times_of(grid, velocities, operator).reach_m
    reaches_m = [float(reach_m[velocities.row[each.column], each.sample]) for each in points]
    peaks = peaks_of(seen, reaches_m, operator, grid, parameters.frequency_hz)
    known = [
        Known(point.column, point.sample, peak) for point, peak in zip(points, peaks, strict=True)
    ]
    times_s = _record_times(seen, grid, operator, parameters.frequency_hz)
    if parameters.fault == "moved-diffractor":
        moved = replace(points[0], sample=points[0].sample + 1)
        seen[0] = Seen(moved, rays_of(moved, positions, grid, velocities))
    return Made(positions, recorded(seen, times_s, grid, parameters.frequency_hz), known)


def write_segy(
    path: Path,
    positions: Positions,
    values: NDArray[np.float32],
    interval_s: float,
    format_: int = IEEE,
) -> None:
    """Writes traces; coordinates are told in centimetres. Equal traces give equal bytes."""
    import segyio

    spec: Any = segyio.spec()
    spec.format, spec.tracecount = format_, len(values)
    spec.samples = np.arange(values.shape[1]) * interval_s * 1e3
    interval_us = round(interval_s * 1e6)
    with segyio.create(str(path), spec) as file:
        file.text[0] = segyio.create_text_header({1: "PRESTACK TRACES OVER KNOWN DIFFRACTORS"})
        file.bin[_BINARY_INTERVAL] = interval_us
        file.bin[_BINARY_SAMPLES] = values.shape[1]
        file.bin[_BINARY_SYSTEM] = 1
        words = _coordinates(positions)
        for number, trace in enumerate(values):
            file.header[number] = {
                _TRACE_NUMBER: number + 1,
                _FIELD_RECORD: number + 1,
                KIND: 1,
                SCALAR: -_CM_OF_M,
                UNIT: 1,
                SAMPLES: values.shape[1],
                INTERVAL: interval_us,
                **{word: int(found[number]) for word, found in words.items()},
            }
            file.trace[number] = trace


def _coordinates(positions: Positions) -> dict[int, NDArray[np.int64]]:
    placed = {
        SOURCE_X: positions.source_x,
        SOURCE_Y: positions.source_y,
        GROUP_X: positions.group_x,
        GROUP_Y: positions.group_y,
    }
    words = {word: np.rint(_CM_OF_M * each).astype(np.int64) for word, each in placed.items()}
    offset_m = np.hypot(
        positions.group_x - positions.source_x, positions.group_y - positions.source_y
    )
    return {**words, _OFFSET: np.rint(offset_m).astype(np.int64)}


def _positions(parameters: PstmParameters, grid: Grid, random: np.random.Generator) -> Positions:
    """Midpoints near a lattice over the image and its aperture; offsets of all directions."""
    lines, margin = parameters.lines, parameters.aperture_m
    side = (grid.columns - 1) * grid.spacing_m + 2 * margin
    step = side / lines
    lattice = (np.arange(lines) + 0.5) * step - margin
    middle_x, middle_y = np.repeat(lattice + grid.x_m, lines), np.tile(lattice + grid.y_m, lines)
    count = lines * lines
    middle_x = middle_x + random.uniform(-0.25, 0.25, count) * step
    middle_y = middle_y + random.uniform(-0.25, 0.25, count) * step
    half_m = random.uniform(0, parameters.offset_m / 2, count)
    azimuth = random.uniform(0, 2 * math.pi, count)
    east, north = half_m * np.cos(azimuth), half_m * np.sin(azimuth)
    placed = (middle_x - east, middle_y - north, middle_x + east, middle_y + north)
    # As the file tells them: in whole centimetres.
    return Positions(*(np.rint(each * _CM_OF_M) / _CM_OF_M for each in placed))


def _points(
    parameters: PstmParameters, grid: Grid, random: np.random.Generator
) -> list[Diffractor]:
    along = parameters.places_along
    low, high = (math.ceil(share * (grid.samples - 1)) for share in (_SHALLOWEST, _DEEPEST))
    points = []
    for place in random.permutation(along * along)[: parameters.diffractors]:
        i, j = divmod(int(place), along)
        column = (MARGIN + APART * i) * grid.columns + MARGIN + APART * j
        strength = random.uniform(_LEAST_STRENGTH, 1.0) * random.choice((-1.0, 1.0))
        points.append(Diffractor(column, int(random.integers(low, high)), float(strength)))
    return points


def _record_times(
    seen: Sequence[Seen], grid: Grid, operator: Operator, frequency_hz: float
) -> Floats:
    """Of the samples that are recorded: until the last answer within the aperture is over."""
    last_s = float(grid.times_s()[-1])
    for each in seen:
        near = each.rays.distance_m < operator.aperture_m
        last_s = max(last_s, float(each.rays.both_s[near].max(initial=0.0)))
    last_s += _WAVELETS_BEHIND / frequency_hz
    return np.arange(math.ceil(last_s / grid.interval_s) + 1, dtype=np.float64) * grid.interval_s
