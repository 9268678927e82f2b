"""What the doctor asks of every server that it has looked at, whatever its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from loadstone.doctor.facts import LogFacts, ProcessFacts
    from loadstone.spec.base import Level


class ServerFacts(ABC):
    """A server, or a file in the place of one: running, or planned by an experiment."""

    subject: ClassVar[str]
    """Of the rules about it; the engine of its experiments."""
    has_process: ClassVar[bool] = True
    """It is a process, with limits and a log of its own."""
    local: bool = True
    """Whether it runs on this machine, so that the host's facts are its own."""
    process: ProcessFacts | None = None
    log: LogFacts | None = None

    @property
    @abstractmethod
    def title(self) -> str:
        """Name and version, or the path."""

    @property
    @abstractmethod
    def size_bytes(self) -> int | None:
        """Of its data."""

    @property
    def is_planned(self) -> bool:
        """Whether an experiment plans it, and nothing runs."""
        return False

    @abstractmethod
    def folder(self) -> Path | None:
        """Where its data lie on this machine, if it may be known."""

    @abstractmethod
    def carried(self, names: Sequence[str]) -> dict[str, Level]:
        """Those of its settings that somebody has chosen, for an experiment on one like it.

        Args:
            names: Of settings that decide performance.
        """

    def doubts(self) -> tuple[str, ...]:
        """What of it could not be seen to the end."""
        return ()
