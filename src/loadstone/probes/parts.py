"""What each part of the system under test takes of the machine: processor time, memory, quota."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from loadstone.host.census import census, trees
from loadstone.host.process_memory import memory_bytes
from loadstone.probes.base import Probe
from loadstone.probes.part_processors import CpuReading, MostProcessors, processor_uses
from loadstone.probes.part_quotas import PartQuota, PartQuotas
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

PARTS_PROBE = "parts"
CPU, MEMORY, THROTTLED = "cpu_percent:", "memory_bytes:", "throttled_percent:"
"""What stands before the name of a part; 100 % is one processor."""
_MEMORY_SHARE = 0.01
"""Reading the memory may take so much of the time of one processor: larger systems less often."""

Trees = Mapping[int, Collection[int]]
"""First process of a part: with it, all that descend from it."""
FindParts = Callable[[], Mapping[str, Sequence[int]]]
"""Gives the first processes of each part that there are now, by the name of the part."""


@dataclass(frozen=True)
class PartMemory:
    """Of a part over a while, in bytes."""

    mean: float
    most: float


class PartsProbe(Probe):
    """Reads one table of all processes for all parts, once a second.

    The seconds of a part only grow: those of a server that was started again are added to those of
    the one before it, less what that used between the last reading and its end.
    """

    name = PARTS_PROBE

    def __init__(self, find: FindParts, most: MostProcessors = dict) -> None:
        """Reads nothing yet.

        Args:
            find: Finds the processes.
            most: How many processors parts can use, where that is bounded.
        """
        self._find = find
        self._most = most
        self._readings: list[CpuReading] = []
        self._lock = threading.Lock()
        self._counted: dict[str, float] = {}
        self._of_process: dict[int, float] = {}
        self._before: tuple[float, Mapping[str, float]] = (0.0, {})
        self._memory_due_s = 0.0
        self._memories: list[tuple[float, dict[str, float]]] = []
        self._quotas = PartQuotas()

    def start(self) -> None:
        """Takes the first reading."""
        self._before = time.monotonic(), self.cpu_s()

    def cpu_s(self) -> dict[str, float]:
        """Seconds of each part that were counted until now; any thread may ask.

        The difference of two readings counts.
        """
        pids = self._find()
        with self._lock:
            return self._count(pids)[1] if pids else {}

    def sample(self, t_s: float) -> list[Sample]:
        """Processor time since the sample before; memory as often as it may be read."""
        now_s, pids = time.monotonic(), self._find()
        if not pids:
            return []
        with self._lock:
            found, cpu_s = self._count(pids)
        (before_s, before), self._before = self._before, (now_s, cpu_s)
        self._readings.append(CpuReading(t_s, cpu_s))
        values = {
            f"{CPU}{part}": 100.0 * (used_s - before.get(part, 0.0)) / (now_s - before_s)
            for part, used_s in cpu_s.items()
        }
        values |= self._sample_memory(t_s, found, pids)
        quotas = self._quotas.sample(t_s, pids)
        values |= {f"{THROTTLED}{part}": percent for part, percent in quotas.items()}
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Nothing is left open."""

    # -- what was seen -------------------------------------------------------------------------
    def memory(self, part: str, from_s: float, to_s: float) -> PartMemory | None:
        """What a part held in memory in an interval of the trial; None if that was never read."""
        known = [(t_s, held[part]) for t_s, held in self._memories if part in held]
        within = [held for t_s, held in known if from_s <= t_s <= to_s]
        found = within or [held for t_s, held in known if t_s <= to_s][-1:]
        return PartMemory(sum(found) / len(found), max(found)) if found else None

    def quota(self, part: str, from_s: float, to_s: float) -> PartQuota | None:
        """How a part used its quota in an interval of the trial; None of one without a quota."""
        return self._quotas.over(part, from_s, to_s)

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """The processors of the parts that are bounded."""
        within = [each for each in self._readings if from_s <= each.t_s <= to_s]
        return processor_uses(within, self.quota, self._most())

    # -- inside --------------------------------------------------------------------------------
    def _count(self, pids: Mapping[str, Sequence[int]]) -> tuple[Trees, dict[str, float]]:
        """Adds what the processes have used since they were last looked at."""
        processes = census(disk=False)
        first = {pid for own in pids.values() for pid in own}
        families = trees(processes, first)
        now = {
            pid: sum(processes[key].cpu_s + processes[key].ended_s for key in own)
            for pid, own in families.items()
        }
        for part, own in pids.items():
            grown = sum(max(0.0, now[pid] - self._of_process.get(pid, 0.0)) for pid in own)
            self._counted[part] = self._counted.get(part, 0.0) + grown
        self._of_process = now
        found = {pid: [each for each, _ in own] for pid, own in families.items()}
        return found, {part: self._counted[part] for part in pids}

    def _sample_memory(
        self, t_s: float, found: Trees, pids: Mapping[str, Sequence[int]]
    ) -> dict[str, float]:
        if t_s < self._memory_due_s:
            return {}
        began = time.thread_time()
        of_tree = {pid: memory_bytes(tree) for pid, tree in found.items()}
        held = {part: float(sum(of_tree[pid] for pid in own)) for part, own in pids.items()}
        self._memory_due_s = t_s + (time.thread_time() - began) / _MEMORY_SHARE
        self._memories.append((t_s, held))
        return {f"{MEMORY}{part}": value for part, value in held.items()}
