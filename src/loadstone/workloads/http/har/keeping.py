"""Static files of a recording: which of them a browser asks about again, and where. Pure.

A browser fetches each once, as a user first comes. Later it uses what it has, for as long as the
answer was said to be fresh (RFC 9111, section 4.2); then it asks whether the file has changed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime

from loadstone.workloads.http.har.entries import Answer, Entry, header_of
from loadstone.workloads.http.har.transactions import Step

FRESH_FOR_LONG_S = 3600.0
"""A file that is fresh for so long is not asked about again by who works with an application."""
_HEURISTIC = 0.1
"""Part of the time since its last change for which a file is fresh, if its server says nothing."""


def asked_again(static: Iterable[Entry], steps: Sequence[Step]) -> Mapping[int, tuple[Entry, ...]]:
    """The static files about which a browser may ask again, by the step in which it did so.

    Args:
        static: All entries of static files, those that the browser had in its cache too.
        steps: Of the whole recording, in the order of their beginning.

    Returns:
        Number of the first request of a step: files, each once.
    """
    begins_s = [min(each.started_s for each in step) for step in steps]
    found: dict[int, dict[str, Entry]] = {}
    for entry in static:
        at = bisect_right(begins_s, entry.started_s) - 1
        if at >= 0 and lifetime_s(entry.answer) < FRESH_FOR_LONG_S:
            files = found.setdefault(steps[at][0].number, {})
            files.setdefault(entry.url, entry)
    return {number: tuple(files.values()) for number, files in found.items()}


def lifetime_s(answer: Answer) -> float:
    """For how long an answer is fresh, by what its header says; 0: it is to be asked about."""
    directives = _directives(answer)
    if "no-store" in directives or "no-cache" in directives:
        return 0.0
    if "max-age" in directives:
        return _seconds(directives["max-age"])
    made_s = _moment_s(answer, "date")
    if header_of(answer.headers, "expires"):
        expires_s = _moment_s(answer, "expires")
        return 0.0 if made_s is None or expires_s is None else max(0.0, expires_s - made_s)
    changed_s = _moment_s(answer, "last-modified")
    if made_s is None or changed_s is None or "must-revalidate" in directives:
        return 0.0
    return max(0.0, _HEURISTIC * (made_s - changed_s))


def _directives(answer: Answer) -> Mapping[str, str]:
    """Those of `Cache-Control` in lower case, each with its value or an empty text."""
    parts = header_of(answer.headers, "cache-control").lower().split(",")
    pairs = (part.partition("=") for part in parts)
    return {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def _seconds(text: str) -> float:
    """A whole number; one that cannot be read is 0: stale (section 4.2.1)."""
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _moment_s(answer: Answer, name: str) -> float | None:
    try:
        return parsedate_to_datetime(header_of(answer.headers, name)).timestamp()
    except (ValueError, OverflowError):
        return None
