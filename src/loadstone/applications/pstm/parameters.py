"""The parameters of `pstm`."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, model_validator

from loadstone.applications.pstm.configuration import Grid, Operator
from loadstone.spec.base import Spec

MOST_IMAGE_SAMPLES = 200_000_000
"""Each takes 8 bytes of every rank."""
APART = 8
"""Columns between diffractors at least: the foot of one must not disturb the peak of another."""
MARGIN = 3
"""Columns between a diffractor and the edge of the image at least."""
_LEAST_COLUMNS = 2 * MARGIN + 1
_OF_OWN_SURVEY = ("lines", "offset_m", "frequency_hz", "diffractors", "fault")
_OF_USERS_SURVEY = ("origin_x_m", "origin_y_m")


class PstmParameters(Spec):
    """A survey that is made, or one of the user."""

    segy: str | None = Field(
        default=None,
        description="Path of a SEG-Y file of your own, with prestack traces. None: a survey with "
        "known diffractors is made.",
    )
    velocities: str | None = Field(
        default=None,
        description="Path of root-mean-square velocities in metres a second: a table over time "
        "(CSV with the header time_s,velocity_m_s) or a cube of the image's size (npy, SEG-Y). "
        "None: 1,800 m/s at the surface and 500 m/s more for each second.",
    )
    velocity_m_s: float | None = Field(
        default=None, ge=100, le=20_000, description="One velocity everywhere, instead of a file."
    )
    columns: int = Field(
        default=31, ge=_LEAST_COLUMNS, le=5000, description="Of the image, along each side."
    )
    samples: int = Field(default=251, ge=16, le=20_000, description="Of each column of the image.")
    interval_ms: float = Field(
        default=4.0, gt=0, le=50, description="Between them, in two-way vertical time."
    )
    spacing_m: float = Field(default=25.0, gt=0, le=1000, description="Between columns.")
    origin_x_m: float | None = Field(
        default=None,
        description="Of the first column. None: the image is in the middle of the midpoints.",
    )
    origin_y_m: float | None = Field(default=None, description="The same along y.")
    aperture_m: float = Field(
        default=800.0,
        gt=0,
        description="A trace counts for columns that are no farther from its midpoint.",
    )
    taper: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="The outer share of the aperture in which the weight of a trace falls to 0.",
    )
    dip_deg: float = Field(default=60.0, gt=0, lt=90, description="The steepest dip.")
    weights: bool = Field(
        default=True, description="True-amplitude weights. false: each trace counts alike."
    )
    antialias: bool = Field(
        default=True, description="A triangle filter as wide as the slope of the operator asks for."
    )
    antialias_spacing_m: float | None = Field(
        default=None,
        gt=0,
        le=1000,
        description="Between midpoints of neighbouring traces, for that filter. None: spacing_m.",
    )
    interpolation: Literal["linear", "cubic"] = Field(
        default="linear", description="Between samples; `cubic` needs antialias: false."
    )
    lines: int = Field(
        default=80,
        ge=4,
        le=2000,
        description="Midpoints along each side of the made survey: its square is how many traces "
        "there are.",
    )
    offset_m: float = Field(
        default=1000.0,
        ge=0,
        le=20_000,
        description="The longest distance from source to receiver in the made survey.",
    )
    frequency_hz: float = Field(
        default=20.0, gt=0, le=1000, description="Peak frequency of the wavelet in the made survey."
    )
    diffractors: int = Field(
        default=4, ge=1, le=100, description="In the made survey, below columns that are drawn."
    )
    fault: Literal["none", "moved-diffractor"] = Field(
        default="none",
        description="A planted fault of the made survey: its first diffractor is a sample deeper "
        "than the check knows. It shows that the check finds it.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        wrong = _OF_OWN_SURVEY if self.segy is not None else _OF_USERS_SURVEY
        given = [name for name in wrong if name in self.model_fields_set]
        if given:
            which = "a made survey, and segy names one of yours"
            raise ValueError(
                f"{given[0]} is of {which}" if self.segy is not None else f"{given[0]} needs segy"
            )
        if self.velocities is not None and self.velocity_m_s is not None:
            raise ValueError("velocities and velocity_m_s are both given: give one of them")
        if self.antialias and self.interpolation == "cubic":
            raise ValueError("interpolation: cubic needs antialias: false")
        size = self.columns**2 * self.samples
        if size > MOST_IMAGE_SAMPLES:
            raise ValueError(
                f"an image of {size} samples is too large: {MOST_IMAGE_SAMPLES} at most"
            )
        if self.segy is None:
            self._fits_diffractors()
        return self

    def _fits_diffractors(self) -> None:
        most = self.places_along**2
        if self.diffractors > most:
            raise ValueError(
                f"{self.diffractors} diffractors have no room below {self.columns} x "
                f"{self.columns} columns: {most} at most"
            )
        fastest = 100.0 / self.interval_ms  # ten samples in a period
        if self.frequency_hz > fastest:
            raise ValueError(
                f"frequency_hz {self.frequency_hz:g} is too high for samples of "
                f"{self.interval_ms:g} ms: {fastest:g} at most"
            )

    @property
    def places_along(self) -> int:
        """Places for a diffractor along each side of the image."""
        return max(1, math.ceil((self.columns - 2 * MARGIN) / APART))

    def grid(self, x_m: float, y_m: float) -> Grid:
        """Of the image.

        Args:
            x_m: Of the first column.
            y_m: The same along y.
        """
        interval_s = self.interval_ms * 1e-3
        return Grid(x_m, y_m, self.spacing_m, self.columns, self.samples, interval_s)

    def operator(self) -> Operator:
        """Of the migration."""
        return Operator(
            aperture_m=self.aperture_m,
            taper=self.taper,
            dip_deg=self.dip_deg,
            weights=self.weights,
            antialias=self.antialias,
            antialias_spacing_m=self.antialias_spacing_m or self.spacing_m,
            interpolation=self.interpolation,
        )
