"""Gathers what the users noted and writes it as frames. It lives on the main thread."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from typing import IO

from loadstone.protocol.entry import PROTOCOL_VERSION, VERSION
from loadstone.runner.arrivals import Backlog
from loadstone.runner.board import Board
from loadstone.runner.clock import Clock, to_ns, to_s
from loadstone.runner.frames import FrameWriter
from loadstone.runner.messages import DriverEvent
from loadstone.runner.phase_recorders import PhaseRecorders
from loadstone.runner.plan import Plan
from loadstone.runner.recorder import Encoder, Recorder, Tally
from loadstone.runner.session import Workload, WorkloadEvent
from loadstone.runner.usage import Usage, max_rss_bytes, raise_nofile, rss_bytes

_MOST_EVENTS = 100
"""Events of one kind that are reported between two ticks; the rest is counted."""
_SHORTEST_NS = 1_000_000
"""An empty tick shorter than this is left out."""


class Reporter:
    """Reports frames of one run."""

    def __init__(
        self,
        plan: Plan,
        workload: Workload,
        board: Board,
        recorders: PhaseRecorders,
        output: IO[bytes],
    ) -> None:
        self._plan = plan
        self._workload = workload
        self._board = board
        self._recorders = recorders
        self._clock: Clock = board.clock
        self._writer = FrameWriter(output)
        self._encoder = Encoder()
        self._phase: int | None = None
        self._is_over = False
        """The phase has ended and only its last operations are awaited."""
        self._seq = 0
        self._from_ns = 0
        self.next_tick_ns: int | None = None
        self._usage = Usage.now()
        self._engine_cpu_s = workload.engine_cpu_s()
        self._counted = workload.counters()
        self._counts: Counter[str] = Counter()
        self._errors: dict[str, Counter[str]] = {name: Counter() for name in workload.operations}
        self._reported: Counter[str] = Counter()

    @property
    def is_broken(self) -> bool:
        """Whether nobody reads the frames any more."""
        return self._writer.is_broken

    def hello(self) -> None:
        """Reports who speaks."""
        fields = {
            "version": PROTOCOL_VERSION,
            "driver": VERSION,
            "pid": os.getpid(),
            "threads": self._plan.threads,
            "workload": self._plan.workload.name,
            "operations": list(self._workload.operations),
            "engine": self._workload.engine,
            "unix_time_s": time.time(),
            "monotonic_s": self._clock.monotonic_s,
            "nofile": raise_nofile(),
            "clock_resolution_ns": round(time.get_clock_info("monotonic").resolution * 1e9),
        }
        self._writer.write("hello", self._now_s(), fields)

    # -- events --------------------------------------------------------------------------------
    def event(self, kind: str, detail: str) -> None:
        """Reports an event."""
        self._writer.write("event", self._now_s(), {"kind": kind, "detail": detail})

    def driver_event(self, driver_event: DriverEvent) -> None:
        """Reports what happened, unless there is too much of it."""
        self._reported[driver_event.kind] += 1
        if self._reported[driver_event.kind] <= _MOST_EVENTS:
            fields = {
                "kind": driver_event.kind,
                "class": driver_event.error_class,
                "detail": driver_event.detail,
            }
            self._writer.write("event", self._now_s(), fields)

    def workload_event(self, workload_event: WorkloadEvent) -> None:
        """Reports an event of the workload."""
        fields = {
            "kind": "workload",
            "name": workload_event.name,
            "data": dict(workload_event.data),
            "detail": workload_event.name,
        }
        self._writer.write("event", self._now_s(), fields)

    def _report_rest(self) -> None:
        for kind, reported in self._reported.items():
            if reported > _MOST_EVENTS:
                self.event(kind, f"{reported - _MOST_EVENTS} more since the last tick")
        self._reported.clear()

    # -- phases --------------------------------------------------------------------------------
    def phase_begins(self, phase: int, start_ns: int) -> None:
        """Reports the begin of a phase, and begins to report ticks."""
        self._phase = phase
        self._is_over = False
        self._from_ns = start_ns
        self.next_tick_ns = start_ns + to_ns(self._plan.tick_s)
        self._report_phase("phase-begin", phase, start_ns, {})

    def phase_ends(self, at_ns: int, backlog: Backlog) -> None:
        """Reports the last tick of a phase and its end. What ends later is in late ticks."""
        self._report_tick(at_ns)
        if self._phase is not None:
            self._is_over = True
            drain_ns = 0 if backlog.ended_ns is None else max(0, at_ns - backlog.ended_ns)
            fields = {
                "drained": backlog.drained,
                "discarded": backlog.discarded,
                "drain_s": to_s(drain_ns),
            }
            self._report_phase("phase-end", self._phase, at_ns, fields)

    def _report_phase(self, kind: str, phase: int, at_ns: int, more: Mapping[str, float]) -> None:
        of = self._plan.phases[phase]
        fields = {"kind": kind, "phase": of.name, "phase_kind": of.kind, "detail": of.name, **more}
        self._writer.write("event", to_s(at_ns), fields)

    # -- ticks ---------------------------------------------------------------------------------
    def tick(self) -> int:
        """Reports what was noted since the last tick; returns how many operations are in flight."""
        return self._report_tick(self._clock.now_ns())

    def _report_tick(self, at_ns: int) -> int:
        current = self._phase
        if current is None:
            return 0
        arrivals = self._board.assignment.arrivals
        if arrivals is not None:
            self._recorders.arrived(arrivals.arrived(at_ns))
        taken, in_flight = self._recorders.take(current)
        # The phase that runs comes first, as it is the one that pays for the processor time.
        for phase in sorted(taken, reverse=True):
            late = self._is_over or phase != current
            if not self._is_spare(taken[phase], late=late, at_ns=at_ns):
                self._report_recorder(phase, taken[phase], late=late, at_ns=at_ns, busy=in_flight)
        self._from_ns = at_ns
        self._plan_next_tick(at_ns)
        self._report_rest()
        return in_flight

    def _is_spare(self, recorder: Recorder, *, late: bool, at_ns: int) -> bool:
        has_counted = self._workload.counters() != self._counted
        nothing = recorder.is_empty and not (self._is_over and has_counted)
        return nothing and (late or at_ns < self._from_ns + _SHORTEST_NS)

    def _plan_next_tick(self, now_ns: int) -> None:
        tick_ns = to_ns(self._plan.tick_s)
        while self.next_tick_ns is not None and self.next_tick_ns <= now_ns:
            self.next_tick_ns += tick_ns

    def _report_recorder(
        self, phase: int, recorder: Recorder, *, late: bool, at_ns: int, busy: int
    ) -> None:
        of = self._plan.phases[phase]
        fields = {
            "seq": self._seq,
            "phase": of.name,
            "phase_kind": of.kind,
            "late": late,
            "from_s": to_s(self._from_ns),
            "to_s": to_s(at_ns),
            "operations": {
                name: self._operation(name, tally) for name, tally in recorder.operations.items()
            },
            "lag": self._encoder.encode(recorder.lag_ns),
            "late_starts": recorder.late_starts,
            "dropped": recorder.dropped,
            "due": recorder.due,
            "users": self._board.users,
            "in_flight": busy,
            "queued": self._board.queued,
            "reconnects": recorder.reconnects,
            **self._processor_time(),
            "rss_bytes": rss_bytes(),
            "counters": self._growth(),
            "gauges": dict(self._workload.gauges()),
        }
        self._writer.write("tick", to_s(at_ns), fields)
        self._seq += 1

    def _operation(self, name: str, tally: Tally) -> dict[str, object]:
        self._counts[name] += tally.count
        self._errors[name].update(tally.errors)
        fields = {
            "count": tally.count,
            "rolled_back": 0,
            "errors": dict(tally.errors),
            "retries": dict(tally.retries),
            "response": self._encoder.encode(tally.response_ns),
            "service": self._encoder.encode(tally.service_ns),
        }
        return {key: value for key, value in fields.items() if value is not None}

    def _processor_time(self) -> dict[str, float]:
        before, self._usage = self._usage, Usage.now()
        engine_before_s, self._engine_cpu_s = self._engine_cpu_s, self._workload.engine_cpu_s()
        return {
            "cpu_user_s": self._usage.cpu_user_s - before.cpu_user_s,
            "cpu_system_s": self._usage.cpu_system_s - before.cpu_system_s,
            "engine_cpu_s": self._engine_cpu_s - engine_before_s,
        }

    def _growth(self) -> dict[str, int]:
        """What the workload has counted since the last tick."""
        before, self._counted = self._counted, self._workload.counters()
        return {name: now - before[name] for name, now in self._counted.items()}

    def end(self, reason: str, error: str | None) -> None:
        """Reports how it ended."""
        usage = Usage.now()
        fields = {
            "reason": reason,
            "error": error,
            "operations": {
                name: {"count": self._counts[name], "errors": dict(self._errors[name])}
                for name in self._workload.operations
            },
            "cpu_user_s": usage.cpu_user_s,
            "cpu_system_s": usage.cpu_system_s,
            "engine_cpu_s": self._workload.engine_cpu_s(),
            "max_rss_bytes": max_rss_bytes(),
            "facts": dict(self._workload.facts()),
        }
        self._writer.write("end", self._now_s(), fields)

    def _now_s(self) -> float:
        return to_s(self._clock.now_ns())
