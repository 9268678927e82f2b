"""A power meter in a trial: read in a thread of its own, and all that it said is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from loadstone.meters.base import AnyMeter, Channel, MeterError, Reading
from loadstone.meters.counters import ASSUMED_MOST_W
from loadstone.meters.series import Series
from loadstone.meters.twins import twin_notices
from loadstone.probes.base import Probe
from loadstone.results.record import Notice
from loadstone.results.sample import Sample

METER_PROBE = "meter"
"""How the names of all probes of meters begin: `meter.pdu`."""
WATTS = "watts:"
"""What stands before the names of meter and channel."""


class MeterProbe(Probe):
    """Reads a meter that is open.

    A meter that dies is no failure of the trial: its readings end there, and it is told.

    Args:
        meter: Open; whoever opened it closes it.
        clock_s: The trial's clock.
    """

    def __init__(self, meter: AnyMeter, clock_s: Callable[[], float]) -> None:
        self.name = f"{METER_PROBE}.{meter.name}"
        self.interval_s = meter.interval_s
        self.meter = meter
        self.origin_s = time.monotonic() - clock_s()
        """The trial's clock has 0 there, by `time.monotonic()`."""
        self.died = ""
        """Why no more readings came, if so."""
        self.series = {each.name: Series(each, meter.spec.every) for each in meter.channels()}
        self._last: dict[str, Reading] = {}

    def start(self) -> None:
        """Takes the first readings."""
        self._take()

    def sample(self, t_s: float) -> list[Sample]:
        """What has come: watts of a gauge, and of a counter those since the reading before."""
        found = []
        for reading in self._take():
            channel = self.series[reading.channel].channel
            watts = _watts(channel, self._last.get(reading.channel), reading)
            if not reading.invalid:
                self._last[reading.channel] = reading
            if watts is not None:
                metric = f"{WATTS}{self.meter.name} {reading.channel}"
                found.append(Sample(reading.t_s - self.origin_s, self.name, metric, watts))
        return found

    def stop(self) -> None:
        """Takes the last readings, which lie behind the load's end; the meter stays open."""
        self._take()

    def notices(self) -> list[Notice]:
        """What the meter found, and that it died."""
        twins = twin_notices(self.meter.name, self.meter.channels(), self.series.values())
        found = [*self.meter.notices(), *twins]
        if self.died:
            found.append(
                Notice(
                    code="meter-died",
                    severity="warning",
                    message=f"meter {self.meter.name} gave no more readings: {self.died}",
                    advice="what was measured after that has no watts; put the meter right and "
                    "repeat the trial",
                )
            )
        return found

    def _take(self) -> Sequence[Reading]:
        if self.died:
            return ()
        try:
            readings = [each for each in self.meter.read() if each.channel in self.series]
        except MeterError as error:
            self.died = error.message.removeprefix(f"the meter {self.meter.name} ")
            return ()
        for reading in readings:
            self.series[reading.channel].append(reading)
        return readings


def _watts(channel: Channel, before: Reading | None, now: Reading) -> float | None:
    """What a chart shows of a reading; None where it tells no power, as after a reset."""
    if now.invalid:
        return None
    if channel.form == "gauge":
        return now.value
    if before is None or now.t_s <= before.t_s:
        return None
    rise_j = now.value - before.value
    if rise_j < 0 and channel.range_j is not None:
        rise_j += channel.range_j
    watts = rise_j / (now.t_s - before.t_s)
    return watts if 0 <= watts <= 2 * (channel.most_w or ASSUMED_MOST_W) else None
