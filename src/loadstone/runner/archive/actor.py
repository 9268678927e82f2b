"""What a user of the archive does."""

from __future__ import annotations

from abc import ABC, abstractmethod

from loadstone.runner.database import Link
from loadstone.runner.session import Outcome, WorkloadEvent


class Actor(ABC):
    """The part of a session that is its role's."""

    def __init__(self) -> None:
        self.workload_events: list[WorkloadEvent] = []
        """Events since the last operation."""
        self.hurries = False
        """Whether what is next is due as soon as the last operation has ended."""

    @abstractmethod
    def choose(self) -> str:
        """What is to be done next."""

    @abstractmethod
    def execute(self, link: Link, operation: str) -> Outcome:
        """Makes one attempt.

        Raises:
            FailureError: The engine's.
        """

    def stop(self) -> None:  # noqa: B027 - most have nothing to end
        """Nothing is done after this."""
