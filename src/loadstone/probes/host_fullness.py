"""How full the machine was, from what the host probe has read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from statistics import fmean

from loadstone.results import limits
from loadstone.results.usage import ResourceUse

_STOLEN_PERCENT = 5.0
"""Above it other guests are named beside the processors."""
_IDLE, _IOWAIT, _STEAL = "cpu_idle_percent", "cpu_iowait_percent", "cpu_steal_percent"
_DISK, _MEMORY = "data_disk_busy_percent", "pressure_memory_full_percent"
_NAMES = (_IDLE, _IOWAIT, _STEAL, _DISK, _MEMORY)


class HostFullness:
    """Keeps the few series that tell whether the machine is full."""

    def __init__(self, processors: int | None = None) -> None:
        """Keeps nothing yet.

        Args:
            processors: Of the machine; another number in tests.
        """
        self._processors = processors or os.cpu_count() or 1
        self._known: list[tuple[float, dict[str, float]]] = []

    def note(self, t_s: float, values: Mapping[str, float]) -> None:
        """Takes the values of a second.

        Args:
            t_s: On the trial's clock.
            values: Metric of the host probe: value.
        """
        self._known.append((t_s, {name: values[name] for name in _NAMES if name in values}))

    def over(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Processors, memory and disk over an interval; nothing of what was never read."""
        within = [values for t_s, values in self._known if from_s <= t_s <= to_s]
        found = [self._processors_used(within), _memory(within), _disk(within)]
        return [each for each in found if each is not None]

    def _processors_used(self, within: Sequence[Mapping[str, float]]) -> ResourceUse | None:
        """Waiting for a disk is idle time: another process could have had it."""
        idle = _mean(within, _IDLE)
        if idle is None:
            return None
        used = max(0.0, 1.0 - (idle + (_mean(within, _IOWAIT) or 0.0)) / 100.0)
        evidence = f"{used * self._processors:.2f} of {self._processors} processors were busy"
        stolen = _mean(within, _STEAL) or 0.0
        if stolen > _STOLEN_PERCENT:
            evidence += f", {stolen / 100.0 * self._processors:.2f} of them with other guests"
        return limits.use_of(limits.HOST_PROCESSORS, used, evidence)


def _memory(within: Sequence[Mapping[str, float]]) -> ResourceUse | None:
    stalled = _mean(within, _MEMORY)
    if stalled is None:
        return None
    evidence = f"all work stood still for want of memory in {stalled:.1f} % of the time"
    return limits.use_of(limits.MEMORY, stalled / 100.0, evidence)


def _disk(within: Sequence[Mapping[str, float]]) -> ResourceUse | None:
    """A disk that takes many requests at a time may take more while it is never idle."""
    busy = _mean(within, _DISK)
    if busy is None:
        return None
    evidence = f"it had a request in work in {busy:.0f} % of the time"
    return limits.use_of(limits.DISK, busy / 100.0, evidence)


def _mean(within: Sequence[Mapping[str, float]], name: str) -> float | None:
    found = [values[name] for values in within if name in values]
    return fmean(found) if found else None
