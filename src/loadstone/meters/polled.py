"""What meters that are programs, files and controllers have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.journal import Journal
from loadstone.meters.base import REAL_ROOT, Channel, Meter, MeterError, Reading, SpecT
from loadstone.results.record import Notice

GIVE_UP_AFTER = 3
"""Questions in a row without an answer: then the meter has died."""
SLOW_S = 0.5
"""An answer that takes longer on average, and longer than the interval, is told."""


@dataclass(frozen=True)
class Value:
    """What was answered of a channel: watts or joules; `invalid` is why it is none."""

    channel: str
    value: float = 0.0
    invalid: str = ""


class ToldMeter(Meter[SpecT]):
    """A meter whose channels are what it tells at first.

    It keeps to those that the experiment names, and counts what is no reading.
    """

    def __init__(self, spec: SpecT, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._channels: Sequence[Channel] = ()
        self._invalid: Counter[str] = Counter()

    @abstractmethod
    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Makes it ready, and hears a first time what it tells.

        Args:
            journal: For what is started and goes on.

        Returns:
            All channels that it has.

        Raises:
            MeterError: If this machine has not got it; with the reason.
        """

    def open(self, journal: Journal) -> None:
        """Hears it a first time.

        Raises:
            WrongInputError: If the experiment names a channel that it has not got.
        """
        there = self.prepare(journal)
        names = [channel.name for channel in there]
        missing = [name for name in (*self.spec.channels, *self.spec.sum) if name not in names]
        if missing:
            raise WrongInputError(
                f"the meter {self.name} has no channel {missing[0]!r}",
                advice=f"it has {', '.join(names)}",
            )
        wanted = self.spec.channels or names
        self._channels = [
            replace(
                channel,
                simulated=self.simulated,
                accuracy_percent=self.spec.accuracy or channel.accuracy_percent,
            )
            for channel in there
            if channel.name in wanted
        ]

    def channels(self) -> Sequence[Channel]:
        """Those that are read."""
        return self._channels

    def notices(self) -> list[Notice]:
        """What was no reading."""
        return [
            self.notice("meter-invalid", f"gave {count} readings that are none: {why}")
            for why, count in self._invalid.most_common()
        ]

    def kept(self, readings: Iterable[Reading]) -> list[Reading]:
        """Readings of the channels that are wanted; those that are none are counted."""
        wanted = {channel.name for channel in self._channels}
        found = [each for each in readings if each.channel in wanted]
        self._invalid.update(each.invalid for each in found if each.invalid)
        return found

    def notice(self, code: str, said: str, advice: str = "") -> Notice:
        """A warning about this meter."""
        return Notice(
            code=code, severity="warning", message=f"meter {self.name} {said}", advice=advice
        )


class PolledMeter(ToldMeter[SpecT]):
    """A meter that is asked at each reading, and may take its time or fail once."""

    def __init__(self, spec: SpecT, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._failures = 0
        self._took_s: list[float] = []

    @abstractmethod
    def ask(self) -> Sequence[Value]:
        """Asks once.

        Raises:
            MeterError: If there is no answer.
        """

    def read(self) -> list[Reading]:
        """Each answer is placed in the middle of the time that it took.

        A question without an answer is an invalid reading of every channel.
        """
        began_s = time.monotonic()
        try:
            values = self.ask()
        except MeterError as error:
            self._failures += 1
            if self._failures >= GIVE_UP_AFTER:
                raise MeterError(f"the meter {self.name} has died: {error.message}") from error
            values = [Value(each.name, invalid=error.message) for each in self._channels]
        else:
            self._failures = 0
        ended_s = time.monotonic()
        self._took_s.append(ended_s - began_s)
        t_s = (began_s + ended_s) / 2
        return self.kept(Reading(each.channel, t_s, each.value, each.invalid) for each in values)

    def notices(self) -> list[Notice]:
        """Also answers that took long."""
        found = super().notices()
        mean_s = sum(self._took_s) / len(self._took_s) if self._took_s else 0.0
        if mean_s > max(SLOW_S, self.spec.every):
            found.append(
                self.notice(
                    "meter-slow",
                    f"took {mean_s:.1f} s for an answer on average, and {max(self._took_s):.1f} s "
                    f"at most: one every {self.spec.every:g} s was asked for",
                    "make levels longer, or take another meter",
                )
            )
        return found
