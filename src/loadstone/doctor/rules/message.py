"""A message that a server's log repeats, and what it means. Pure; `collect.log` counts it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from loadstone.doctor.facts import LogFacts, Settings
from loadstone.doctor.log_entry import Entry
from loadstone.doctor.model import Advice, Measure, Severity, Source, Subject
from loadstone.doctor.rules.base import setting_size
from loadstone.spec.base import Level


@dataclass(frozen=True)
class Message:
    """One kind of line in a log."""

    subject: Subject
    key: str
    pattern: str
    """Regular expression of how the message itself begins, letters of either case."""
    shown: str
    """The same as people know it."""
    severity: Severity
    source: Source
    why: str
    change: str
    risk: str
    measure: Measure | str
    least: int = 1
    """How many there must be."""
    raises: str | None = None
    """The setting of which four times the present value is compared with it."""
    codes: tuple[str, ...] = ()
    """SQLSTATE or error numbers of it, the same in any language."""
    by_code_alone: bool = True
    """Whether each of them means this and nothing else."""
    backend: str | None = None
    """The kind of process that it must come from to be told by its code alone."""

    @cached_property
    def _words(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.IGNORECASE)

    def is_told_by(self, entry: Entry) -> bool:
        """Whether an entry of the log is this message.

        Functions of PostgreSQL raise whatever words they like, but with another code.
        """
        if self._words.match(entry.text):
            same = entry.code is None or entry.code in self.codes
            return same or self.subject != "postgresql"
        told = self.by_code_alone and entry.code in self.codes
        return told and self.backend in (None, entry.backend)

    def advice(self, log: LogFacts, settings: Settings) -> Advice | None:
        """What the log's count of this message means."""
        found = log.messages.get(self.key)
        if found is None or found.count < self.least:
            return None
        rate = log.per_hour(self.key)
        often = f", {rate:.3g} an hour" if rate is not None else ""
        lines = "1 line" if found.count == 1 else f"{found.count} lines"
        return Advice(
            seen=f"{lines}{often} in {log.path}; the last: {found.last}",
            why=self.why,
            change=self.change,
            risk=self.risk,
            measure=self._measure(settings),
        )

    def _measure(self, settings: Settings) -> Measure | str:
        present = settings.number(self.raises) if self.raises else None
        if present is None or isinstance(self.measure, str):
            return self.measure
        more = int(4 * present)
        level: Level = setting_size(more) if self.subject == "postgresql" else more
        shown = settings.text(self.raises or "") or ""
        return replace(self.measure, levels=(int(shown) if shown.isdigit() else shown, level))


ELSEWHERE = "the load that leads to it is yours: nothing of Loadstone's own is like it"
"""Why there is no experiment."""
