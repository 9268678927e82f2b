"""The frames of several drivers as one stream, without loss.

Counts, gauges and processor times are added, histograms are added counter by counter. All
processes keep one clock: their times are moved to that of the first, by the monotonic clock of the
machine on which they all run. The stream has the same frames as that of one driver, and `processes`
in a hello and in a tick: what each process said of itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from loadstone.load import traces
from loadstone.load.adding import Frame, merged_end, merged_hello, merged_tick, own_share
from loadstone.protocol.frames import FrameError

BEHIND_S = 20.0
"""A process whose frames are so much older than those of another is given up."""
_EPSILON = 1e-6


class BehindError(FrameError):
    """A process says nothing while the others go on; `process` is its number, from 0."""

    def __init__(self, process: int, behind_s: float) -> None:
        super().__init__(f"it told nothing for {behind_s:.0f} s while the others went on")
        self.process = process


class _ProcessFrames:
    """The frames of one process that the merged stream has not yet."""

    def __init__(self, hello: Frame, tick_s: float) -> None:
        self.hello = hello
        self.waiting: deque[Frame] = deque()
        self.told_s = 0.0
        """Time of its newest frame, on the common clock."""
        self.offset_s = 0.0
        """To be added to its times."""
        self.begun_s = 0.0
        """When the present phase began, on the common clock."""
        self.to_s = 0.0
        """Where its last merged tick ended."""
        self.levels: Mapping[str, Any] = {}
        """Its last merged tick, for what goes up and down."""
        self.ended: Frame | None = None
        self._tick_s = tick_s

    @property
    def next(self) -> Frame | None:
        """The first of what is waiting."""
        return self.waiting[0] if self.waiting else None

    def slot(self) -> int | None:
        """Which tick of the phase comes next, from 1; None if none does.

        A late tick is none of it: it follows the tick of the same time, and is of an earlier phase.
        """
        frame = self.next
        if frame is None or frame["frame"] != "tick" or _is_late(frame):
            return None
        return int((frame["to_s"] - self.begun_s) / self._tick_s + _EPSILON)

    def begin(self, at_s: float) -> None:
        """A phase begins."""
        self.begun_s = self.to_s = at_s


class Merger:
    """Takes the frames of each process in the order of that process; gives those of all.

    Not for several threads at once.

    Args:
        processes: How many there are.
        tick_s: Length of a tick, of the plan.
    """

    def __init__(self, processes: int, tick_s: float = 1.0) -> None:
        self._count = processes
        self._tick_s = tick_s
        self._hellos: dict[int, Frame] = {}
        self._sources: list[_ProcessFrames] = []
        self._early: list[list[Frame]] = [[] for _ in range(processes)]
        self._began = False
        self._seq = 0

    @property
    def origins_s(self) -> tuple[float, ...]:
        """What is to be added to the times of each process; empty before all said hello."""
        return tuple(source.offset_s for source in self._sources)

    def add(self, process: int, frame: Frame) -> list[Frame]:
        """Takes the next frame of a process.

        Args:
            process: Its number, from 0.
            frame: As the driver wrote it, already checked.

        Returns:
            The frames of the merged stream that are complete now.

        Raises:
            BehindError: If another process has fallen silent.
        """
        if not self._sources:
            return self._greet(process, frame)
        self._take(process, frame)
        self._look_behind(process)
        return self._complete()

    # -- hello ---------------------------------------------------------------------------------
    def _greet(self, process: int, frame: Frame) -> list[Frame]:
        """Events may come before the others have said hello: they wait."""
        if frame["frame"] == "hello":
            self._hellos[process] = frame
        else:
            self._early[process].append(frame)
        if len(self._hellos) < self._count:
            return []
        hellos = [self._hellos[number] for number in range(self._count)]
        self._sources = [_ProcessFrames(hello, self._tick_s) for hello in hellos]
        for source in self._sources:
            source.offset_s = source.hello["monotonic_s"] - hellos[0]["monotonic_s"]
        for number, frames in enumerate(self._early):
            for early in frames:
                self._take(number, early)
        return [merged_hello(hellos), *self._complete()]

    # -- taking --------------------------------------------------------------------------------
    def _take(self, process: int, frame: Frame) -> None:
        source = self._sources[process]
        moved = _moved(frame, source.offset_s)
        source.told_s = max(source.told_s, moved["t_s"])
        if moved["frame"] == "event" and not _is_border(moved):
            moved["process"] = process
        source.waiting.append(moved)

    def _look_behind(self, process: int) -> None:
        """Ticks come from a clock: who tells none, while others do, does not run any more."""
        if not self._began:
            return
        first_s = self._sources[process].told_s
        for number, source in enumerate(self._sources):
            behind_s = first_s - source.told_s
            if source.ended is None and behind_s > BEHIND_S and not _has_end(source):
                raise BehindError(number, behind_s)

    # -- giving --------------------------------------------------------------------------------
    def _complete(self) -> list[Frame]:
        given: list[Frame] = []
        while (more := self._step()) is not None:
            given += more
        return given

    def _step(self) -> list[Frame] | None:
        """The next thing that all processes have come to, or that need not wait for them."""
        passed = self._passed()
        if passed:
            return passed
        if any(source.next is None and source.ended is None for source in self._sources):
            return None
        running = [source for source in self._sources if source.ended is None]
        if not running:
            return None
        if any(source.slot() is not None for source in running):
            return [self._tick(running)]
        for kind in ("phase-end", "phase-begin"):
            at_border = [source for source in running if _kind(source.next) == kind]
            if at_border:
                return [self._border(kind, at_border)]
        return self._end(running)

    def _passed(self) -> list[Frame]:
        """Events, and late ticks of a phase that is over: they stand for themselves."""
        found = []
        for number, source in enumerate(self._sources):
            while (frame := source.next) is not None and self._stands_alone(frame):
                source.waiting.popleft()
                if frame["frame"] == "tick":
                    frame = {**frame, **self._next_seq(), "processes": [own_share(number, frame)]}
                found.append(frame)
        return found

    @staticmethod
    def _stands_alone(frame: Frame) -> bool:
        if frame["frame"] == "tick":
            return _is_late(frame)
        return frame["frame"] == "event" and not _is_border(frame)

    def _next_seq(self) -> dict[str, int]:
        self._seq += 1
        return {"seq": self._seq - 1}

    def _border(self, kind: str, sources: Sequence[_ProcessFrames]) -> Frame:
        """All begin a phase, or end it: at the mean of their times, which differ by a moment."""
        frames = [source.waiting.popleft() for source in sources]
        at_s = fmean(frame["t_s"] for frame in frames)
        if kind == "phase-begin":
            self._began = True
            for source, frame in zip(sources, frames, strict=True):
                source.begin(frame["t_s"])
        merged = {**frames[0], "t_s": at_s, "spread_s": _spread(frame["t_s"] for frame in frames)}
        for name in ("drained", "discarded"):
            if name in frames[0]:
                merged[name] = sum(frame.get(name, 0) for frame in frames)
        if "drain_s" in frames[0]:
            merged["drain_s"] = max(frame.get("drain_s", 0.0) for frame in frames)
        return merged

    def _tick(self, running: Sequence[_ProcessFrames]) -> Frame:
        """The ticks of the same part of a phase.

        A process that was late skips ticks: what it did comes with its next one. The mean of the
        times keeps rates right: each process counted over its own time.
        """
        slots = [slot for source in running if (slot := source.slot()) is not None]
        from_s = fmean(source.to_s for source in running)
        told: list[tuple[int, Frame]] = []
        for number, source in enumerate(self._sources):
            while source.ended is None and source.slot() == min(slots):
                frame = source.waiting.popleft()
                source.levels, source.to_s = frame, frame["to_s"]
                told.append((number, frame))
        to_s = fmean(source.to_s for source in running)
        levels = [source.levels for source in running]
        return {
            **merged_tick([frame for _, frame in told], levels),
            **self._next_seq(),
            "t_s": to_s,
            "from_s": from_s,
            "to_s": to_s,
            "processes": [own_share(number, frame) for number, frame in told],
        }

    def _end(self, running: Sequence[_ProcessFrames]) -> list[Frame]:
        for source in running:
            source.ended = source.waiting.popleft()
        return [merged_end([source.ended for source in self._sources if source.ended is not None])]


def _moved(frame: Frame, offset_s: float) -> Frame:
    times = ("t_s", "from_s", "to_s")
    found = {**frame, **{name: frame[name] + offset_s for name in times if name in frame}}
    if "traces" in frame:
        found["traces"] = traces.moved(frame["traces"], offset_s)
    return found


def _kind(frame: Frame | None) -> str:
    return str(frame.get("kind", "")) if frame is not None else ""


def _is_late(tick: Frame) -> bool:
    return bool(tick.get("late"))


def _is_border(frame: Frame) -> bool:
    return _kind(frame) in ("phase-begin", "phase-end")


def _has_end(source: _ProcessFrames) -> bool:
    return bool(source.waiting) and source.waiting[-1]["frame"] == "end"


def _spread(values: Iterable[float]) -> float:
    kept = list(values)
    return max(kept) - min(kept)
