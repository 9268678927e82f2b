"""The traces of a survey: a SEG-Y file, read in portions.

Which header words are used (byte numbers of SEG-Y revision 2.0): 29 kind of trace, 71 scalar of
coordinates, 73 and 77 source, 81 and 85 receiver, 89 unit of coordinates, 109 delay in ms, 115 and
117 samples and interval of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadstone.applications.pstm.configuration import Floats
from loadstone.applications.pstm.form import Form, form_of
from loadstone.errors import WrongInputError

KIND, SCALAR, UNIT, DELAY, SAMPLES, INTERVAL = 29, 71, 89, 109, 115, 117
SOURCE_X, SOURCE_Y, GROUP_X, GROUP_Y = 73, 77, 81, 85
LIVE, LENGTH = (0, 1), (0, 1)
"""Of words 29 and 89: recorded data, and lengths; 0 is unset."""
UNITS = {2: "seconds of arc", 3: "degrees", 4: "degrees, minutes and seconds"}


@dataclass(frozen=True)
class Positions:
    """Where traces were shot and recorded, in metres; each has shape (traces,)."""

    source_x: Floats
    source_y: Floats
    group_x: Floats
    group_y: Floats

    def midpoints(self) -> tuple[Floats, Floats]:
        """Half way between source and receiver, in metres."""
        return (self.source_x + self.group_x) / 2, (self.source_y + self.group_y) / 2


@dataclass(frozen=True)
class Portion:
    """Some live traces of a survey."""

    positions: Positions
    values: NDArray[np.float32]
    """Shape (traces, samples)."""
    skipped: int
    """Traces among them that are marked as dead, or as something else than recorded data."""


class Survey:
    """An open SEG-Y file; use it with `with`."""

    def __init__(self, path: Path) -> None:
        """Look at its headers.

        Raises:
            WrongInputError: If it has a form that is not read, or segyio is missing.
        """
        self.path = path
        self.form: Form = form_of(path)
        self._file: Any = _segyio().open(str(path), ignore_geometry=True)
        try:
            self.first_s = self._begin()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Survey:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def portions(self, begin: int, end: int, traces: int) -> Iterator[Portion]:
        """The traces from `begin` to before `end`, so many at a time.

        Raises:
            WrongInputError: If a header tells what is not read.
        """
        for first in range(begin, end, traces):
            yield self._portion(first, min(first + traces, end))

    def positions(self) -> Positions:
        """Of all live traces.

        Raises:
            WrongInputError: If a header tells what is not read.
        """
        return self._positions(0, self.form.traces, self._live(0, self.form.traces))

    def _portion(self, begin: int, end: int) -> Portion:
        live = self._live(begin, end)
        values = np.atleast_2d(self._file.trace.raw[begin:end])[live]
        positions = self._positions(begin, end, live)
        if not np.isfinite(values).all():
            raise WrongInputError(
                f"{self.path} holds samples that are no numbers, in traces {begin + 1} to {end}"
            )
        return Portion(positions, values, int((~live).sum()))

    def _live(self, begin: int, end: int) -> NDArray[np.bool_]:
        return np.isin(self._words(KIND, begin, end), LIVE)

    def _positions(self, begin: int, end: int, live: NDArray[np.bool_]) -> Positions:
        for unit in np.unique(self._words(UNIT, begin, end)[live]):
            if unit not in LENGTH:
                told = UNITS.get(int(unit), f"of unit {unit}")
                raise WrongInputError(
                    f"{self.path}: coordinates are {told}; lengths (unit 1 in bytes 89-90) are read"
                )
        scale = _scale(self._words(SCALAR, begin, end)) * self.form.metres
        found = (
            (self._words(word, begin, end) * scale)[live]
            for word in (SOURCE_X, SOURCE_Y, GROUP_X, GROUP_Y)
        )
        return Positions(*found)

    def _begin(self) -> float:
        """Time of the first sample; all traces must have the form that the file tells."""
        whole = 0, self.form.traces
        for word, told, what in (
            (SAMPLES, self.form.samples, "samples"),
            (INTERVAL, round(self.form.interval_s * 1e6), "us a sample"),
        ):
            # Two bytes: some libraries read what is beyond 32,767 as negative.
            found = np.unique(self._words(word, *whole).astype(np.int64) & 0xFFFF)
            unlike = [int(each) for each in found if each not in (0, told)]
            if unlike:
                raise WrongInputError(
                    f"{self.path}: a trace has {unlike[0]} {what}, the file {told}: all must agree"
                )
        delays = np.unique(self._words(DELAY, *whole))
        if len(delays) > 1:
            raise WrongInputError(
                f"{self.path}: traces begin at {delays[0]} to {delays[-1]} ms: all must agree"
            )
        return float(delays[0]) * 1e-3

    def _words(self, word: int, begin: int, end: int) -> NDArray[np.int32]:
        found: NDArray[np.int32] = np.asarray(self._file.attributes(word)[begin:end])
        return found


def open_survey(path: Path, traces: int) -> Survey:
    """The survey that a configuration names.

    Args:
        path: Of the file.
        traces: That it must hold.

    Raises:
        WrongInputError: If it was cut off, or is another one.
    """
    survey = Survey(path)
    if survey.form.traces != traces:
        survey.__exit__(None, None, None)
        found = survey.form.traces
        state = "truncated" if found < traces else "another one"
        raise WrongInputError(f"{path} is {state}: {found} traces, {traces} expected")
    return survey


def _scale(words: NDArray[np.int32]) -> Floats:
    """What coordinates are multiplied by: a negative word divides, 0 means 1 (bytes 71-72)."""
    given = words.astype(np.float64)
    size = np.maximum(np.abs(given), 1.0)
    return np.where(given < 0, 1.0 / size, size)


def _segyio() -> Any:
    try:
        import segyio
    except ImportError as error:
        raise WrongInputError(
            f"segyio is missing: {error}", advice="pip install 'loadstone[jobs]'"
        ) from error
    return segyio
