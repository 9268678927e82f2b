"""The words of the doctor: a rule looks at facts and gives advice, which becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from loadstone.doctor.facts import Facts
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment

Subject = Literal["host", "postgresql", "mariadb", "sqlite", "superset"]
"""What a rule is about."""


class Severity(StrEnum):
    """How much a finding matters; the worst first."""

    DATA = "data"
    SPEED = "speed"
    LOOK = "look"
    NOTE = "note"

    @property
    def heading(self) -> str:
        """As people read it."""
        return _TITLES[self]

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Severity).index(self)


_TITLES = {
    Severity.DATA: "Risk to data",
    Severity.SPEED: "Likely speed loss",
    Severity.LOOK: "Look at it",
    Severity.NOTE: "Good to know",
}


@dataclass(frozen=True)
class Source:
    """Where a rule has its knowledge from."""

    title: str
    """The manual and its section."""
    url: str


@dataclass(frozen=True)
class Measure:
    """The comparison that shows what a change does here; the first level is the present one."""

    factor: str
    levels: tuple[Level, ...]
    why: str = ""
    """What the comparison can show, and what it cannot."""
    settings: Mapping[str, Level] = field(default_factory=dict)
    """Settings of all its trials, on top of those of the server that was looked at."""
    parameters: Mapping[str, Level] = field(default_factory=dict)
    """Parameters of the workload."""
    users: int = 8
    measure_s: float = 30.0
    cache: Literal["warm", "cold"] = "warm"
    metric: str | None = None
    crash: Literal["kill", "power-loss"] | None = None
    """Whether crash trials belong to it: where the question is what is lost."""


@dataclass(frozen=True)
class Advice:
    """What a rule has to say of the facts that it saw."""

    seen: str
    """The value, with its unit."""
    why: str
    """Why it matters here."""
    change: str
    """What to do, with the level computed for this machine and its formula."""
    risk: str
    """What the change may cost, durability included."""
    measure: Measure | str
    """The comparison, or why there is none."""


@dataclass(frozen=True)
class Rule:
    """One thing that the doctor looks for. It is pure: facts in, advice or nothing out."""

    subject: Subject
    name: str
    """Unique, as `postgresql.shared-buffers`."""
    about: str
    """What it looks for, in one line."""
    severity: Severity
    source: Source
    look: Callable[[Facts], Advice | None]

    @property
    def of_log(self) -> bool:
        """Whether it looks at the server's log."""
        return self.name.startswith(f"{self.subject}.log.")


@dataclass(frozen=True)
class Finding:
    """Advice of a rule, with the experiment that would measure it on this machine."""

    rule: Rule
    advice: Advice
    experiment: Experiment | None = None
    no_experiment: str | None = None
    """Why there is no experiment, if there is none."""
    left_out: tuple[str, ...] = ()
    """Settings of the server that the experiment's own server does not take."""
    unsafe: bool = False
    """The experiment needs `--allow-unsafe`."""
