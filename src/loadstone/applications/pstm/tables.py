"""What the sum reads beside the traces. Named tuples: Numba compiles code that takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats, Grid, Operator
from loadstone.applications.pstm.velocity import VelocityField

_NEVER_REACHED = -1.0
"""Reach of sample 0, at which source and receiver may be: it is left out everywhere."""


class Columns(NamedTuple):
    """Columns of the image; each array has shape (columns,)."""

    x: Floats
    y: Floats
    row: NDArray[np.int64]
    """Of the velocities."""


class Times(NamedTuple):
    """Figures of each sample of the image."""

    slowness2: Floats
    """1 / velocity^2 in s^2/m^2; shape (rows, samples)."""
    reach_m: Floats
    """The aperture is not wider; never falls with time. Shape (rows, samples)."""
    quarter_s2: Floats
    """(time / 2)^2; shape (samples,)."""
    gain_s: Floats
    """Of the weight, what depends on the time alone: time / 8; else 1. Shape (samples,)."""


class Axis(NamedTuple):
    """Samples of a padded trace."""

    rate: float
    """Samples a second."""
    origin: float
    """Where time 0 is, in samples; need not be whole."""
    low: float
    """No place before it is looked at, nor one behind `high`."""
    high: float


class Shape(NamedTuple):
    """The operator."""

    aperture_m: float
    taper_m: float
    spread: float
    """Spacing of midpoints in metres, times samples a second: slope to samples."""
    weights: bool
    antialias: bool
    cubic: bool


def columns_of(grid: Grid, velocities: VelocityField) -> Columns:
    """The columns of an image."""
    return Columns(*grid.places(), velocities.row)


def times_of(grid: Grid, velocities: VelocityField, operator: Operator) -> Times:
    """The figures of an image's samples."""
    times_s = grid.times_s()
    depths_m = velocities.values * times_s / 2
    reach_m = np.maximum.accumulate(depths_m * operator.cone, axis=1)
    reach_m[:, 0] = _NEVER_REACHED
    gain_s = times_s / 8 if operator.weights else np.ones_like(times_s)
    return Times(1 / velocities.values**2, reach_m, (times_s / 2) ** 2, gain_s)


def shape_of(operator: Operator, axis: Axis) -> Shape:
    """The operator as the sum wants it."""
    return Shape(
        aperture_m=operator.aperture_m,
        taper_m=operator.taper * operator.aperture_m,
        spread=operator.antialias_spacing_m * axis.rate,
        weights=operator.weights,
        antialias=operator.antialias,
        cubic=operator.interpolation == "cubic",
    )
