"""Entries of the error log of MariaDB and MySQL: text and JSON, in any language.

Formats: MariaDB Documentation, Error Log; MySQL 8.0 Reference Manual, 7.4.2 The Error Log. An
entry is one line with its level in brackets; statements in lines after it belong to none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from loadstone.doctor.collect.log_wrapping import fields_of, unwrapped
from loadstone.doctor.log_entry import Entry, is_english

_LINE = re.compile(
    r"(?P<head>[\d\-:T.Z+ ]*?)\s?(?:0x[0-9a-f]+ )?\[(?P<level>ERROR|Warning|Note|System)\] "
    r"(?:\[MY-(?P<code>\d+)\] )?(?:\[\w+\] )?(?P<text>.*)",
    re.DOTALL,
)
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T] ?(\d{1,2}:\d\d:\d\d)")
_STATEMENT = re.compile(r"\bQuery: ?['\"]?.*", re.DOTALL)
_NUMBER = re.compile(r"(?:Error_code: (?:MY-)?|[Ee]rror code: |\(Errcode: )(\d+)")
_SYSTEM = re.compile(r"\([^()\"]*: ?(\d+) \"")
_SLOW = "# User@Host:"


@dataclass(frozen=True)
class MariaDBLog:
    """How the error log of a server is read."""

    locale: str | None = None
    """Its `lc_messages`."""
    name: str = field(default="error log of MariaDB or MySQL", init=False)

    @property
    def translated(self) -> bool:
        """Whether the server is set to a language that is not English."""
        return not is_english(self.locale)

    def entries(self, lines: Iterable[str]) -> Iterator[Entry]:
        """The entries among lines, oldest first; lines that belong to none are passed over."""
        for line in lines:
            text, stamp = unwrapped(line.rstrip("\r\n"))
            json = text.startswith("{")
            entry = _of_json(fields_of(text)) if json else _of_text(text, stamp)
            if entry is not None:
                yield entry

    def other(self, lines: Iterable[str]) -> str | None:
        """The log of slow queries is told from the error log."""
        slow = any(line.startswith(_SLOW) for line in lines)
        return "it is the log of slow queries" if slow else None


def _of_text(line: str, stamp: str | None) -> Entry | None:
    found = _LINE.match(line)
    if found is None:
        return None
    dated = _STAMP.search(found["head"])
    return Entry(
        text=_STATEMENT.sub("", found["text"]),
        line=line,
        code=_code(found["code"], found["text"]),
        coded=found["code"] is not None,
        stamp=f"{dated[1]} {dated[2]}" if dated else stamp,
        untranslated=found["level"] == "Note" or found["text"].startswith("InnoDB: "),
    )


def _of_json(fields: Mapping[str, Any]) -> Entry | None:
    text, label = fields.get("msg"), fields.get("label")
    if not isinstance(text, str) or not isinstance(label, str):
        return None
    number, time = fields.get("err_code"), str(fields.get("time", ""))
    dated = _STAMP.search(time)
    return Entry(
        text=_STATEMENT.sub("", text),
        line=f"{time} [{label}] {text}",
        code=_code(str(number) if number else None, text),
        coded=number is not None,
        stamp=f"{dated[1]} {dated[2]}" if dated else None,
    )


def _code(own: str | None, text: str) -> str | None:
    """The number of an error: of the system as `errno 28`, the entry's own, or one it speaks of."""
    system = _SYSTEM.search(_STATEMENT.sub("", text))
    if system is not None:
        return f"errno {system[1]}"
    spoken = _NUMBER.findall(text)
    number = spoken[-1] if spoken else own
    return number.lstrip("0") or None if number else None
