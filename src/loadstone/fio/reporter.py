"""Writes the frames of a run of fio."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import IO

from loadstone.fio.bins import BinEncoder
from loadstone.fio.passes import Pass
from loadstone.protocol.entry import PROTOCOL_VERSION, VERSION
from loadstone.runner.clock import Clock, to_s
from loadstone.runner.frames import FrameWriter
from loadstone.runner.plan import Phase
from loadstone.runner.usage import raise_nofile


class Reporter:
    """Reports frames of one run."""

    def __init__(self, clock: Clock, output: IO[bytes]) -> None:
        self._clock = clock
        self._writer = FrameWriter(output)
        self._encoder = BinEncoder()
        self._seq = 0
        self._counts: Counter[str] = Counter()
        self._cpu_s = [0.0, 0.0]
        self._rss_bytes = 0

    @property
    def is_broken(self) -> bool:
        """Nobody reads the frames any more."""
        return self._writer.is_broken

    def hello(self, operations: Sequence[str], threads: int, engine: str | None) -> None:
        """Who makes the load."""
        self._write(
            "hello",
            version=PROTOCOL_VERSION,
            driver=VERSION,
            pid=os.getpid(),
            threads=threads,
            workload="storage",
            operations=list(operations),
            unix_time_s=self._clock.unix_us(0) / 1e6,
            monotonic_s=self._clock.monotonic_s,
            engine=engine,
            nofile=raise_nofile(),
            clock_resolution_ns=time.clock_getres(time.CLOCK_MONOTONIC) * 1e9,
        )

    def event(self, kind: str, detail: str = "") -> None:
        """Something that is no measurement."""
        self._write("event", kind=kind, detail=detail)

    def told(self, name: str, data: dict[str, float | str]) -> None:
        """An event of the workload."""
        self._write("event", kind="workload", name=name, data=data)

    def begin(self, phase: Phase) -> None:
        """A phase begins."""
        self._write("event", kind="phase-begin", phase=phase.name, phase_kind=phase.kind)

    def end_phase(self, phase: Phase) -> None:
        """A phase ends."""
        self._write("event", kind="phase-end", phase=phase.name, phase_kind=phase.kind)

    def used(self, made: Pass) -> None:
        """Adds the processor time of a pass, measured or not, to that of the whole run."""
        self._cpu_s[0] += made.ended.cpu_user_s
        self._cpu_s[1] += made.ended.cpu_system_s
        self._rss_bytes = max(self._rss_bytes, made.ended.rss_bytes)

    def ticks(self, phase: Phase, made: Pass) -> None:
        """The seconds of a pass. fio's processor time is that of the whole pass, evenly."""
        for part in made.slices:
            share = (part.to_s - part.from_s) / made.duration_s
            counts = {name: sum(bins.values()) for name, bins in part.bins.items()}
            self._counts.update(counts)
            self._write(
                "tick",
                seq=self._seq,
                phase=phase.name,
                phase_kind=phase.kind,
                late=False,
                from_s=made.from_s + part.from_s,
                to_s=made.from_s + part.to_s,
                operations={
                    name: {
                        "count": counts[name],
                        "service": self._encoder.encode(bins, *made.limits(name)),
                    }
                    for name, bins in part.bins.items()
                },
                due=sum(counts.values()),
                users=1,
                cpu_user_s=made.ended.cpu_user_s * share,
                cpu_system_s=made.ended.cpu_system_s * share,
                rss_bytes=made.ended.rss_bytes,
                counters={
                    "bytes": part.bytes.total(),
                    "read_bytes": part.bytes["read"],
                    "written_bytes": part.bytes["write"],
                },
            )
            self._seq += 1

    def end(self, reason: str, error: str | None, facts: dict[str, float]) -> None:
        """The last frame."""
        self._write(
            "end",
            reason=reason,
            error=error,
            operations={
                name: {"count": count, "errors": {}} for name, count in self._counts.items()
            },
            cpu_user_s=self._cpu_s[0],
            cpu_system_s=self._cpu_s[1],
            max_rss_bytes=self._rss_bytes,
            facts=facts,
        )

    def _write(self, frame: str, /, **fields: object) -> None:
        self._writer.write(frame, to_s(self._clock.now_ns()), fields)
