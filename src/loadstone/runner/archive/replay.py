"""Events of a file, replayed from now on, again and again."""

from __future__ import annotations

import csv
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from loadstone.errors import WrongInputError
from loadstone.runner.archive.parameters import PATH
from loadstone.runner.archive.source import EventColumns, Words
from loadstone.runner.plan import RefusalError
from loadstone.text import read_text

HEADER = ("ts", "element", "value", "status", "text")
_MOST_CHARACTERS = 80
"""Width of the column `text`."""
_SECOND_US = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _LineError(Exception):
    """What is wrong with a line."""


@dataclass(frozen=True)
class Row:
    """A line of the file; `at_us` is microseconds since 1970."""

    at_us: int
    element: str
    value: float | None
    status: int
    text: str | None


class Replay:
    """The rows of a file; it serves all stations, each with elements of its own.

    Times are microseconds after the first row's. A row is due no earlier than the rows before it.
    A round is followed by the next after the mean gap of its rows.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        numbers: dict[str, int] = {}
        element = [numbers.setdefault(row.element, len(numbers)) for row in rows]
        self.elements = len(numbers)
        self._element = np.array(element, dtype=np.int64)
        self._ts_us = np.array([row.at_us - rows[0].at_us for row in rows], dtype=np.int64)
        self._due_us = np.maximum.accumulate(self._ts_us)
        self._lacks_value = np.array([row.value is None for row in rows])
        self._value = np.array([row.value or 0.0 for row in rows])
        self._status = np.array([row.status for row in rows], dtype=np.int32)
        self._text = pa.array([row.text for row in rows], type=pa.string())
        last_us, gaps = int(self._due_us[-1]), len(rows) - 1
        self._round_us = last_us + (max(1, last_us // gaps) if gaps else _SECOND_US)

    @property
    def per_s(self) -> float:
        """Events a second, on average."""
        return len(self._due_us) / self._round_us * _SECOND_US

    def due_by(self, elapsed_ns: int) -> int:
        """Events that are due so long after the station's begin."""
        rounds, rest_us = divmod(elapsed_ns // 1000, self._round_us)
        part = int(np.searchsorted(self._due_us, rest_us, side="right"))
        return rounds * len(self._due_us) + part

    def say(self, numbers: Words, seqs: Words) -> EventColumns:
        """What events say that became due as `numbers`, from 0."""
        rounds, at = np.divmod(numbers.astype(np.int64), len(self._due_us))
        return EventColumns(
            element=self._element[at],
            after_us=rounds * self._round_us + self._ts_us[at],
            value=self._value[at],
            lacks_value=self._lacks_value[at],
            text=self._text.take(pa.array(at)),
            status=self._status[at],
        )


def read_replay(path: str, elements: int) -> Replay:
    """Reads a file with the columns ts, element, value, status and text.

    Args:
        path: The file; ts is ISO 8601, or seconds since 1970.
        elements: Data points of each station.

    Raises:
        RefusalError: It has the number of the line that is wrong.
    """
    try:
        text = read_text(Path(path))
    except WrongInputError as error:
        raise RefusalError(f"{PATH}.csv", f"cannot read it: {error.message}") from error
    try:
        return parse_replay(text, elements)
    except _LineError as error:
        raise RefusalError(f"{PATH}.csv", f"{path}: {error}") from error


def parse_replay(text: str, elements: int) -> Replay:
    """Reads the text of a file, as `read_replay` does."""
    rows = list(_rows(text))
    if not rows:
        raise _LineError("it has no rows")
    replay = Replay(rows)
    if replay.elements > elements:
        found = replay.elements
        raise _LineError(f"it has {found} elements; give elements: {found} or more")
    return replay


def _rows(text: str) -> Iterator[Row]:
    lines = text.split("\n")
    if _fields(lines[0]) != list(HEADER):
        raise _LineError(f"line 1 is not the header {','.join(HEADER)}")
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                yield _row(_fields(line))
            except _LineError as error:
                raise _LineError(f"line {number}: {error}") from error


def _fields(line: str) -> list[str]:
    """A line on its own, so that a quote that is not closed is found where it is."""
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise _LineError(
            f"a quote is not closed, or ends before its field does ({error})"
        ) from error


def _row(fields: Sequence[str]) -> Row:
    if len(fields) != len(HEADER):
        raise _LineError(f"{len(fields)} columns instead of {len(HEADER)}")
    ts, element, value, status, text = fields
    if not element:
        raise _LineError("element is empty")
    return Row(_moment_us(ts), element, _number(value), _status(status), _text(text))


def _number(value: str) -> float | None:
    if not value:
        return None
    try:
        number = float(_plain(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _LineError(f"value {value!r} is not a number")
    return number


def _plain(figure: str) -> str:
    """Figures as other programs write them too: Python alone takes blanks and underscores.

    Raises:
        ValueError: It has some.
    """
    if "_" in figure or figure != figure.strip():
        raise ValueError(figure)
    return figure


def _status(status: str) -> int:
    try:
        number = int(_plain(status))
    except ValueError:
        number = 2**31
    if not -(2**31) <= number < 2**31:
        raise _LineError(f"status {status!r} is not an integer of 32 bits")
    return number


def _text(text: str) -> str | None:
    odd = any(letter == "\\" or unicodedata.category(letter) == "Cc" for letter in text)
    if len(text) > _MOST_CHARACTERS or odd:
        raise _LineError(
            f"text is longer than {_MOST_CHARACTERS} characters, or holds a control character or "
            "a backslash"
        )
    return text or None


def _moment_us(ts: str) -> int:
    """A moment in microseconds since 1970; one without a zone is UTC."""
    try:
        us = float(_plain(ts)) * _SECOND_US
    except ValueError:
        return _of_iso_us(ts)
    if not abs(us) < 1e17:
        raise _no_moment(ts)
    return round(us)


def _of_iso_us(ts: str) -> int:
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError as error:
        raise _no_moment(ts) from error
    # A date alone says no moment.
    if len(ts) <= len("2025-01-31"):
        raise _no_moment(ts)
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = zoned - _EPOCH
    return (since.days * 86_400 + since.seconds) * _SECOND_US + since.microseconds


def _no_moment(ts: str) -> _LineError:
    return _LineError(
        f"ts {ts!r} is neither ISO 8601 (2025-01-31T13:59:00.5Z) nor seconds since 1970"
    )
