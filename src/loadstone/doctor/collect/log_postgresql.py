"""Entries of PostgreSQL's log: text under any prefix, CSV and JSON, in any language.

Formats: PostgreSQL 18, 19.8. Error Reporting and Logging. In text, a record is a line of its
level and message, then lines of its detail, hint and statement under the same prefix, and lines
that begin with a tab.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from loadstone.doctor.collect.log_wrapping import fields_of, unwrapped
from loadstone.doctor.log_entry import Entry, is_english

_LEVELS = {"LOG", "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG"}
_LEVELS |= {f"DEBUG{number}" for number in range(1, 6)}
_PARTS = {"DETAIL", "HINT", "QUERY", "CONTEXT", "LOCATION", "BACKTRACE", "STATEMENT"}
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+?"
_ESCAPES: Mapping[str, str] = {
    "e": r"(?P<code>[0-9A-Z]{5})",
    "b": r"(?P<backend>.*?)",
    "l": r"(?P<number>\d+)",
    "m": _TIME,
    "t": _TIME,
    "s": _TIME,
    "p": r"\d+",
    "P": r"\d*",
    "x": r"\d+",
    "n": r"\d+\.\d+",
    "c": r"[0-9a-f.]+",
    "Q": r"-?\d+",
    "%": "%",
}
_ESCAPE = re.compile(r"%(-?\d+)?([A-Za-z%])")
_MESSAGE = r"(?P<label>[^\s:][^:]{0,23}?) ?:  (?P<text>.*)"
_ANY_PREFIX = re.compile(r"(?P<head>(?!\s).*?)(?P<label>[^\s:]{2,24}) ?:  (?P<text>.*)", re.DOTALL)
_VERBOSE = re.compile(r"(?=[0-9A-Z]*\d)([0-9A-Z]{5}): (.*)", re.DOTALL)
_STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_CSV = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [^",]*,(?:"|,)')
_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)')
_CSV_LEVEL, _CSV_CODE, _CSV_TEXT, _CSV_BACKEND = 11, 12, 13, 23
_SUCCESS = "00000"


@dataclass(frozen=True)
class PostgreSQLLog:
    """How the log of a server is read."""

    prefix: str = "%m [%p] "
    """Its `log_line_prefix`; lines under another are read too, but for a code in it."""
    locale: str | None = None
    """Its `lc_messages`."""
    name: str = field(default="log of PostgreSQL", init=False)

    @property
    def translated(self) -> bool:
        """Whether the server is set to a language that is not English."""
        return not is_english(self.locale)

    @cached_property
    def _line(self) -> re.Pattern[str]:
        return re.compile(f"(?P<head>{prefix_pattern(self.prefix)}){_MESSAGE}", re.DOTALL)

    def entries(self, lines: Iterable[str]) -> Iterator[Entry]:
        """The entries among lines, oldest first; lines that belong to none are passed over."""
        begun: tuple[str, str] | None = None
        rows = iter(lines)
        for line in rows:
            text, stamp = unwrapped(line.rstrip("\r\n"))
            if text.startswith("{"):
                entry = _of_json(fields_of(text))
            elif _CSV.match(text):
                entry = _of_csv(_whole(text, rows))
            else:
                entry, begun = self._of_text(text, stamp, begun)
            if entry is not None:
                yield entry

    def other(self, lines: Iterable[str]) -> str | None:
        """Of a file without any entry nothing more is known."""
        return None

    def _of_text(
        self, text: str, stamp: str | None, begun: tuple[str, str] | None
    ) -> tuple[Entry | None, tuple[str, str] | None]:
        """An entry if the line begins one, and the head and the level of the present one."""
        found = self._line.match(text) or _ANY_PREFIX.match(text)
        if found is None or found["label"].strip() in _PARTS:
            return None, begun
        label, groups = found["label"].strip(), found.groupdict()
        head = found["head"]
        if groups.get("number"):
            head = head.replace(groups["number"], "", 1)
        message, code = found["text"], groups.get("code")
        if begun is not None and _is_part(head, label, begun, coded=code is not None):
            return None, begun
        verbose = _VERBOSE.match(message)
        if verbose is not None:
            code, message = verbose[1], verbose[2]
        dated = _STAMP.search(found["head"])
        entry = Entry(
            text=message,
            line=text,
            code=_failure(code),
            coded=code is not None,
            backend=groups.get("backend"),
            stamp=dated[0] if dated else stamp,
            foreign=label not in _LEVELS,
        )
        return entry, (head, label)


def prefix_pattern(prefix: str) -> str:
    """A regular expression of what a `log_line_prefix` makes, with the groups code and backend."""
    parts, at, open_groups, seen = [], 0, 0, set[str]()
    for escape in _ESCAPE.finditer(prefix):
        parts.append(re.escape(prefix[at : escape.start()]))
        at = escape.end()
        if escape[2] == "q":  # The rest is of sessions only.
            parts.append("(?:")
            open_groups += 1
            continue
        pattern = _ESCAPES.get(escape[2], ".*?")
        if escape[2] in seen:
            pattern = re.sub(r"\?P<\w+>", "?:", pattern)
        seen.add(escape[2])
        parts.append(rf" *{pattern} *" if escape[1] else pattern)
    parts.append(re.escape(prefix[at:]))
    return "".join(parts) + ")?" * open_groups


def _is_part(head: str, label: str, begun: tuple[str, str], *, coded: bool) -> bool:
    """Whether a line belongs to the entry before it: a detail, or the statement.

    In another language only their place tells these from a message, if they have a code or follow
    a level of that language; else the line counts as an entry.
    """
    if label in _LEVELS or begun[0] != head or begun[1] == label:
        return False
    return coded or begun[1] not in _LEVELS


def _whole(text: str, rows: Iterator[str]) -> str:
    """A record of CSV with all its lines: as long as a quote is open it goes on."""
    while text.count('"') % 2:
        more = next(rows, None)
        if more is None:
            break
        text += "\n" + more.rstrip("\r\n")
    return text


def _of_csv(record: str) -> Entry | None:
    fields = [quoted.replace('""', '"') or bare for quoted, bare in _FIELD.findall(record)]
    if len(fields) <= _CSV_TEXT or not re.fullmatch(r"[0-9A-Z]{5}", fields[_CSV_CODE]):
        return None
    return Entry(
        text=fields[_CSV_TEXT],
        line=f"{fields[0]} {fields[_CSV_LEVEL]}: {fields[_CSV_CODE]}: {fields[_CSV_TEXT]}",
        code=_failure(fields[_CSV_CODE]),
        coded=True,
        backend=fields[_CSV_BACKEND] if len(fields) > _CSV_BACKEND else None,
        stamp=fields[0][:19],
        foreign=fields[_CSV_LEVEL] not in _LEVELS,
    )


def _of_json(fields: Mapping[str, Any]) -> Entry | None:
    level, text = fields.get("error_severity"), fields.get("message")
    if not isinstance(level, str) or not isinstance(text, str):
        return None
    code = fields.get("state_code") or fields.get("sql_state_code")
    stamp = str(fields.get("timestamp") or fields.get("log_time") or "")[:19]
    return Entry(
        text=text,
        line=f"{stamp} {level}: {code or ''}: {text}",
        code=_failure(code),
        coded=isinstance(code, str),
        backend=fields.get("backend_type"),
        stamp=stamp if _STAMP.fullmatch(stamp) else None,
        foreign=level not in _LEVELS,
    )


def _failure(code: object) -> str | None:
    return code if isinstance(code, str) and code != _SUCCESS else None
