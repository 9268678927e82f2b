"""What syslog, the journal and containers put around the lines of a log. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SYSLOG = re.compile(
    r"(?:<\d+>)?(?:\S+ +\d+ \d\d:\d\d:\d\d|(?P<date>\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d:\d\d)\S*) "
    r"\S+ [^\s:\[]+(?:\[\d+\])?: (?:\[\d+(?:-(?P<part>\d+))?\] )?"
)
_CONTAINER = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)T(?P<time>[\d:]{8})\S* std(?:out|err) [FP] ")
_TAB = "#011"
"""A tab as rsyslog writes it."""
_TEXT_FIELDS = ("log", "MESSAGE")
"""Docker's and the journal's name of the line itself."""


def unwrapped(line: str) -> tuple[str, str | None]:
    """A line as the server wrote it, and the time of the wrapping if it has one.

    A part of a record that is not its first begins with a tab, as in the server's own file.
    """
    if line.startswith("{"):
        inner = inner_text(fields_of(line))
        if inner is not None:
            return unwrapped(inner)
    found = _SYSLOG.match(line) or _CONTAINER.match(line)
    if found is None:
        return line, None
    parts = found.groupdict()
    stamp = f"{parts['date']} {parts['time']}" if parts["date"] else None
    rest = line[found.end() :].replace(_TAB, "\t")
    return ("\t" + rest if int(parts.get("part") or 1) > 1 else rest), stamp


def fields_of(line: str) -> Mapping[str, Any]:
    """A line of JSON as an object; empty if it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    inner = found.get("record")
    return inner if isinstance(inner, dict) else found


def inner_text(fields: Mapping[str, Any]) -> str | None:
    """The line that an object of a container or of the journal carries."""
    texts = (fields.get(name) for name in _TEXT_FIELDS)
    return next((text for text in texts if isinstance(text, str)), None)
