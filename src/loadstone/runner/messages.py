"""What reaches the main thread while a run goes on."""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue

from loadstone.runner.session import WorkloadEvent


@dataclass(frozen=True)
class Stop:
    """A reason to stop."""

    reason: str


@dataclass(frozen=True)
class Begin:
    """Begin the first phase, of a run that waits to be told."""

    monotonic_s: float


@dataclass(frozen=True)
class SetUsers:
    """Another number of users from now on."""

    users: int


@dataclass(frozen=True)
class SetRate:
    """Another rate from now on."""

    rate_per_s: float


@dataclass(frozen=True)
class DriverEvent:
    """An event of the runner itself, which becomes a frame; of errors, the first of a class."""

    kind: str
    detail: str
    error_class: str | None = None


@dataclass(frozen=True)
class Opened:
    """A user has its session, or a text says why not."""

    problem: str | None = None


@dataclass(frozen=True)
class OperationFailed:
    """The first operation of a phase that did not end well."""

    phase: int
    operation: str
    error_class: str
    message: str


@dataclass(frozen=True)
class Broken:
    """A user's thread met a fault of the runner itself."""

    trace: str


@dataclass(frozen=True)
class Changed:
    """Something changed on the board that the main thread looks at."""


Message = (
    Stop
    | Begin
    | SetUsers
    | SetRate
    | DriverEvent
    | WorkloadEvent
    | Opened
    | OperationFailed
    | Broken
    | Changed
)
Inbox = SimpleQueue[Message]
"""Its `put` may also be called by a signal handler."""
