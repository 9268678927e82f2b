"""A probe samples host, target or power on the trial's clock."""

from __future__ import annotations

from abc import ABC, abstractmethod

from loadstone.results.record import Notice, Wait
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse


class Probe(ABC):
    """Takes samples while load runs, in a thread that the conductor's sampler owns.

    Order of calls: `start`, then `sample` every `interval_s`, then `stop`; all in one thread.
    """

    name: str
    interval_s: float = 1.0
    part: str = ""
    """Of a system of several parts, the one that it is of; empty: no part."""

    @abstractmethod
    def start(self) -> None:
        """Opens what it reads and takes the first reading of its counters."""

    @abstractmethod
    def sample(self, t_s: float) -> list[Sample]:
        """Reads once.

        Args:
            t_s: Seconds on the trial's clock (0 is the driver's start).
        """

    @abstractmethod
    def stop(self) -> None:
        """Closes what it opened. Must work after a failed `start` too."""

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """What active sessions waited on, if this probe knows; most samples first.

        Args:
            from_s: Begin of the interval that counts, on the trial's clock.
            to_s: Its end.
        """
        return []

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """How far what it watches was used, of what can run out (`results.limits`).

        Args:
            from_s: Begin of the interval that counts, on the trial's clock.
            to_s: Its end.
        """
        return []

    def notices(self) -> list[Notice]:
        """What it found that a reader should know."""
        return []
