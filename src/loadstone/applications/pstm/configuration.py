"""What a migration is to do: the file `pstm.json` of a job's working folder."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadstone.errors import WrongInputError

CONFIGURATION_FILE = "pstm.json"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Where the image is made: a square of columns, each with samples from time 0 on."""

    x_m: float
    """Of the first column."""
    y_m: float
    spacing_m: float
    """Between columns, both ways."""
    columns: int
    """Along each side."""
    samples: int
    interval_s: float
    """Of two-way vertical time."""

    @property
    def count(self) -> int:
        """Columns in all; column `i * columns + j` has the i-th x and the j-th y."""
        return self.columns * self.columns

    def places(self) -> tuple[Floats, Floats]:
        """X and y of each column, in metres; shape (count,)."""
        steps = np.arange(self.columns) * self.spacing_m
        return np.repeat(self.x_m + steps, self.columns), np.tile(self.y_m + steps, self.columns)

    def times_s(self) -> Floats:
        """Two-way vertical time of each sample; shape (samples,)."""
        return np.arange(self.samples, dtype=np.float64) * self.interval_s


@dataclass(frozen=True)
class Operator:
    """How the traces are summed."""

    aperture_m: float
    """A trace counts for columns that are no farther from its midpoint."""
    taper: float
    """The outer share of the aperture in which its weight falls to 0."""
    dip_deg: float
    """The steepest dip: nearer to the surface, the aperture is a cone of this angle."""
    weights: bool
    """True-amplitude weights; without them each trace counts alike."""
    antialias: bool
    """A triangle filter as wide as the slope of the operator asks for."""
    antialias_spacing_m: float
    """Between midpoints of neighbouring traces, for the width of that filter."""
    interpolation: str
    """Between samples: `linear` or `cubic`; the triangle filter has `linear`."""

    @property
    def cone(self) -> float:
        """Reach of the aperture for each metre of depth."""
        return math.tan(math.radians(self.dip_deg))


@dataclass(frozen=True)
class Configuration:
    """A migration. Files are names in the working folder."""

    survey: str
    traces: int
    """That the survey holds: one with fewer has been cut off."""
    velocities: str
    """Metres a second, or the name of a file with them."""
    grid: Grid
    operator: Operator

    def write(self, folder: Path) -> Path:
        """Writes `pstm.json`; the same configuration gives the same bytes."""
        path = folder / CONFIGURATION_FILE
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n", "utf-8")
        return path


def read_configuration(path: Path) -> Configuration:
    """The configuration of a file.

    Raises:
        WrongInputError: If there is none that can be used.
    """
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        grid, operator = Grid(**found.pop("grid")), Operator(**found.pop("operator"))
        return Configuration(grid=grid, operator=operator, **found)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WrongInputError(f"{path} is no configuration of a migration: {error}") from error
