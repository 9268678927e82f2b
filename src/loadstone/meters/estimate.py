"""No meter: watts on a straight line between idle and full load, by the processors' busy share.

The line is the simplest model of a server's power (Fan, Weber, Barroso: Power provisioning for a
warehouse-sized computer, ISCA 2007). It knows nothing of frequency, memory or disks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadstone.host.proc import CpuTimes, parse_stat
from loadstone.journal import Journal
from loadstone.meters.base import REAL_ROOT, Channel, Found, MeterError
from loadstone.meters.polled import PolledMeter, Value
from loadstone.spec.meters import EstimateSpec

CHANNEL = "model"
_STAT = "proc/stat"


def busy_share(before: CpuTimes, now: CpuTimes) -> float | None:
    """Share of the processors' time between two readings in which they worked, 0 to 1.

    Waiting for a disk is idle; time that a hypervisor gave to others is in the whole only.

    Returns:
        None if no time has passed.
    """
    whole = now.total - before.total
    worked = now.user + now.system - before.user - before.system
    return min(max(worked / whole, 0.0), 1.0) if whole > 0 else None


class EstimateMeter(PolledMeter[EstimateSpec]):
    """Works watts out; every figure of it is marked."""

    kind = "estimate"

    def __init__(self, spec: EstimateSpec, root: Path = REAL_ROOT) -> None:
        super().__init__(spec, root)
        self._before: CpuTimes | None = None

    @classmethod
    def found(cls, root: Path) -> list[Found]:
        """It is never used unasked."""
        missing = "state its model: idle_watts and full_watts; every figure is marked estimated"
        return [Found(cls.kind, CHANNEL, "wall", missing=missing)]

    def prepare(self, journal: Journal) -> Sequence[Channel]:
        """Reads the counters of the processors a first time."""
        self._before = self._times()
        every_s = self.spec.every
        return [Channel(CHANNEL, self.spec.scope, "gauge", mean_over_s=every_s, estimated=True)]

    def ask(self) -> Sequence[Value]:
        """Watts over the time since the last reading; nothing if none of it was counted."""
        before, now = self._before, self._times()
        share = None if before is None else busy_share(before, now)
        if share is None:
            return []
        self._before = now
        spec = self.spec
        return [Value(CHANNEL, spec.idle_watts + share * (spec.full_watts - spec.idle_watts))]

    def close(self) -> None:
        """Nothing is open."""

    def _times(self) -> CpuTimes:
        path = self.root / _STAT
        try:
            return parse_stat(path.read_text()).cpu
        except OSError as error:
            raise MeterError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise MeterError(f"{path} cannot be read: {error}") from None
