"""A meter: what is read to know the power of a system, or of a part of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.results.record import Notice
from loadstone.spec.meters import MACHINE_ROOT, MeterBase, Scope

REAL_ROOT = Path(MACHINE_ROOT)
"""Root of the tree that sysfs and procfs are read below. Any other makes figures simulated."""

SpecT = TypeVar("SpecT", bound=MeterBase)


class MeterError(TargetError):
    """A meter that was asked for cannot be read; the message says why this machine has not got it.

    What it is raised for ends an experiment before its first trial.
    """


@dataclass(frozen=True)
class Channel:
    """One series of a meter: a zone, a sensor, an input."""

    name: str
    scope: Scope
    form: Literal["counter", "gauge"]
    """`counter`: joules that count up. `gauge`: watts."""
    range_j: float | None = None
    """Of a counter: where it begins again at 0. None: not known, or it never does."""
    most_w: float | None = None
    """The highest power that can be, if the machine says it: tells a wrap from a reset."""
    mean_over_s: float = 0.0
    """Of a gauge: each value is the mean of so many seconds before its arrival; 0: of a moment."""
    accuracy_percent: float | None = None
    simulated: bool = False
    estimated: bool = False
    parts_of: str = ""
    """The channel that contains this one, to which it is never added."""
    same_as: str = ""
    """The channel that is the same counter seen another way: this one is not counted."""
    die_of: str = ""
    """The package of which this is a die: dies may show one counter for all of them."""


@dataclass(frozen=True)
class Reading:
    """What was read once of a channel."""

    channel: str
    t_s: float
    """`time.monotonic()` at the middle of the read, or when the value arrived."""
    value: float
    """Joules of a counter, watts of a gauge."""
    invalid: str = ""
    """Why it is no reading; then the value means nothing."""
    of_s: float | None = None
    """The source's own stamp, put on the clock of `time.monotonic()`."""


@dataclass(frozen=True)
class Found:
    """A channel that this machine has, or the reason why it has none of the kind."""

    kind: str
    channel: str = ""
    scope: Scope | None = None
    what: str = ""
    """What it is, for people."""
    missing: str = ""
    """Why it cannot be read; empty: it can."""
    twin_of: str = ""
    """The channel that is the same counter."""


class Meter(ABC, Generic[SpecT]):
    """Reads power of one kind, in one thread.

    Order of calls: `open`, then `read` every `interval_s` seconds, then `close`.
    """

    kind: ClassVar[str]
    machine_wide: ClassVar[frozenset[Scope]] = frozenset()
    """Scopes of which its channels together are all that the machine has: as the experiment's
    meter it adds them without being told. Of any other scope a sum must be stated."""

    def __init__(self, spec: SpecT, root: Path = REAL_ROOT) -> None:
        """Takes what the experiment says of it; nothing is opened yet.

        Args:
            spec: Of this kind.
            root: What it reads of sysfs and procfs lies below.
        """
        self.spec = spec
        self.root = root

    @classmethod
    @abstractmethod
    def found(cls, root: Path) -> list[Found]:
        """What this machine has of the kind, or one line that says why not. Changes nothing."""

    @abstractmethod
    def open(self, journal: Journal) -> None:
        """Makes ready to read.

        Args:
            journal: What it changes of a meter stands there first, with the way back.

        Raises:
            MeterError: If it cannot be read; with the reason.
        """

    @abstractmethod
    def channels(self) -> Sequence[Channel]:
        """Its channels, those that the experiment names only; known once it is open."""

    @abstractmethod
    def read(self) -> list[Reading]:
        """Reads each channel once, or takes what has arrived since the last time.

        Raises:
            MeterError: If it has died: no more readings will come.
        """

    @abstractmethod
    def close(self) -> None:
        """Puts back what it changed. Must work after a failed `open` too."""

    def lacks(self, scope: Scope) -> str:
        """Why its channels of a scope are not all that the machine has of it; empty: they are."""
        return ""

    def notices(self) -> list[Notice]:
        """What it found that a reader should know."""
        return []

    def helpers(self) -> Sequence[int]:
        """Ids of the programs of its own that run on: what they use is the lab's."""
        return ()

    @property
    def name(self) -> str:
        """What the results call it."""
        return self.spec.name

    @property
    def interval_s(self) -> float:
        """Time from one `read` to the next; shorter than `spec.every` to see what arrives."""
        return self.spec.every

    @property
    def simulated(self) -> bool:
        """Whether it reads another tree than that of this machine."""
        return self.root != REAL_ROOT


AnyMeter = Meter[Any]
"""A meter of whatever kind."""
