"""Traces as the sum wants them: differentiated, integrated twice for the triangle filter, padded.

Sources: the time derivative of 3D migration: Schneider, "Integral formulation for migration in two
and three dimensions", Geophysics 43 (1978), 49-76. Triangles by second differences of the double
integral: Lumley, Claerbout and Bevc, "Anti-aliased Kirchhoff 3-D migration", SEG Expanded Abstracts
(1994), 1282-1285.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats, Operator
from loadstone.applications.pstm.tables import Axis

_LEAST_PADDING = 3
"""Samples: cubic interpolation needs one before and two behind."""


@dataclass(frozen=True)
class Padding:
    """Samples that are put before and behind each trace, so that the sum needs no bounds."""

    samples: int
    """The widest half of a triangle; twice as many stand at each end."""

    @classmethod
    def of(cls, operator: Operator, slowest_m_s: float, interval_s: float) -> Padding:
        """For the steepest slope that the operator can have: 2 / velocity, in seconds a metre."""
        widest = 2 * operator.antialias_spacing_m / slowest_m_s / interval_s
        return cls(max(_LEAST_PADDING, math.ceil(widest) + 1))

    def axis(self, samples: int, interval_s: float, first_s: float) -> Axis:
        """Where a time is in a padded trace; a time beyond the trace falls into the padding."""
        begin = 2 * self.samples
        return Axis(
            rate=1 / interval_s,
            origin=begin - first_s / interval_s,
            low=float(self.samples),
            high=float(begin + samples + self.samples),
        )


def prepared(
    values: NDArray[np.float32], interval_s: float, operator: Operator, padding: Padding
) -> Floats:
    """Padded traces.

    Args:
        values: Shape (traces, samples).
        interval_s: Between samples.
        operator: Of the migration.
        padding: Of each trace.

    Returns:
        Shape (traces, samples + 4 * padding + 2). With the triangle filter, the second difference
        at a sample is the differentiated trace there: in the padding, a straight line has none.
    """
    ends = (2 * padding.samples, 2 * padding.samples + 2)
    padded = np.pad(derivative(values, interval_s), ((0, 0), ends))
    if not operator.antialias:
        return padded
    twice = np.zeros_like(padded)
    twice[:, 1:] = np.cumsum(np.cumsum(padded, axis=1), axis=1)[:, :-1]
    return twice


def derivative(values: NDArray[np.float32], interval_s: float) -> Floats:
    """Minus the time derivative of traces, by their spectrum; shape as given."""
    samples = values.shape[1]
    length = 1 << (2 * samples - 1).bit_length()
    spectrum = np.fft.rfft(values.astype(np.float64), length, axis=1)
    omega = 2 * np.pi * np.fft.rfftfreq(length, interval_s)
    found: Floats = np.fft.irfft(-1j * omega * spectrum, length, axis=1)[:, :samples]
    return found
