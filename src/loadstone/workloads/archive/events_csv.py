"""The one reader of event files that people give: `ts,element,value,status,text`.

It takes what spreadsheets, exports and `COPY ... TO` write: a byte order mark, lines that end with
CR LF, UTF-16, quotes, and the moments of ISO 8601 in all their forms. It reads line by line: a file
may be larger than the memory.
"""

from __future__ import annotations

import csv
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import read_lines

HEADER = ("ts", "element", "value", "status", "text")
_MOST_CHARACTERS = 80
"""Width of the column `text`."""
_SECOND_US = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class EventLine:
    """A line of the file."""

    at_us: int
    """Microseconds since 1970."""
    element: str
    value: float | None
    status: int
    text: str
    """Empty: none."""


def read_events(path: Path) -> Iterator[EventLine]:
    """The events of a file, in its order.

    Raises:
        WrongInputError: If it cannot be read or is none of events, with the line that is wrong.
    """
    reader = csv.reader(read_lines(path), strict=True)
    done = 0
    try:
        if next(reader, None) != list(HEADER):
            raise _wrong(path, 1, f"it is not the header {','.join(HEADER)}")
        done = reader.line_num
        for fields in reader:
            if reader.line_num > done + 1:
                raise _wrong(path, done + 1, "a quote is not closed")
            if len(fields) > 1 or "".join(fields).strip():
                yield _event(fields)
            done = reader.line_num
    except csv.Error as error:
        reason = f"a quote is not closed, or ends before its field does ({error})"
        raise _wrong(path, done + 1, reason) from error
    except ValueError as error:
        raise _wrong(path, done + 1, str(error)) from error


def _wrong(path: Path, line: int, reason: str) -> WrongInputError:
    return WrongInputError(f"{path}: line {line}: {reason}")


def _event(fields: Sequence[str]) -> EventLine:
    if len(fields) != len(HEADER):
        raise ValueError(f"{len(fields)} columns instead of {len(HEADER)}")
    ts, element, value, status, text = fields
    if not element:
        raise ValueError("element is empty")
    return EventLine(_moment_us(ts), element, _number(value), _status(status), _text(text))


def _number(value: str) -> float | None:
    if not value:
        return None
    number = _figure(value)
    if not math.isfinite(number):
        raise ValueError(f"value {value!r} is not a number")
    return number


def _figure(text: str) -> float:
    """A number, or NaN; as other programs write it, without the underscores of Python."""
    try:
        return math.nan if "_" in text or text != text.strip() else float(text)
    except ValueError:
        return math.nan


@lru_cache(_KEPT)
def _status(status: str) -> int:
    number = int(status) if status.removeprefix("-").isdecimal() else 2**31
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"status {status!r} is not an integer of 32 bits")
    return number


@lru_cache(_KEPT)
def _text(text: str) -> str:
    odd = any(letter == "\\" or unicodedata.category(letter) == "Cc" for letter in text)
    if len(text) > _MOST_CHARACTERS or odd:
        raise ValueError(
            f"text is longer than {_MOST_CHARACTERS} characters, or holds a control character or "
            "a backslash"
        )
    return text


def _moment_us(ts: str) -> int:
    """A moment in microseconds since 1970; one without a zone is UTC."""
    if ":" not in ts and abs(us := _figure(ts) * _SECOND_US) < 1e17:
        return round(us)
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError as error:
        raise _no_moment(ts) from error
    # A date alone says no moment.
    if len(ts) <= len("2025-01-31"):
        raise _no_moment(ts)
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * _SECOND_US + since.microseconds


def _no_moment(ts: str) -> ValueError:
    return ValueError(
        f"ts {ts!r} is neither ISO 8601 (2025-01-31T13:59:00.5Z) nor seconds since 1970"
    )
