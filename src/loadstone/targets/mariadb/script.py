"""Splitting an SQL script into its statements.

A script with bodies of procedures separates its statements by lines that hold only `//`; all others
by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATOR = re.compile(r"^[ \t]*//[ \t]*$", re.MULTILINE)
_TOKEN = re.compile(
    r"""
      (?P<comment>--(?=[\s]|$)[^\n]*|\#[^\n]*|/\*(?!!).*?(?:\*/|$))
    | (?P<string>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
    | (?P<identifier>`(?:[^`]|``)*`)
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)


def statements(script: str) -> Iterator[str]:
    """The statements of a script, without their separators and without empty ones."""
    if _SEPARATOR.search(script):
        for part in _SEPARATOR.split(script):
            if not _is_empty(part):
                yield part.strip()
        return
    begin = 0
    for token in _TOKEN.finditer(script):
        if token.lastgroup == "end":
            if not _is_empty(script[begin : token.start()]):
                yield script[begin : token.start()].strip()
            begin = token.end()
    if not _is_empty(script[begin:]):
        yield script[begin:].strip()


def _is_empty(part: str) -> bool:
    """Whether it holds nothing but blanks and comments."""
    without = _TOKEN.sub(lambda token: " " if token.lastgroup == "comment" else token[0], part)
    return not without.strip()
