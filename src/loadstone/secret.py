"""What a password looks like in a text, so that no such word is told, written or kept.

People put passwords into addresses, connection strings and statements, at the right places and at
wrong ones. The forms are those of URLs (JDBC's too), of libpq's and ODBC's words, of an address
without a scheme, and of statements in SQL and MaxL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

ELSEWHERE = (
    "leave it out, and say where it is: password: env:NAME or file:PATH (--password); the scenario "
    "of a web application says it itself"
)
"""What to do about a password that was given itself."""
HELD = "holds a password, or looks as if it did: it is not repeated"
"""What is wrong with such a word."""
HIDDEN = "***"

_KEY = r"(?:passw(?:or)?d|pwd|passphrase|secret(?:[._-]?key)?|access[._-]?key|api[._-]?key|token)"
_NAME = re.compile(rf"(?:.*[._-])?\w*{_KEY}", re.IGNORECASE)
_VALUE = r"""(?!env:|file:)(?:"[^"]+"|'[^']+'|[^\s&;,'"]+)"""
_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.MULTILINE)
    for form in (
        # scheme://user:PASSWORD@host, where the password may hold / and @
        r"(?P<keep>[a-z][\w+.-]*:/{1,2}[^\s:/?#@]*:)(?:\S+|(?!\d{1,5}[\s/]).+)(?=@)",
        # user:PASSWORD@host; no mailto:, no %t:%r:%u@%d of a log's prefix
        r"""(?P<keep>(?<![^\s=,;'"(\[])(?!mailto:)[\w.+-][\w.+%-]*:)[^\s/@]\S*(?=@[\w\[.-])""",
        # password=PASSWORD, ?sslpassword=PASSWORD, Pwd={PASSWORD}
        rf"(?P<keep>{_KEY}\s*=\s*){_VALUE}",
        # "password": "PASSWORD"
        rf"""(?P<keep>{_KEY}["']\s*:\s*){_VALUE}""",
        # IDENTIFIED BY 'PASSWORD', PASSWORD 'PASSWORD'
        r"(?P<keep>\bidentified\s+by\s+(?:password\s+)?)[^\s;]+",
        r"(?P<keep>\bpassword\s+)'[^']+'",
        # login admin PASSWORD on host
        r"(?P<keep>(?:^|MAXL>|=)\s*login\s+\S+\s+)(?!identified\b)\S+(?=\s+on\b)",
    )
)

_PLAIN = re.compile(
    r"-{0,2}[a-z]+(?:[-_. ][a-z]+)*"  # a word, or several
    r"|[-+]?[\d.,]*(?:e[-+]?\d+)?\s?[a-z%]{0,3}"  # a number, with its unit
    r"|local:[\d.]+",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """The same text with stars in the place of every password that can be recognised."""
    for form in _FORMS:
        text = form.sub(rf"\g<keep>{HIDDEN}", text)
    return text


def holds_secret(text: str) -> bool:
    """Whether a word holds what looks like a password, be it as `%40` and the like."""
    return any(form.search(each) for each in {text, unquote(text)} for form in _FORMS)


def names_secret(name: str) -> bool:
    """Whether a field, or a setting, is called as passwords are: its value is one."""
    return _NAME.fullmatch(name) is not None


def masked_data(data: Any, name: str = "") -> Any:
    """The same data with stars in the place of passwords, and of what is called as they are.

    Args:
        data: As JSON has it; keys of mappings are names.
        name: What it is called.
    """
    if isinstance(data, Mapping):
        return {key: masked_data(each, f"{name}.{key}") for key, each in data.items()}
    if isinstance(data, list | tuple):
        return [masked_data(each, name) for each in data]
    if not isinstance(data, str):
        return data
    return HIDDEN if data and names_secret(name.removesuffix(".value")) else masked(data)


def shown(word: str) -> str:
    """A word as a message may quote it: stars unless it is too plain to be a password."""
    return repr(word) if _PLAIN.fullmatch(word) else HIDDEN
