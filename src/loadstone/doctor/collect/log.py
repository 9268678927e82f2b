"""Collates a server's log: how often which message, and over how long. Reads only."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path

from loadstone.doctor.facts import LogFacts, LogMessage
from loadstone.doctor.rules.messages import Message
from loadstone.errors import WrongInputError
from loadstone.secret import masked
from loadstone.text import encoding_of

READ_AT_MOST_BYTES = 64 * 1024**2
"""Of the end of a log."""

_STAMP = re.compile(rb"^\[?(\d{4}-\d\d-\d\d)[ T]\s?(\d{1,2}:\d\d:\d\d)")
_SHOWN = 160
_BEGINNING_BYTES = 2000


def read_log(path: Path, messages: Sequence[Message]) -> LogFacts:
    """Counts messages in the end of a log.

    Args:
        path: The log.
        messages: Those to look for.

    Raises:
        WrongInputError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING_BYTES)
            encoding = encoding_of(beginning)
            size = file.seek(0, 2)
            mark = len(BOM_UTF8) if beginning.startswith(BOM_UTF8) else 0
            # An even number else: no character of UTF-16 is cut.
            file.seek(max((size - READ_AT_MOST_BYTES) // 2 * 2, mark))
            lines = file if encoding == "utf-8-sig" else _narrowed(file.read(), encoding)
            return collate(lines, messages, str(path))
    except OSError as error:
        raise WrongInputError(
            f"the log {path} cannot be read: {error.strerror}",
            advice="run as a user who may read it, or name another with --log",
        ) from error


def _narrowed(data: bytes, encoding: str) -> Iterable[bytes]:
    """Lines of a log that a shell of Windows wrote, as UTF-8."""
    return BytesIO(data.decode(encoding, errors="replace").encode(errors="replace"))


def collate(lines: Iterable[bytes], messages: Sequence[Message], path: str) -> LogFacts:
    """Counts messages in lines.

    Args:
        lines: Of a log, oldest first, as bytes: logs hold what clients sent.
        messages: Those to look for.
        path: What the log is called.
    """
    patterns = [(each.key, re.compile(each.pattern.encode(), re.IGNORECASE)) for each in messages]
    any_of = re.compile(
        b"|".join(b"(?:%s)" % pattern.pattern for _, pattern in patterns), re.IGNORECASE
    )
    counts: dict[str, int] = {}
    last: dict[str, bytes] = {}
    first_stamp = last_stamp = None
    read_bytes = 0
    for line in lines:
        read_bytes += len(line)
        stamp = _STAMP.match(line)
        if stamp is not None:
            last_stamp = stamp
            first_stamp = first_stamp or stamp
        if not any_of.search(line):
            continue
        for key, pattern in patterns:
            if pattern.search(line):
                counts[key] = counts.get(key, 0) + 1
                last[key] = line
    return LogFacts(
        path=path,
        read_bytes=read_bytes,
        span_s=_span_s(first_stamp, last_stamp),
        messages={key: LogMessage(count, _shown(last[key])) for key, count in counts.items()},
    )


def _span_s(first: re.Match[bytes] | None, last: re.Match[bytes] | None) -> float | None:
    if first is None or last is None:
        return None
    try:
        return max((_time(last) - _time(first)).total_seconds(), 0.0)
    except ValueError:
        return None


def _time(stamp: re.Match[bytes]) -> datetime:
    text = f"{stamp[1].decode()} {stamp[2].decode()}"
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")


def _shown(line: bytes) -> str:
    text = masked(" ".join(line.decode("utf-8", errors="replace").split()))
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
