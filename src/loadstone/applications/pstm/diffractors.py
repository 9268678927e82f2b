"""Points that scatter: their traces, and the image that a right migration makes of each.

A diffractor is an element of a reflector in Kirchhoff's approximation: it answers with the time
derivative of the wavelet, which the derivative of the migration makes symmetric. The wavelet is
that of Ricker, "The form and laws of propagation of seismic wavelets", Geophysics 18 (1953), 10-40.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats, Grid, Operator
from loadstone.applications.pstm.survey import Positions
from loadstone.applications.pstm.velocity import VelocityField

KNOWN_FILE = "diffractors.json"
_LAST_ARGUMENT = 5.0
"""The wavelet is told as 0 where pi f t is larger: it is below 1e-8 of its peak there."""


@dataclass(frozen=True)
class Diffractor:
    """A point that scatters."""

    column: int
    """Of the image, below which it lies."""
    sample: int
    """Of the image: its two-way vertical time."""
    strength: float
    """Of a trace with source and receiver in one place above it."""


@dataclass(frozen=True)
class Known:
    """A diffractor and the peak that a right migration makes of it."""

    column: int
    sample: int
    peak: float


@dataclass(frozen=True)
class Rays:
    """The ways from sources and receivers of all traces to a diffractor; shape (traces,)."""

    source_s: Floats
    group_s: Floats
    slope_s_m: Floats
    """How steep the operator is at it, along x or y, whichever is more."""
    distance_m: Floats
    """From the midpoint, on the map."""

    @property
    def both_s(self) -> Floats:
        """When its answer is recorded: the double square root."""
        return self.source_s + self.group_s


def rays_of(point: Diffractor, positions: Positions, grid: Grid, velocities: VelocityField) -> Rays:
    """The ways to a diffractor, at the root-mean-square velocity there."""
    x, y = (float(places[point.column]) for places in grid.places())
    speed = float(velocities.values[velocities.row[point.column], point.sample])
    half_s = point.sample * grid.interval_s / 2
    source_s, group_s = (
        np.sqrt(half_s**2 + ((x - at_x) ** 2 + (y - at_y) ** 2) / speed**2)
        for at_x, at_y in (
            (positions.source_x, positions.source_y),
            (positions.group_x, positions.group_y),
        )
    )
    slopes = [
        np.abs((place - source) / source_s + (place - group) / group_s) / speed**2
        for place, source, group in (
            (x, positions.source_x, positions.group_x),
            (y, positions.source_y, positions.group_y),
        )
    ]
    middle_x, middle_y = positions.midpoints()
    distance_m = np.hypot(x - middle_x, y - middle_y)
    return Rays(source_s, group_s, np.maximum(*slopes), distance_m)


@dataclass(frozen=True)
class Seen:
    """A diffractor as a survey sees it."""

    point: Diffractor
    rays: Rays

    def amplitudes(self, grid: Grid) -> Floats:
        """Of its answer in each trace; shape (traces,)."""
        half_s = self.point.sample * grid.interval_s / 2
        return self.point.strength * half_s**2 / (self.rays.source_s * self.rays.group_s)


def recorded(
    seen: Sequence[Seen], times_s: Floats, grid: Grid, frequency_hz: float
) -> NDArray[np.float32]:
    """The traces that diffractors make.

    Args:
        seen: The diffractors.
        times_s: Of the samples that are recorded.
        grid: Of the image.
        frequency_hz: Peak frequency of the wavelet.

    Returns:
        Shape (traces, samples).
    """
    traces = np.zeros((len(seen[0].rays.source_s), len(times_s)))
    for each in seen:
        after_s = times_s - each.rays.both_s[:, np.newaxis]
        traces += each.amplitudes(grid)[:, np.newaxis] * answer(after_s, frequency_hz)
    return traces.astype(np.float32)


def answer(after_s: Floats, frequency_hz: float) -> Floats:
    """The time derivative of Ricker's wavelet, over minus its second derivative at time 0."""
    argument = np.square(np.pi * frequency_hz * after_s)
    near = argument < _LAST_ARGUMENT**2
    found = np.zeros_like(after_s)
    inside = argument[near]
    found[near] = -after_s[near] * (3 - 2 * inside) * np.exp(-inside) / 3
    return found


def peaks_of(
    seen: Sequence[Seen], reaches_m: Sequence[float], operator: Operator, grid: Grid, hertz: float
) -> list[float]:
    """What the image is at each diffractor, by the formulas of docs/pstm.md, without any trace.

    What the others add there counts too. The traces must be recorded to their last answers.

    Args:
        seen: The diffractors.
        reaches_m: How far the aperture reaches at the depth of each.
        operator: Of the migration.
        grid: Of the image; the traces have its interval.
        hertz: Peak frequency of the wavelet.
    """
    answers = [(each.rays.both_s, each.amplitudes(grid)) for each in seen]
    peaks = []
    for each, reach_m in zip(seen, reaches_m, strict=True):
        gains = _gains(each, reach_m, operator, grid)
        half_s = np.full_like(gains, grid.interval_s)
        if operator.antialias:
            half_s = np.maximum(half_s, operator.antialias_spacing_m * each.rays.slope_s_m)
        is_cubic = operator.interpolation == "cubic"
        passed = sum(
            amplitudes * _passed(each.rays.both_s - both_s, half_s, hertz, is_cubic=is_cubic)
            for both_s, amplitudes in answers
        )
        peaks.append(float((gains * passed).sum()))
    return peaks


def _gains(each: Seen, reach_m: float, operator: Operator, grid: Grid) -> Floats:
    """What each trace is multiplied by at a diffractor: aperture, taper and weight."""
    rays = each.rays
    near = (rays.distance_m < operator.aperture_m) & (rays.distance_m <= reach_m)
    gains = near.astype(np.float64)
    taper_m = operator.taper * operator.aperture_m
    if taper_m > 0:
        gains *= np.minimum(1.0, (operator.aperture_m - rays.distance_m) / taper_m)
    if operator.weights:
        half_s = each.point.sample * grid.interval_s / 2
        gains *= half_s * rays.both_s * (rays.source_s**-2 + rays.group_s**-2) / 4
    return gains


def _passed(after_s: Floats, half_s: Floats, hertz: float, *, is_cubic: bool) -> Floats:
    """An answer behind derivative and filter, at a time after its middle; 1 there, unfiltered.

    Minus the second derivative of the wavelet f, over 6 (pi F)^2. A triangle of half width T makes
    of it (2 f(t) - f(t - T) - f(t + T)) / T^2. Linear interpolation is a triangle of one sample, on
    average over places between samples.
    """
    if is_cubic:
        argument = np.square(np.pi * hertz * after_s)
        return np.asarray((3 - 12 * argument + 4 * argument**2) * np.exp(-argument) / 3)
    around = _ricker(after_s - half_s, hertz) + _ricker(after_s + half_s, hertz)
    second = (2 * _ricker(after_s, hertz) - around) / np.square(half_s)
    return np.asarray(second / (6 * (np.pi * hertz) ** 2))


def _ricker(times_s: Floats, hertz: float) -> Floats:
    argument = np.square(np.pi * hertz * times_s)
    return np.asarray((1 - 2 * argument) * np.exp(-argument))


def write_known(folder: Path, known: Sequence[Known]) -> Path:
    """Writes what is known of the diffractors of a survey."""
    path = folder / KNOWN_FILE
    path.write_text(json.dumps([asdict(each) for each in known], indent=1) + "\n", "utf-8")
    return path


def read_known(folder: Path) -> list[Known]:
    """What is known of the diffractors of a survey.

    Raises:
        OSError: If nothing is.
        ValueError: If it cannot be read.
    """
    try:
        return [Known(**each) for each in json.loads((folder / KNOWN_FILE).read_text("utf-8"))]
    except TypeError as error:
        raise ValueError(f"{KNOWN_FILE}: {error}") from error
