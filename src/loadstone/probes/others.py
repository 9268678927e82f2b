"""What was taken from a trial while it was measured: by other programs, guests and quotas."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.census import Census, Key, census, family, grown
from loadstone.host.cgroup import Bounds, bounds_of
from loadstone.host.mounts import block_device
from loadstone.host.strain import strain
from loadstone.probes.base import Probe
from loadstone.probes.counted import Counted
from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.results.taken import Cause, Taken

OWN_CPU, OTHERS_CPU = "own_cpu_s", "others_cpu_s"
OWN_BYTES, OTHERS_BYTES = "own_bytes", "others_bytes"
PERIODS, USED_UP = "quota_periods", "quota_used_up"
STOLEN_CPU, BUSY, STALLED = "stolen_cpu_s", "device_busy_s", "stalled_memory_s"
"""Counters of `host.strain`."""
_CENSUS_SHARE = 0.01
"""Counting all processes may take so much of the time of one processor: more of them less often."""
_LATE_S = 0.1
"""A reading at a border is taken so much after it."""
_SLEWED = 0.0005
"""A clock that is led to the right time is moved by no more (adjtimex(2)): it is not set."""
_READ_S = 0.001
"""Two clocks are read one after the other."""
_MOST_NAMES = 3

FindOwn = Callable[[], Collection[int]]
"""Gives the first processes of the trial that there are now."""


@dataclass(frozen=True)
class _Used:
    """What a program of others used until a time, since the reading before."""

    t_s: float
    program: str
    cpu_s: float
    disk_bytes: float


class OthersProbe(Probe):
    """Counts what the trial and what others use of the machine, once a second and when it is asked.

    A process is the trial's own if it descends from one of its first processes, or did so once.

    Args:
        own: Finds the first processes of the trial; this one is always one. None: they cannot be
            told from others.
        data: A folder on the device that matters; None: there is none.
        bounds: Of this process; another in tests.
        proc: Where `/proc` is; another place in tests.
    """

    name = "host.others"

    def __init__(
        self,
        own: FindOwn | None = tuple,
        data: Path | None = None,
        *,
        bounds: Bounds | None = None,
        proc: Path = Path("/proc"),
    ) -> None:
        self._find: FindOwn = tuple if own is None else own
        self._apart = own is not None
        self._proc = proc
        self._device = block_device(data, proc) if data is not None else None
        self._bounds = bounds_of() if bounds is None else bounds
        self._lock = threading.Lock()
        self._own: set[Key] = set()
        self._before: Census = {}
        self._due = 0.0
        self._sums = dict.fromkeys((OWN_CPU, OTHERS_CPU, OWN_BYTES, OTHERS_BYTES), 0.0)
        self._machine, self._processes = Counted(), Counted()
        self._clocks: list[tuple[float, float, float]] = []
        """Time, how far the clock of the day is ahead, and how long the machine has slept."""
        self._used: list[_Used] = []
        self._hidden = False
        """The bytes of some processes may not be read."""
        self._processors = os.cpu_count() or 1
        self._told = {
            "own_cpu_percent": (OWN_CPU, 100.0 / self._processors),
            "others_cpu_percent": (OTHERS_CPU, 100.0 / self._processors),
            "own_disk_bytes_per_s": (OWN_BYTES, 1.0),
            "others_disk_bytes_per_s": (OTHERS_BYTES, 1.0),
        }

    def start(self) -> None:
        """Takes the first reading."""
        self._read(0.0)

    def sample(self, t_s: float) -> list[Sample]:
        """What happened since the reading before."""
        return self.look(t_s, whole=time.monotonic() >= self._due)

    def look(self, t_s: float, *, whole: bool = True) -> list[Sample]:
        """Takes a reading now, as at a border of a measured phase; any thread may ask.

        Args:
            t_s: On the trial's clock.
            whole: Processes are counted, too.
        """
        with self._lock:
            self._read(t_s, whole=whole)
            rates = self._processes.last_rates() if whole else {}
        values = {
            told: scale * rates[name] for told, (name, scale) in self._told.items() if name in rates
        }
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Nothing is left open."""

    def taken(self, from_s: float, to_s: float) -> list[Taken]:
        """What was taken in an interval of the trial, each cause that took anything.

        Args:
            from_s: Begin on the trial's clock.
            to_s: Its end.
        """
        with self._lock:
            rates = self._machine.rates(from_s, to_s) | self._processes.rates(from_s, to_s)
            found = [
                *self._processor_time(rates, from_s, to_s),
                *(self._disk(rates, from_s, to_s) if self._apart else ()),
                *_quota(rates),
                *_memory(rates),
                *self._clock(from_s, to_s),
            ]
        return [each for each in found if each.share > 0.0]

    def notices(self) -> list[Notice]:
        """What cannot be seen of others."""
        if not self._apart:
            return [
                Notice(
                    code="others-unseen",
                    severity="info",
                    message="the processes of the system under test cannot be told from other "
                    "programs of this machine: a trial that those disturb is not marked",
                    advice="run as root, or start the server outside of a container, to have it "
                    "marked",
                )
            ]
        if not self._hidden:
            return []
        return [
            Notice(
                code="others-unseen",
                severity="info",
                message="what programs of other users read and write cannot be seen: only root may",
                advice="a trial that they disturb on the disk counts all the same; run as root to "
                "have it marked",
            )
        ]

    # -- inside --------------------------------------------------------------------------------
    def _processor_time(
        self, rates: Mapping[str, float], from_s: float, to_s: float
    ) -> Iterator[Taken]:
        causes: list[tuple[Cause, str, str]] = [("steal", STOLEN_CPU, "other guests of this host")]
        if self._apart:
            causes.append(("processors", OTHERS_CPU, ""))
        for cause, name, whose in causes:
            used = rates.get(name, 0.0)
            who = whose or self._names(from_s, to_s, lambda each: each.cpu_s)
            evidence = f"{who} used {used:.2f} of {self._processors} processors"
            yield Taken(cause=cause, share=used / self._processors, evidence=evidence)

    def _disk(self, rates: Mapping[str, float], from_s: float, to_s: float) -> Iterator[Taken]:
        """Of the time in which the device was busy, others have as much as of the bytes."""
        busy, own, others = (rates.get(each, 0.0) for each in (BUSY, OWN_BYTES, OTHERS_BYTES))
        if others > 0.0:
            who = self._names(from_s, to_s, lambda each: each.disk_bytes)
            yield Taken(
                cause="disk",
                share=min(1.0, busy) * others / (own + others),
                evidence=f"{who} read and wrote {others / 1e6:.3g} MB/s, while the disk was busy "
                f"in {100 * min(1.0, busy):.0f} % of the time",
            )

    def _clock(self, from_s: float, to_s: float) -> Iterator[Taken]:
        within = [each for each in self._clocks if from_s <= each[0] <= to_s + _LATE_S]
        if len(within) < 2 or to_s <= from_s:
            return
        clock_s = [each[1] for each in within]
        moved_s = max(clock_s) - min(clock_s) - _SLEWED * (within[-1][0] - within[0][0])
        slept_s = within[-1][2] - within[0][2]
        found: list[tuple[Cause, float, str]] = [
            ("clock", moved_s, "the clock of this machine was set by {:.3g} s"),
            ("suspended", slept_s, "this machine slept for {:.3g} s"),
        ]
        for cause, seconds, what in found:
            share = max(0.0, seconds - _READ_S) / (to_s - from_s)
            yield Taken(cause=cause, share=min(1.0, share), evidence=what.format(seconds))

    def _names(self, from_s: float, to_s: float, used: Callable[[_Used], float]) -> str:
        """The programs of others that used most, in words."""
        sums: dict[str, float] = {}
        for each in self._used:
            if from_s < each.t_s <= to_s + _LATE_S:
                sums[each.program] = sums.get(each.program, 0.0) + used(each)
        names = sorted((name for name in sums if sums[name] > 0.0), key=lambda name: -sums[name])
        told = ", ".join(names[:_MOST_NAMES])
        return f"other programs ({told})" if told else "other programs"

    def _read(self, t_s: float, *, whole: bool = True) -> None:
        now = strain(self._device, self._proc)
        values = dict(now.values)
        self._clocks.append((t_s, now.clock_s, now.suspended_s))
        if self._bounds.cpu is not None:
            periods, used_up = self._bounds.cpu.periods()
            values |= {PERIODS: float(periods), USED_UP: float(used_up)}
        self._machine.add(t_s, values)
        if whole:
            began = time.thread_time()
            self._count(t_s)
            self._due = time.monotonic() + (time.thread_time() - began) / _CENSUS_SHARE

    def _count(self, t_s: float) -> None:
        now = census(self._proc)
        self._own = (self._own & now.keys()) | family(
            now, [os.getpid(), *self._find(), *(pid for pid, _ in self._own)]
        )
        for one, cpu_s, moved in grown(self._before, now) if self._before else ():
            if one.kernel:
                continue
            if one.key in self._own:
                self._sums[OWN_CPU] += cpu_s
                self._sums[OWN_BYTES] += moved
            else:
                self._sums[OTHERS_CPU] += cpu_s
                self._sums[OTHERS_BYTES] += moved
                self._hidden |= one.disk_bytes is None and os.geteuid() != 0
                if cpu_s or moved:
                    self._used.append(_Used(t_s, one.name, cpu_s, moved))
        self._before = now
        self._processes.add(t_s, dict(self._sums))


def _quota(rates: Mapping[str, float]) -> Iterator[Taken]:
    periods, used_up = rates.get(PERIODS, 0.0), rates.get(USED_UP, 0.0)
    if periods > 0.0:
        share = min(1.0, used_up / periods)
        evidence = f"the CPU quota was used up in {100 * share:.0f} % of its periods"
        yield Taken(cause="quota", share=share, evidence=evidence)


def _memory(rates: Mapping[str, float]) -> Iterator[Taken]:
    share = min(1.0, rates.get(STALLED, 0.0))
    evidence = f"some work stood still for want of memory in {100 * share:.1f} % of the time"
    yield Taken(cause="memory", share=share, evidence=evidence)
