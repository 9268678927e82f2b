"""Collates a server's log: how often which message, and over how long. Reads only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from loadstone.doctor.collect.log_files import (
    READ_AT_MOST_BYTES,
    earlier_files,
    lines_of,
    read_end,
)
from loadstone.doctor.facts import LogFacts, LogMessage
from loadstone.doctor.log_entry import Entry, LogKind
from loadstone.doctor.rules.message import Message
from loadstone.errors import WrongInputError
from loadstone.secret import masked

_SHOWN = 160


def read_log(path: Path, messages: Sequence[Message], kind: LogKind) -> LogFacts:
    """Counts messages in the end of a log that somebody named.

    Args:
        path: The log.
        messages: Those to look for.
        kind: Of which server it is.

    Raises:
        WrongInputError: If it cannot be read.
    """
    return _facts([read_end(path)], messages, kind, path)


def find_log(
    path: Path | None, messages: Sequence[Message], kind: LogKind, files: str | None = None
) -> LogFacts | None:
    """Counts messages in the log that a server writes now, and in those that were rotated away.

    Args:
        path: What it writes to, if that is known.
        messages: Those to look for.
        kind: Of which server it is.
        files: How the server itself names its files, if it rotates them.

    Returns:
        None if it cannot be read.
    """
    if path is None:
        return None
    parts = []
    room = READ_AT_MOST_BYTES
    try:
        for file in (path, *earlier_files(path, files)):
            parts.append(read_end(file, room)[-room:])
            room -= len(parts[-1])
            if room <= 0:
                break
    except WrongInputError:
        if not parts:
            return None
    return _facts(parts[::-1], messages, kind, path)


def collate(
    entries: Iterable[Entry], messages: Sequence[Message], *, translated: bool = False
) -> LogFacts:
    """Counts messages; an entry counts for the first that it is.

    Args:
        entries: Of a log, oldest first.
        messages: Those to look for.
        translated: The server is set to a language that is not English.
    """
    any_words = re.compile("|".join(f"(?:{each.pattern})" for each in messages), re.IGNORECASE)
    counts, last = Counter[str](), dict[str, Entry]()
    total = coded = unknown = 0
    first_stamp = last_stamp = None
    for entry in entries:
        total += 1
        coded += entry.coded
        translated = translated or entry.foreign
        last_stamp = entry.stamp or last_stamp
        first_stamp = first_stamp or entry.stamp
        found = None
        if entry.code is not None or any_words.match(entry.text):
            found = next((each for each in messages if each.is_told_by(entry)), None)
        if found is not None:
            counts[found.key] += 1
            last[found.key] = entry
        else:
            unknown += not entry.understood
    return LogFacts(
        path="",
        read_bytes=0,
        span_s=_span_s(first_stamp, last_stamp),
        messages={key: LogMessage(count, _shown(last[key].line)) for key, count in counts.items()},
        entries=total,
        unreadable=unknown if translated else 0,
        by_code=translated and coded > 0,
    )


def _facts(
    parts: Sequence[bytes], messages: Sequence[Message], kind: LogKind, path: Path
) -> LogFacts:
    def lines() -> Iterator[str]:
        return chain.from_iterable(map(lines_of, parts))

    found = collate(kind.entries(lines()), messages, translated=kind.translated)
    size = sum(map(len, parts))
    strange = None
    if size and not found.entries:
        strange = kind.other(lines()) or f"no line of it is of a {kind.name}"
    return replace(found, path=str(path), read_bytes=size, files=len(parts), strange=strange)


def _span_s(first: str | None, last: str | None) -> float | None:
    if first is None or last is None:
        return None
    try:
        return max((_time(last) - _time(first)).total_seconds(), 0.0)
    except ValueError:
        return None


def _time(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S")


def _shown(line: str) -> str:
    text = masked(" ".join(line.split()))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
