"""What the loop asks of a workload and of its sessions. It knows nothing else of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

CONFLICT = "40001"
"""Class of a failure that may succeed when tried again."""
LOST = "connection"
"""Class of a failure after which a session needs a new connection: this one is lost."""
INVALIDATED = "duckdb_fatal"
"""Likewise: the engine has given up its database."""


class FailureError(Exception):
    """An attempt did not end well: why, and in which class it is counted."""

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(message)
        self.error_class = error_class
        self.message = message

    @property
    def is_retryable(self) -> bool:
        """Whether the same may succeed when tried again."""
        return self.error_class == CONFLICT

    @property
    def is_fatal(self) -> bool:
        """Whether the connection is of no use any more."""
        return self.error_class in {LOST, INVALIDATED}


class Ending(Enum):
    """How an operation ended that did not fail."""

    DONE = "done"
    IDLE = "idle"
    """There was nothing to do: it is not recorded."""
    EXHAUSTED = "exhausted"
    """The session has no more work."""


@dataclass(frozen=True)
class Outcome:
    """How an operation ended.

    Its time may count from another moment than it was due, and to another than its attempt ended.
    """

    ending: Ending
    since_ns: int | None = None
    """It counts as due and begun then."""
    first_ns: int | None = None
    """It counts as due and begun then at the latest: an operation before it failed to do it."""
    until_ns: int | None = None
    """It counts as done then."""


DONE = Outcome(Ending.DONE)
IDLE = Outcome(Ending.IDLE)
EXHAUSTED = Outcome(Ending.EXHAUSTED)


@dataclass(frozen=True)
class WorkloadEvent:
    """An event of the workload's own, as a segment switch."""

    name: str
    data: Mapping[str, float | str]


class Session(ABC):
    """One user's conversation with the engine. It lives on its user's thread."""

    @property
    def hurries(self) -> bool:
        """Whether what is next is due as soon as the last operation has ended."""
        return False

    @abstractmethod
    def choose(self) -> str:
        """Draws what this user does next, with inputs that stay when it is tried again."""

    @abstractmethod
    def execute(self, operation: str) -> Outcome:
        """Makes one attempt.

        Raises:
            FailureError: It did not end well.
        """

    def workload_events(self) -> Sequence[WorkloadEvent]:
        """Its events since the last operation; asked after each."""
        return ()

    def reconnect(self) -> None:  # noqa: B027 - most have none
        """Replaces a lost connection.

        Raises:
            FailureError: There is none yet.
        """

    def close(self) -> None:  # noqa: B027 - most need no farewell
        """Says goodbye to the engine."""


class Workload(ABC):
    """A workload's operations, and what its sessions share."""

    @property
    @abstractmethod
    def operations(self) -> Sequence[str]:
        """Names of the operations."""

    @property
    def engine(self) -> str:
        """Name and version of the engine in this process; empty: it is elsewhere."""
        return ""

    @abstractmethod
    def open(self, user: int) -> Session:
        """Opens the session of a user.

        Raises:
            FailureError: The engine does not.
        """

    def turn(self, phase: int) -> None:  # noqa: B027 - most do the same in each
        """A phase of the plan begins; said by the main thread before any user learns of it."""

    def engine_cpu_s(self) -> float:
        """Processor time that the engine has used so far; asked by the main thread."""
        return 0.0

    def counters(self) -> Mapping[str, int]:
        """Counts of its own since the start; ticks tell their growth."""
        return {}

    def gauges(self) -> Mapping[str, float]:
        """Figures of its own as they are now."""
        return {}

    def facts(self) -> Mapping[str, float]:
        """Figures of its own for the `end` frame."""
        return {}

    def hurry(self) -> None:  # noqa: B027 - most are quick
        """The run is to end: whatever takes long is broken off."""

    def close(self) -> None:  # noqa: B027 - most have nothing open
        """Lets go of the engine, once no session uses it."""
