"""An entry of a server's log, and whether its words can be understood. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

_ENGLISH = re.compile(
    r"\b(the|of|with|from|could|not|complete|starting|received|authorized|duration|closed|ready|"
    r"connections?)\b"
)
"""Words that no other language of the servers has, in small letters."""


@dataclass(frozen=True)
class Entry:
    """What a server told at one moment; the statement that led to it is not part of it."""

    text: str
    """The message, without level, time and code."""
    line: str
    """As it stands in the log."""
    code: str | None = None
    """SQLSTATE or error number; None also for that of success."""
    coded: bool = False
    """The log has a code in every such entry, that of success too."""
    backend: str | None = None
    """The kind of process that it came from."""
    stamp: str | None = None
    """`2026-01-02 03:04:05`, if the entry has a time with its date."""
    foreign: bool = False
    """Its level is named in another language than English."""

    untranslated: bool = False
    """A server of any language writes it in English, or it can be none of what is looked for."""

    @property
    def understood(self) -> bool:
        """Whether it can be told what it is: by its code, or as its words are English."""
        if self.coded or self.untranslated:
            return True
        return not self.foreign and _ENGLISH.search(self.text) is not None


class LogKind(Protocol):
    """How the log of one kind of server is read."""

    @property
    def name(self) -> str:
        """What the log is: `log of PostgreSQL`."""
        ...

    @property
    def translated(self) -> bool:
        """Whether the server is set to a language that is not English."""
        ...

    def entries(self, lines: Iterable[str]) -> Iterator[Entry]:
        """The entries among lines, oldest first; lines that belong to none are passed over."""
        ...

    def other(self, lines: Iterable[str]) -> str | None:
        """What a file without any entry is instead, if that can be said."""
        ...


def is_english(locale: str | None) -> bool:
    """Whether a locale's messages are English: `C`, `en_US.UTF-8`, or none."""
    name = (locale or "").partition(".")[0]
    return name in ("", "C", "POSIX") or name.startswith("en")
