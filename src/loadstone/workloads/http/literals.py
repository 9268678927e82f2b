"""Passwords that stand in a scenario themselves, where a reference belongs.

A scenario is kept with its results. Fields that are called as passwords are have values of the form
`${NAME}`, and `secrets` says where each of those is. What is found is named by its place only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from loadstone.spec.problems import Path

INSTEAD = (
    "holds a password, or looks as if it did: it is not repeated; write ${NAME} in its place, and "
    "say where it is: secrets: {NAME: env:VARIABLE} or file:PATH"
)
"""What is wrong with such a field, and what to do."""

_WORD = r"(?:passw(?:or)?d|passphrase|pwd(?![a-z]))"
_NAME = re.compile(_WORD, re.IGNORECASE)
_CREDENTIAL = re.compile(r"(?:proxy-)?authorization", re.IGNORECASE)
"""A header that is one."""
_IN_TEXT = (
    # password=SECRET, "password": "SECRET"
    re.compile(rf"""{_WORD}\w*["']?\s*[=:]\s*["']?[^\s&;,"'}}]""", re.IGNORECASE),
    # https://user:SECRET@host
    re.compile(r"[a-z][\w+.-]*://[^\s/@]*:[^\s/@]+@", re.IGNORECASE),
)
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_NOT_SENT = ("secrets", "extract", "expect", "classes", "marks")
"""Parts of a scenario whose names say what is looked for, not what is sent."""


def literal_secrets(data: Any, path: Path = ()) -> Iterator[Path]:
    """The way to every password that stands in a scenario itself.

    Args:
        data: A scenario as it was written, or a part of it.
        path: Where that part lies.
    """
    if isinstance(data, str):
        if any(form.search(_REFERENCE.sub("", data)) for form in _IN_TEXT):
            yield path
    elif isinstance(data, Mapping):
        for name, value in data.items():
            own = (*path, str(name))
            if _is_secret(str(name), value):
                yield own
            elif name not in _NOT_SENT:
                yield from literal_secrets(value, own)
    elif isinstance(data, list | tuple):
        yield from _of_list(list(data), path)


def _of_list(data: list[Any], path: Path) -> Iterator[Path]:
    """A list may be a pair of a name and its value, as forms and queries have them."""
    if len(data) == 2 and isinstance(data[0], str) and _is_secret(data[0], data[1]):
        yield (*path, 1)
        return
    for index, each in enumerate(data):
        yield from literal_secrets(each, (*path, index))


def _is_secret(name: str, value: Any) -> bool:
    """Whether a field that is called as passwords or credentials are has a value of its own."""
    called = _NAME.search(name) is not None or _CREDENTIAL.fullmatch(name) is not None
    if not called or value is None or isinstance(value, Mapping | list):
        return False
    return bool(str(value)) and _REFERENCE.search(str(value)) is None
