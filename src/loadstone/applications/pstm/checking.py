"""Whether an image is right, complete, and of the job that is to have made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadstone.applications.pstm.configuration import Configuration, Floats, Grid
from loadstone.applications.pstm.diffractors import Known
from loadstone.applications.pstm.image import Image
from loadstone.job.record import JobRecord

PEAK_TOLERANCE = 0.02
"""Of the amplitude at a diffractor: what interpolation may make of a sum over few traces."""
SUM_TOLERANCE = 1e-12
"""Between images over any number of ranks, of the largest value: only the order of sums differs."""
_AROUND_COLUMNS, _AROUND_SAMPLES = 2, 5
"""Where the largest value is looked for around a diffractor."""
_CLOCK_S = 2.0


@dataclass(frozen=True)
class Finding:
    """What came of a comparison."""

    problem: str
    """Empty: none."""
    detail: str
    """What was compared, with its figures."""


def against_diffractors(image: Floats, grid: Grid, known: Sequence[Known]) -> Finding:
    """Each diffractor must have its peak at its column and sample, as high as it must be."""
    cube = image.reshape(grid.columns, grid.columns, grid.samples)
    worst = 0.0
    for number, point in enumerate(known, start=1):
        i, j = divmod(point.column, grid.columns)
        off = _off(cube, (i, j, point.sample))
        if any(off):
            return Finding(
                f"diffractor {number} is seen {off[0]} and {off[1]} columns and {off[2]} samples "
                f"away from its place (column {i} and {j}, sample {point.sample})",
                "",
            )
        share = float(cube[i, j, point.sample]) / point.peak - 1.0
        if not abs(share) <= PEAK_TOLERANCE:
            return Finding(
                f"diffractor {number} is {1 + share:.3f} times as strong as it must be: "
                f"{PEAK_TOLERANCE:.0%} are allowed",
                "",
            )
        worst = max(worst, abs(share))
    return Finding(
        "",
        f"{len(known)} diffractors at their columns and samples; amplitude {worst:.2%} off at most",
    )


def _off(cube: Floats, place: tuple[int, int, int]) -> tuple[int, int, int]:
    """Steps from a place to the largest value around it, along each axis."""
    reach = (_AROUND_COLUMNS, _AROUND_COLUMNS, _AROUND_SAMPLES)
    begins = [max(0, at - far) for at, far in zip(place, reach, strict=True)]
    part = np.abs(
        cube[
            tuple(
                slice(begin, at + far + 1)
                for begin, at, far in zip(begins, place, reach, strict=True)
            )
        ]
    )
    found = np.unravel_index(int(np.argmax(part)), part.shape)
    i, j, sample = (int(f) + b - at for f, b, at in zip(found, begins, place, strict=True))
    return i, j, sample


def against_nothing(image: Floats) -> Finding:
    """An image without known diffractors must hold numbers, and not only zeros."""
    if not np.isfinite(image).all():
        return Finding("the image holds values that are no numbers", "")
    filled = float((image != 0.0).any(axis=1).mean())
    problem = "" if filled else "the image is empty: no trace is within the aperture of a column"
    return Finding(problem, f"all values are numbers; {filled:.0%} of the columns are filled")


def against_image(image: Floats, reference: Floats) -> Finding:
    """It must be that of one rank, but for the order of sums."""
    if image.shape != reference.shape:
        return Finding(f"the image has {image.shape} values, the serial one {reference.shape}", "")
    largest = float(np.abs(reference).max())
    apart = float(np.abs(image - reference).max())
    share = apart / largest if largest else apart
    told = f"{share:.1e} of the largest value apart at most"
    if not share <= SUM_TOLERANCE:
        return Finding(f"it is not that of one rank: {told}, {SUM_TOLERANCE:g} allowed", "")
    return Finding("", f"{told}, over {image.size} values")


def wholeness(image: Image, configuration: Configuration) -> Finding:
    """Every trace must have been looked at, and the file must be as it was written."""
    told, grid = image.told, configuration.grid
    if image.values.shape != (grid.count, grid.samples):
        return Finding(
            f"the image has {image.values.shape} values, {(grid.count, grid.samples)} asked", ""
        )
    if told.traces != configuration.traces:
        return Finding(f"{told.traces} of {configuration.traces} traces were summed", "")
    if not image.is_whole:
        return Finding("the image is not as it was written: its SHA-256 differs", "")
    live = told.traces - told.skipped
    return Finding("", f"{live} of {told.traces} traces, {told.updates} updates")


def freshness(image: Image, record: JobRecord) -> Finding:
    """The image must bear the name of the job, and have been written while it ran."""
    told = image.told
    if told.job != record.name:
        return Finding(f"the image is of job {told.job or 'none'}, not of {record.name}", "")
    after_s = told.written_epoch_s - record.began_epoch_s
    if not -_CLOCK_S <= after_s <= record.run_s + _CLOCK_S:
        return Finding(
            f"the image was written {after_s:.0f} s after the job began, which ran for "
            f"{record.run_s:.0f} s",
            "",
        )
    return Finding("", f"written by {told.job}, {after_s:.1f} s after it began")
