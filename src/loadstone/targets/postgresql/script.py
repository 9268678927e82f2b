"""Splitting an SQL script into its statements.

PostgreSQL runs several statements that come in one message as one transaction, in which VACUUM and
CREATE DATABASE are refused; so each is sent by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
      (?P<line_comment>--[^\n]*)
    | (?P<block_comment>/\*)
    | (?P<escape_string>\b[eE]'(?:[^'\\]|''|\\.)*')
    | (?P<string>'(?:[^']|'')*')
    | (?P<identifier>"(?:[^"]|"")*")
    | (?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*)?\$)
    | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")


def statements(script: str) -> Iterator[str]:
    """The statements of a script, without their semicolons and without empty ones.

    Strings, quoted names, dollar-quoted bodies and (nested) comments are seen; the `BEGIN ATOMIC`
    bodies of SQL-standard functions are not.
    """
    begin = position = 0
    empty = True
    while (token := _TOKEN.search(script, position)) is not None:
        if script[position : token.start()].strip():
            empty = False
        position = token.end()
        if token.lastgroup == "end":
            if not empty:
                yield script[begin : token.start()].strip()
            begin, empty = position, True
        elif token.lastgroup == "block_comment":
            position = _end_of_comment(script, position)
        elif token.lastgroup == "dollar":
            close = script.find(token[0], position)
            position = len(script) if close < 0 else close + len(token[0])
            empty = False
        elif token.lastgroup != "line_comment":
            empty = False
    if not empty or script[position:].strip():
        yield script[begin:].strip()


def _end_of_comment(script: str, position: int) -> int:
    depth = 1
    while depth:
        edge = _BLOCK_EDGE.search(script, position)
        if edge is None:
            return len(script)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return position
