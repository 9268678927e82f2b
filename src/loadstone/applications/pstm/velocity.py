"""Migration velocities: root-mean-square velocities over two-way vertical time.

They are a number, a table over time (CSV), or a cube (npy or SEG-Y).
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats, Grid
from loadstone.applications.pstm.survey import Survey
from loadstone.errors import WrongInputError

SLOWEST_M_S, FASTEST_M_S = 100.0, 20_000.0
"""What lies beyond is no velocity of rock, water or ice in metres a second."""
TABLE_HEADER = ("time_s", "velocity_m_s")
_PORTION = 4096


@dataclass(frozen=True)
class VelocityField:
    """Velocities of an image."""

    values: Floats
    """Metres a second; shape (rows, samples)."""
    row: NDArray[np.int64]
    """Of each column of the image; shape (columns,)."""


def is_number(text: str) -> bool:
    """Whether velocities are given as one number, not as a file."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def velocity_field(text: str, folder: Path, grid: Grid) -> VelocityField:
    """The velocities of an image.

    Args:
        text: A number of metres a second, or the name of a file.
        folder: Where that file lies.
        grid: Of the image.

    Raises:
        WrongInputError: If there are none that can be used.
    """
    if is_number(text):
        values = np.full((1, grid.samples), float(text))
    else:
        values = _reader(folder / text)(folder / text, grid)
    low, high = float(values.min()), float(values.max())
    if not (low >= SLOWEST_M_S and high <= FASTEST_M_S):
        raise WrongInputError(
            f"velocities {text}: {low:g} to {high:g} m/s; {SLOWEST_M_S:g} to {FASTEST_M_S:g} can be"
        )
    rows = np.zeros(grid.count, np.int64) if len(values) == 1 else np.arange(grid.count)
    return VelocityField(np.ascontiguousarray(values), rows)


def write_table(path: Path, times_s: Floats, velocities_m_s: Floats) -> None:
    """Writes a table as it is read."""
    lines = [",".join(TABLE_HEADER)]
    lines += [
        f"{time:.6g},{value:.6g}" for time, value in zip(times_s, velocities_m_s, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _reader(path: Path) -> Callable[[Path, Grid], Floats]:
    readers = {".csv": _table, ".npy": _cube, ".sgy": _segy, ".segy": _segy}
    if path.suffix.lower() not in readers:
        raise WrongInputError(
            f"velocities {path.name!r} are neither metres a second nor a file of a known kind",
            advice=f"give a number, or a file that ends with {', '.join(readers)}",
        )
    return readers[path.suffix.lower()]


def _table(path: Path, grid: Grid) -> Floats:
    """One row, linear between the times of a table, and level before and after them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file) if line]
        if not lines or tuple(word.strip() for word in lines[0]) != TABLE_HEADER:
            raise WrongInputError(f"{path}: the first line must be {','.join(TABLE_HEADER)}")
        pairs = np.array([[float(word) for word in line] for line in lines[1:]])
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise WrongInputError(f"{path} is no table of numbers: {error}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (np.diff(pairs[:, 0]) <= 0).any():
        raise WrongInputError(f"{path}: each line must have a later time than the one before")
    row: Floats = np.interp(grid.times_s(), pairs[:, 0], pairs[:, 1])
    return row[np.newaxis]


def _cube(path: Path, grid: Grid) -> Floats:
    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise WrongInputError(f"{path} is no npy file of numbers: {error}") from error
    wanted = (grid.columns, grid.columns, grid.samples)
    if found.shape != wanted or found.dtype.kind not in "fiu":
        raise WrongInputError(
            f"{path} holds {found.shape} of {found.dtype}, not numbers of {wanted}"
        )
    cube: Floats = found.astype(np.float64).reshape(grid.count, grid.samples)
    return cube


def _segy(path: Path, grid: Grid) -> Floats:
    """A trace for each column of the image, in its order; linear between samples."""
    with Survey(path) as file:
        form = file.form
        if form.traces != grid.count:
            raise WrongInputError(
                f"{path} holds {form.traces} traces; the image has {grid.count} columns"
            )
        times = file.first_s + np.arange(form.samples) * form.interval_s
        portions = file.portions(0, form.traces, _PORTION)
        rows = [np.interp(grid.times_s(), times, row) for each in portions for row in each.values]
    if len(rows) != grid.count:
        raise WrongInputError(f"{path} has dead traces: every column needs its velocities")
    return np.array(rows)
