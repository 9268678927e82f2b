"""Finds secrets of a recording in what is to be written, however they are spelt there. Pure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote

STARS = "***"
_LONG = 12
"""A text of so many characters is no part of a word by accident."""


class Hidden:
    """Texts that nothing may hold.

    Args:
        texts: Passwords, cookies, credentials, as they are.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        spelt = {each for text in texts for each in _spellings(text)}
        self._texts = sorted(spelt - {""}, key=lambda each: (-len(each), each))

    def pattern_in(self, text: str) -> re.Pattern[str] | None:
        """What finds those that a text holds; None: it holds none.

        A short one must stand by itself: `admin` is not in `administrator`.
        """
        there = [_pattern(each) for each in self._texts if each in text]
        if not there:
            return None
        pattern = re.compile("|".join(there))
        return pattern if pattern.search(text) else None


def _spellings(text: str) -> Iterator[str]:
    """A text as addresses, forms, JSON and HTML write it."""
    yield text
    yield unquote(text)
    yield quote(text, errors="replace")
    yield quote(text, safe="", errors="replace")
    yield quote_plus(text, errors="replace")
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1]
    yield html.escape(text)


def _pattern(text: str) -> str:
    plain = re.escape(text)
    return plain if len(text) >= _LONG else rf"(?<![A-Za-z0-9]){plain}(?![A-Za-z0-9])"
