"""A network meter of SPEC's kind: samples at the plug, placed by their arrival.

The meter's own stamps are late, an hour off, or have day and month swapped. They are told as a lag
where they can be right, and used for nothing else.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.journal import Entry, Journal
from loadstone.meters import network_lines as lines
from loadstone.meters.base import REAL_ROOT, Channel, Found, Meter, MeterError, Reading
from loadstone.meters.network_client import (
    UNDO,
    LostError,
    NetworkClient,
    UnwillingError,
    place_of,
    set_ranges,
)
from loadstone.results.record import Notice
from loadstone.spec.meters import NetworkMeterSpec

FIRST_S = 5.0
"""So long, and two intervals, a meter may take for its first sample."""
MOST_LAG_S = 60.0
"""A larger difference between stamp and arrival is a clock that is wrong."""
_RANGES_EVERY = 30
"""Readings from one look at the ranges to the next."""
_LOOK_S = 0.02
_LOOKS = 4
"""Times that it is asked in an interval: the arrival of a sample is known as well as that."""
_LATE_SHARE = 0.7
"""Of an interval: so late such meters may deliver a sample (0.6 s of 1 s were seen)."""


@dataclass
class _Told:
    """What a reader of the results should know."""

    automatic: bool = False
    uncertainty_percent: float | None = None
    errors: int = 0
    too_small: int = 0
    unreadable: int = 0
    older: int = 0
    was_measuring: bool = False
    lost: int = 0
    died: str = ""


class NetworkMeter(Meter[NetworkMeterSpec]):
    """Takes the samples of such a meter, over all its channels."""

    kind = "network"

    def __init__(self, spec: NetworkMeterSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._client: NetworkClient | None = None
        self._journal: Journal | None = None
        self._entry: Entry | None = None
        self._channels: list[Channel] = []
        self._told = _Told()
        self._last_s = 0.0
        self._fresh = False
        """Connected anew, and no sample since."""
        self._reads = 0

    @property
    def interval_s(self) -> float:
        """It is asked more often than it has samples, so that their arrival is known."""
        return max(self.spec.every / _LOOKS, _LOOK_S / 2)

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """Nothing of this machine says where such a meter is."""
        return [Found(cls.kind, scope="wall", missing="name its address: address: HOST:PORT")]

    def open(self, journal: Journal) -> None:
        """Connects, sets ranges if any were asked for, and waits for the first sample."""
        host, port = place_of(self.spec.address)
        self._journal = journal
        self._client = client = NetworkClient(host, port)
        client.identity()
        self._set_ranges(client, (host, port))
        self._look_at_ranges(self._client)
        self._begin(self._client)
        self._channels = self._named(self._first(self._client))
        self._look_at_uncertainty(self._client)

    def channels(self) -> Sequence[Channel]:
        """The whole meter (`sum`), and its channels as parts of it.

        A sample is of an interval that ended some time before it was seen: it counts for a level
        only if all of that time lies within.
        """
        percent = self.spec.accuracy or self._told.uncertainty_percent
        return [replace(channel, accuracy_percent=percent) for channel in self._channels]

    def read(self) -> list[Reading]:
        """Takes the samples that were unread, each placed by its arrival.

        Several at once are set back by the meter's interval, never before those that came earlier.
        """
        if self._told.died or self._client is None:
            raise MeterError(self._told.died or f"the meter {self.name} is not open")
        samples = self._unread()
        arrived_s, now = time.monotonic(), datetime.now()
        if not samples:
            return []
        step_s = min(self.spec.every, max(0.0, arrived_s - self._last_s) / len(samples))
        found: list[Reading] = []
        for back, sample in zip(range(len(samples) - 1, -1, -1), samples, strict=True):
            t_s = arrived_s - back * step_s
            found += self._readings(sample, t_s, (arrived_s, now))
        self._last_s, self._fresh = arrived_s, False
        self._look_now_and_then()
        return found

    def close(self) -> None:
        """Ends the measurement, and puts back the ranges that were found."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(MeterError):
                self._end(client)
            client.close()
        entry, self._entry = self._entry, None
        if entry is not None and self._journal is not None:
            self._journal.undo(entry)

    def notices(self) -> list[Notice]:
        """Ranges, uncertainty, and what went wrong."""
        return [
            Notice(code=code, severity="warning", message=f"meter {self.name} {said}", advice=do)
            for code, said, do in _notices(self._told)
        ]

    # -- inside --------------------------------------------------------------------------------
    def _set_ranges(self, client: NetworkClient, place: tuple[str, int]) -> None:
        """Sets what was asked for; what was found stands in the journal first."""
        asked = {"A": self.spec.amps, "V": self.spec.volts}
        wanted = {which: f"{most:g}" for which, most in asked.items() if most is not None}
        if not wanted or self._journal is None:
            return
        ranges = client.ranges()
        found = {"A": ranges.amps.setting, "V": ranges.volts.setting}
        settings = {which: found[which] for which in wanted}
        unknown = [which for which, setting in settings.items() if setting is None]
        if unknown:
            raise MeterError(
                f"the meter {self.name} does not say its range {unknown[0]}: it could not be put "
                "back",
                advice="set the range at the meter itself, and leave amps and volts out",
            )
        self._entry = self._journal.before(
            f"set ranges of the meter at {client.place} (they are {_shown(settings)})",
            UNDO,
            host=place[0],
            port=place[1],
            settings=settings,
        )
        client.close()
        set_ranges(*place, wanted)
        self._client = NetworkClient(*place)

    def _begin(self, client: NetworkClient) -> None:
        """Starts to measure, and leaves out what was unread before."""
        try:
            client.go(self.spec.every)
        except UnwillingError:
            if not client.stop():
                raise
            self._told.was_measuring |= not self._told.lost
            client.go(self.spec.every)
        self._told.older += len(client.unread())
        self._last_s, self._fresh = time.monotonic(), True

    def _first(self, client: NetworkClient) -> lines.MeterSample:
        """The first sample that can be read: it tells which channels there are."""
        allowed_s = FIRST_S + 2 * self.spec.every
        until = time.monotonic() + allowed_s
        while time.monotonic() < until:
            unread = client.unread()
            samples = [each for each in unread if isinstance(each, lines.MeterSample)]
            if samples:
                self._last_s, self._fresh = time.monotonic(), False
                return samples[-1]
            time.sleep(min(_LOOK_S, self.spec.every))
        raise MeterError(f"the meter at {client.place} gave no sample within {allowed_s:g} s")

    def _named(self, sample: lines.MeterSample) -> list[Channel]:
        there = [each.channel for each in sample.channels]
        missing = [each for each in self.spec.channels if each not in there]
        if missing:
            raise WrongInputError(
                f"the meter {self.name} has no channel {missing[0]!r}",
                advice=f"it has {', '.join(there)}",
            )
        return [
            Channel(
                name=name,
                scope=self.spec.scope,
                form="gauge",
                mean_over_s=self.spec.every * (1 + _LATE_SHARE) + self.interval_s,
                simulated=self.simulated,
                parts_of="" if name == lines.SUM else lines.SUM,
            )
            for name in self.spec.channels or there
        ]

    def _unread(self) -> list[lines.MeterSample | lines.LineError]:
        """What is unread; after a loss of the connection nothing, once.

        Raises:
            MeterError: If the meter is lost again before it gave a sample.
        """
        assert self._client is not None  # noqa: S101 - read() has looked
        try:
            return self._client.unread()
        except (LostError, UnwillingError) as error:
            if self._fresh:
                raise self._dead(error) from error
        self._told.lost += 1
        self._client.close()
        try:
            self._client = NetworkClient(*place_of(self.spec.address))
            self._begin(self._client)
        except MeterError as error:
            raise self._dead(error) from error
        return []

    def _dead(self, error: MeterError) -> MeterError:
        self._told.died = f"has died: {error.message}"
        return MeterError(f"the meter {self.name} {self._told.died}")

    def _readings(
        self, sample: lines.MeterSample | lines.LineError, t_s: float, now: tuple[float, datetime]
    ) -> Iterator[Reading]:
        """Of one sample; a line that cannot be read is an invalid reading of every channel.

        Args:
            sample: Or what is wrong with the line.
            t_s: Where it is placed.
            now: The moment of arrival, on the monotonic and on the local clock.
        """
        if isinstance(sample, lines.LineError):
            self._told.unreadable += 1
            for channel in self._channels:
                yield Reading(channel.name, t_s, 0.0, invalid=str(sample))
            return
        lag_s = lines.lag_s(sample.times, now[1], MOST_LAG_S)
        of_s = None if lag_s is None else now[0] - lag_s
        self._told.too_small += any(each.too_small for each in sample.channels)
        wanted = {channel.name for channel in self._channels}
        for each in sample.channels:
            if each.channel in wanted:
                yield Reading(each.channel, t_s, each.watts, invalid=each.invalid, of_s=of_s)

    def _end(self, client: NetworkClient) -> None:
        """Asks for what is known at the end only, and ends the measurement."""
        if self._told.died:
            return
        self._look_at_ranges(client)
        self._look_at_uncertainty(client)
        self._told.errors = client.statistic("Watts").errors
        client.stop()

    def _look_now_and_then(self) -> None:
        self._reads += 1
        if self._reads % _RANGES_EVERY == 0 and self._client is not None:
            with contextlib.suppress(MeterError):
                self._look_at_ranges(self._client)

    def _look_at_ranges(self, client: NetworkClient) -> None:
        ranges = client.ranges()
        self._told.automatic |= bool(ranges.amps.automatic or ranges.volts.automatic)

    def _look_at_uncertainty(self, client: NetworkClient) -> None:
        with contextlib.suppress(UnwillingError):  # older meters cannot tell it
            average = client.statistic("Uncertainty").average
            self._told.uncertainty_percent = lines.percent(average)


def _shown(settings: dict[str, str | None]) -> str:
    return ", ".join(f"{which} {setting}" for which, setting in settings.items())


def _notices(told: _Told) -> Iterator[tuple[str, str, str]]:
    """Code, what was seen, what to do."""
    if told.automatic:
        yield (
            "meter-ranging",
            "chooses its range by itself while it measures",
            "state amps and volts: SPEC's rules allow no automatic range in a measurement",
        )
    uncertain = told.uncertainty_percent
    if uncertain is not None and uncertain > lines.LIMIT_PERCENT:
        yield (
            "meter-uncertain",
            f"tells an uncertainty of {uncertain:.3g} %, above {lines.LIMIT_PERCENT:g} %",
            "state ranges that fit the load: a range that is too wide is uncertain",
        )
    if told.too_small:
        yield (
            "meter-range-too-small",
            f"gave {told.too_small} samples with a negative power: its range is too small",
            "state a higher amps",
        )
    if told.unreadable:
        yield "meter-lines", f"sent {told.unreadable} lines that are no samples", ""
    if told.errors:
        yield "meter-errors", f"counts {told.errors} errors of its own", ""
    if told.older:
        yield "meter-older", f"had {told.older} samples from before: they are left out", ""
    if told.was_measuring:
        yield (
            "meter-was-measuring",
            "was measuring already: that measurement was ended",
            "see who else uses it",
        )
    if told.lost:
        yield "meter-lost", f"was lost {told.lost} times, and connected again", ""
