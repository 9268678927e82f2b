"""Pauses, stalls and safepoints of a JVM on the trial's clock, as its log tells them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from loadstone.probes.base import Probe
from loadstone.probes.marks import Mark, SampleTable
from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.targets.jvm.gc_log import Cycle, Event, GcLog, Pause, Safepoint, Stall

PAUSE, STALL, CYCLE = "gc_pause_ms:", "stall_ms:", "gc_cycle_ms:"
"""How series begin that have a value for each event, by its kind and cause."""
FAILED_PAUSE = "evacuation_failure_ms:"
"""The same of pauses in which objects could not be moved, by the reason."""
_TOLD_LINES = 2


class GcLogProbe(Probe):
    """Reads what the log has grown by, once a second.

    Each pause, stall and cycle is a sample at the time of its end. Beside them are, for each
    second, the share of it in which all threads stood still: for the collector, and for any
    safepoint, those of the collector among them.
    """

    name = "gc"

    def __init__(self, log: Path) -> None:
        """Reads nothing yet.

        Args:
            log: Written with `gc_log.DECORATIONS`.
        """
        self._path = log
        self._log = GcLog()
        self._offset = 0
        self._began_s = 0.0
        self._last_s = 0.0
        self._failures: dict[str, int] = {}
        self._stalls = 0

    def start(self) -> None:
        """What was written before is read for the rules' sake, and not told."""
        self._began_s = self._last_s = time.monotonic()
        for _ in self._events():
            pass

    def sample(self, t_s: float) -> list[Sample]:
        """The events since the last sample, and what share of that time they took."""
        now_s = time.monotonic()
        length_s = max(now_s - self._last_s, 1e-3)
        self._last_s = now_s
        origin_s = now_s - t_s
        events = [each for each in self._events() if each.to_s >= self._began_s]
        found = [sample for event in events for sample in self._of_event(event, origin_s)]
        paused = standstill_ms([each for each in events if isinstance(each, Pause)])
        halted = sum(each.total_ms for each in events if isinstance(each, Safepoint))
        found.append(Sample(t_s, self.name, "gc_pause_percent", paused / length_s / 10))
        found.append(Sample(t_s, self.name, "safepoint_percent", halted / length_s / 10))
        return found

    def stop(self) -> None:
        """Nothing is left open."""

    def notices(self) -> list[Notice]:
        """What the JVM warned of, failed evacuations, stalls, and lines that no rule knows."""
        return [*self._warned(), *self._failed(), *self._stalled(), *self._not_known()]

    # -- inside --------------------------------------------------------------------------------
    def _events(self) -> Sequence[Event]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                told = file.read()
        except FileNotFoundError:
            return ()
        self._offset += len(told)
        return list(self._log.feed(told))

    def _of_event(self, event: Event, origin_s: float) -> list[Sample]:
        at_s = event.to_s - origin_s

        def sample(metric: str, value: float) -> Sample:
            return Sample(at_s, self.name, metric, value)

        match event:
            case Pause():
                found = [sample(f"{PAUSE}{_named(event)}", event.ms)]
                if event.failure:
                    self._failures[event.failure] = self._failures.get(event.failure, 0) + 1
                    found.append(sample(f"{FAILED_PAUSE}{event.failure}", event.ms))
                if event.after_mb is not None:
                    found.append(sample("heap_after_gc_mb", event.after_mb))
                return found
            case Stall():
                self._stalls += 1
                return [sample(f"{STALL}{event.kind}", event.ms)]
            case Cycle():
                return [sample(f"{CYCLE}{event.kind}", event.ms)] if event.ms else []
            case Safepoint():
                return [sample("reach_safepoint_ms", event.reach_ms)]

    def _warned(self) -> list[Notice]:
        if not self._log.warnings:
            return []
        return [
            Notice(
                code="jvm-warned",
                severity="info",
                message=f"the JVM warned: {' | '.join(self._log.warnings)}",
                advice="its log is kept with the trial",
            )
        ]

    def _failed(self) -> list[Notice]:
        if not self._failures:
            return []
        why = ", ".join(f"{reason}: {count:,}" for reason, count in self._failures.items())
        return [
            Notice(
                code="evacuation-failed",
                severity="warning",
                message=f"in {sum(self._failures.values()):,} pauses of the collector live objects "
                f"could not be moved (Evacuation Failure in its log; {why})",
                advice="give it more heap, or a smaller young generation",
            )
        ]

    def _stalled(self) -> list[Notice]:
        if not self._stalls:
            return []
        return [
            Notice(
                code="allocation-stalls",
                severity="warning",
                message=f"threads waited {self._stalls:,} times for memory that the collector had "
                "not freed yet (Allocation Stall in its log)",
                advice="give it more heap, or more threads for the collector",
            )
        ]

    def _not_known(self) -> list[Notice]:
        if not self._log.unknown:
            return []
        first = " | ".join(self._log.examples[:_TOLD_LINES])
        return [
            Notice(
                code="gc-log-not-known",
                severity="info",
                message=f"{self._log.unknown:,} lines of the collector's log were not understood "
                f"and are in no figure: {first}",
                advice="the log is kept with the trial; please report such a line",
            )
        ]


def standstill_ms(pauses: Sequence[Pause]) -> float:
    """How long all threads stood still: Serial tells a full pause within a young one."""
    total_s, until_s = 0.0, 0.0
    for from_s, to_s in sorted((each.to_s - each.ms / 1000, each.to_s) for each in pauses):
        total_s += max(0.0, to_s - max(from_s, until_s))
        until_s = max(until_s, to_s)
    return total_s * 1000


def happenings(samples: SampleTable) -> list[Mark]:
    """Pauses, failed evacuations and stalls, each for as long as it was.

    Args:
        samples: Of the probe.
    """
    found: list[Mark] = []
    for prefix, kind in ((PAUSE, "GC pause"), (STALL, "stall")):
        for name, series in samples.named(prefix).items():
            found += [
                Mark(kind, to_s - ms / 1000, to_s, name)
                for to_s, ms in zip(series.t_s.tolist(), series.values.tolist(), strict=True)
            ]
    return found


def _named(pause: Pause) -> str:
    return f"{pause.kind}: {pause.cause}" if pause.cause else pause.kind
