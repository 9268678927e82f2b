"""What bounded the machine while load ran: a quota of processor time, a limit of memory."""

from __future__ import annotations

from typing import Literal

from loadstone.host.cgroup import Bounds, bounds_of
from loadstone.probes.base import Probe
from loadstone.results import limits
from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

THROTTLED = "cgroup_throttled_percent"
MEMORY = "cgroup_memory_bytes"
THROTTLED_WARNING_PERCENT = 1.0


class BoundsProbe(Probe):
    """Reads the counters of the control groups that bound this process, once a second.

    The load generator runs in them, and so does a server that Loadstone has started: what uses up
    the quota stands still until the next period, the generator too.

    Args:
        bounds: Of this process; another in tests.
    """

    name = "host.cgroup"

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds_of() if bounds is None else bounds
        self._periods: list[tuple[float, int, int]] = []
        """Time, and how many periods and throttled ones there were since the time before."""
        self._before = (0, 0)
        self._reached = self._killed = self._reached_before = self._killed_before = 0

    def start(self) -> None:
        """Takes the first reading."""
        if self._bounds.cpu is not None:
            self._before = self._bounds.cpu.periods()
        if self._bounds.memory is not None:
            self._reached_before = self._bounds.memory.reached()
            self._killed_before = self._bounds.memory.killed()

    def sample(self, t_s: float) -> list[Sample]:
        """The share of the periods since the last time that were throttled, and the memory now."""
        values: dict[str, float] = {}
        if self._bounds.cpu is not None:
            before, self._before = self._before, self._bounds.cpu.periods()
            periods, throttled = (now - was for now, was in zip(self._before, before, strict=True))
            self._periods.append((t_s, periods, throttled))
            values[THROTTLED] = _percent(throttled, periods)
        memory = self._bounds.memory
        if memory is not None:
            self._reached = memory.reached() - self._reached_before
            self._killed = memory.killed() - self._killed_before
            used_bytes = memory.used_bytes()
            values |= {} if used_bytes is None else {MEMORY: float(used_bytes)}
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Nothing is left open."""

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """The quota of processor time; nothing where there is none."""
        found = [(count, hit) for t_s, count, hit in self._periods if from_s <= t_s <= to_s]
        periods, throttled = sum(count for count, _ in found), sum(hit for _, hit in found)
        if self._bounds.cpu is None or not periods:
            return []
        evidence = f"{self._bounds.cpu.text()} was used up in {throttled} of {periods} periods"
        return [limits.use_of(limits.GROUP_QUOTA, throttled / periods, evidence)]

    def notices(self) -> list[Notice]:
        """What the groups allow, and what ran into it."""
        text = self._bounds.text()
        if not text:
            return []
        return [bounded(self._bounds, "info"), *self._throttled(), *self._short_of_memory()]

    def _throttled(self) -> list[Notice]:
        periods = sum(count for _, count, _ in self._periods)
        throttled = sum(hit for _, _, hit in self._periods)
        if self._bounds.cpu is None or _percent(throttled, periods) <= THROTTLED_WARNING_PERCENT:
            return []
        return [
            Notice(
                code="throttled",
                severity="warning",
                message=f"the CPU quota of the surrounding control group "
                f"({self._bounds.cpu.text()}) was used up in {throttled} of {periods} periods: "
                "what runs in it, the load generator too, stood still until the next",
                advice="raise the quota, or run outside of it",
            )
        ]

    def _short_of_memory(self) -> list[Notice]:
        memory, found = self._bounds.memory, []
        if memory is not None and self._reached:
            found.append(
                f"was reached {self._reached:,} times: caches were given back to stay below"
            )
        if memory is not None and self._killed:
            plural = "es" if self._killed > 1 else ""
            found.append(f"cost {self._killed} process{plural} killed for want of memory")
        return [
            Notice(
                code="memory-limit",
                severity="warning",
                message=f"the memory limit of the surrounding control group {text}",
                advice="give the target less memory, or the group more",
            )
            for text in found
        ]


def bounded(bounds: Bounds, severity: Literal["info", "warning"]) -> Notice:
    """That the control groups allow less than the machine has.

    Args:
        bounds: With at least one.
        severity: A warning before load runs, for the record afterwards.
    """
    return Notice(
        code="bounded-machine",
        severity=severity,
        message=f"the surrounding control group allows {bounds.text()}: the figures are of that, "
        "not of the whole machine",
        advice="compare only with figures under the same limits",
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
