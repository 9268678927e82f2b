"""The log of a power meter that was written beside a run: a table of stamps and figures.

Power distribution units and meters write such tables with columns of their own. What a column is,
which unit it has and which time zone its stamps are in is found in the header, or stated.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Literal
from zoneinfo import ZoneInfo

from loadstone.errors import WrongInputError
from loadstone.meters.base import Channel, Reading
from loadstone.meters.figure import Unit, why_none
from loadstone.meters.series import Series
from loadstone.spec.meters import Scope
from loadstone.text import read_text

LogUnit = Literal["W", "kW", "mW", "J", "kJ", "Wh", "kWh"]
UNITS: dict[str, tuple[Unit, float]] = {
    "W": ("W", 1.0),
    "kW": ("W", 1e3),
    "mW": ("W", 1e-3),
    "J": ("J", 1.0),
    "kJ": ("J", 1e3),
    "Wh": ("J", 3600.0),
    "kWh": ("J", 3.6e6),
}
"""Unit of a column: what it becomes, and times how much."""
MOST_BYTES = 512 * 1024 * 1024
_TIMES = ("timestamp", "time stamp", "date time", "datetime", "date/time", "time", "date")
_POWER = re.compile(r"power|watt|energy|joule|wh\b", re.IGNORECASE)
_NOT_POWER = re.compile(r"factor|limit|apparent|reactive|\bk?va\b", re.IGNORECASE)
_UNIT = re.compile(r"[\[(_ ](?P<unit>kWh|Wh|kW|mW|kJ|W|J)(?:[\])]|$)")
_EPOCH = re.compile(r"\d{9,10}(?:\.\d+)?|\d{13}")
_ZONE = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)")
_DELIMITERS = ";\t,"


@dataclass(frozen=True)
class LogForm:
    """What is stated of a log; what is not is looked for in its header."""

    time: str = ""
    """Column of the stamps."""
    values: tuple[str, ...] = ()
    """Columns of the figures; several are channels, which are added as parts of one thing."""
    unit: LogUnit | None = None
    time_format: str = ""
    """Of the stamps, as of `strptime`; empty: ISO 8601, or seconds since 1970."""
    time_zone: str = ""
    """`UTC`, `Europe/Berlin`, `+02:00`: of stamps that do not say it."""
    offset_s: float = 0.0
    """Added to each stamp: the log's clock is behind by so much."""
    mean_over_s: float = 0.0
    """Each figure is the mean of so many seconds before its stamp."""
    scope: Scope = "wall"
    accuracy_percent: float | None = None


@dataclass(frozen=True)
class PowerLog:
    """A log: the readings of each channel, in order of time, their stamps as Unix time."""

    channels: tuple[Channel, ...]
    readings: dict[str, tuple[Reading, ...]]
    every_s: float
    """Usual time between two."""

    @property
    def span(self) -> tuple[float, float]:
        """Unix time of the first and of the last reading."""
        times = [each.t_s for own in self.readings.values() for each in own]
        return min(times), max(times)

    def series(self, origin_unix_s: float) -> dict[str, Series]:
        """Its readings on a trial's clock.

        Args:
            origin_unix_s: Unix time at which that clock had 0.
        """
        found = {}
        for channel in self.channels:
            own = Series(channel, self.every_s)
            own.extend(
                replace(each, t_s=each.t_s - origin_unix_s) for each in self.readings[channel.name]
            )
            found[channel.name] = own
        return found


def read_log(path: Path, form: LogForm) -> PowerLog:
    """Reads a log.

    Args:
        path: A table with a header: commas, semicolons or tabs.
        form: What is stated of it.

    Raises:
        WrongInputError: With the line, if it cannot be read, or something must be stated.
    """
    table = _table(path)
    header, rows = table[0][1], table[1:]
    time_at = [header.index(name) for name in _time_columns(path, header, form.time)]
    names = _value_columns(path, header, form.values)
    unit, factor = UNITS[form.unit or _unit_of(path, names)]
    zone = _zone(form.time_zone)
    found: dict[str, list[Reading]] = {name: [] for name in names}
    for line, row in rows:
        stamp = " ".join(row[at] for at in time_at if at < len(row)).strip()
        if not stamp:
            continue
        t_s = _unix_s(stamp, form.time_format, zone, f"{path}, line {line}") + form.offset_s
        for name in names:
            text = row[header.index(name)] if header.index(name) < len(row) else ""
            value, invalid = _figure(text, unit, factor)
            found[name].append(Reading(name, t_s, value, invalid))
    for own in found.values():
        own.sort(key=lambda each: each.t_s)
    times = [each.t_s for each in found[names[0]]]
    if len(times) < 2:
        raise WrongInputError(f"{path} has fewer than two readings")
    form_of: Literal["counter", "gauge"] = "gauge" if unit == "W" else "counter"
    channels = tuple(
        Channel(
            name,
            form.scope,
            form_of,
            mean_over_s=form.mean_over_s if unit == "W" else 0.0,
            accuracy_percent=form.accuracy_percent,
        )
        for name in names
    )
    every_s = median(later - earlier for earlier, later in pairwise(times))
    return PowerLog(channels, {name: tuple(own) for name, own in found.items()}, every_s)


def _table(path: Path) -> list[tuple[int, list[str]]]:
    """Line number and cells of each row that is not empty; the first one is the header."""
    text = read_text(path, at_most_bytes=MOST_BYTES)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise WrongInputError(
            f"{path} is no table: its first line has one column",
            advice="write a header, and commas, semicolons or tabs between the columns",
        )
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    return [
        (reader.line_num, [cell.strip() for cell in row])
        for row in reader
        if any(cell.strip() for cell in row)
    ]


def _time_columns(path: Path, header: Sequence[str], stated: str) -> tuple[str, ...]:
    """The column of the stamps, or those of date and time."""
    if stated:
        return (_stated(path, header, stated, "--time"),)
    known = {column.lower(): column for column in reversed(header)}
    if "date" in known and "time" in known:
        return known["date"], known["time"]
    for name in _TIMES:
        if name in known:
            return (known[name],)
    if found := [column for column in header if "time" in column.lower()]:
        return (found[0],)
    raise WrongInputError(
        f"{path} has no column of time: {', '.join(header)}", advice="name it: --time COLUMN"
    )


def _value_columns(path: Path, header: Sequence[str], stated: Sequence[str]) -> tuple[str, ...]:
    if stated:
        return tuple(_stated(path, header, name, "--value") for name in stated)
    found = [each for each in header if _POWER.search(each) and not _NOT_POWER.search(each)]
    if len(found) != 1:
        what = f"{len(found)} columns" if found else "no column"
        raise WrongInputError(
            f"{path} has {what} that may be of power: {', '.join(found or header)}",
            advice="name it: --value COLUMN; several that are parts of one thing are added",
        )
    return tuple(found)


def _stated(path: Path, header: Sequence[str], name: str, option: str) -> str:
    if name not in header:
        raise WrongInputError(
            f"{path} has no column {name!r}", advice=f"{option} is one of {', '.join(header)}"
        )
    return name


def _unit_of(path: Path, names: Sequence[str]) -> str:
    units = set()
    for name in names:
        found = _UNIT.search(name)
        if found is not None:
            units.add(found["unit"])
        elif "watt" in name.lower() and "hour" not in name.lower():
            units.add("kW" if "kilo" in name.lower() else "W")
    if len(units) != 1:
        raise WrongInputError(
            f"{path} does not say the unit of {', '.join(names)}",
            advice=f"state it: --unit {', '.join(UNITS)}",
        )
    return str(units.pop())


def _figure(text: str, unit: Unit, factor: float) -> tuple[float, str]:
    """Joules or watts, and why they are none; a decimal comma is read where there is one only."""
    plain = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    try:
        value = float(plain) * factor
    except ValueError:
        return 0.0, "it is empty" if not text else "not a number"
    return value, why_none(value, unit)


def _zone(text: str) -> tzinfo | None:
    """The time zone that was stated.

    Raises:
        WrongInputError: If it is none.
    """
    if not text:
        return None
    if text.upper() in ("UTC", "Z"):
        return UTC
    if found := _ZONE.fullmatch(text):
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
        if offset < timedelta(hours=24):
            return timezone(offset if found["sign"] == "+" else -offset)
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise WrongInputError(
            f"{text!r} is no time zone", advice="write UTC, +02:00 or Europe/Berlin"
        ) from None


def _unix_s(text: str, form: str, zone: tzinfo | None, where: str) -> float:
    if not form and _EPOCH.fullmatch(text):
        return float(text) / (1000 if len(text) == 13 and "." not in text else 1)
    for moment in _moments(text, form):
        if moment.tzinfo is not None:
            return moment.timestamp()
        if zone is None:
            raise WrongInputError(
                f"{where}: the stamp does not say its time zone",
                advice="state it: --time-zone UTC, +02:00 or Europe/Berlin",
            )
        return moment.replace(tzinfo=zone).timestamp()
    raise WrongInputError(
        f"{where}: the stamp cannot be read",
        advice="state its form: --time-format '%d.%m.%Y %H:%M:%S'",
    )


def _moments(text: str, form: str) -> Iterator[datetime]:
    """The moment that a stamp means, if it can be read."""
    try:
        yield datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    except ValueError:
        return
