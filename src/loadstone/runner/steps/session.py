"""One stream's session: its steps one after the other, each with a limit to its time."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.protocol.steps import ANSWERS, PLANS, SHAPES, TOLD
from loadstone.runner.clock import Clock, to_s
from loadstone.runner.engines.base import Channel, Engine, Rows
from loadstone.runner.processes import ProcessUsage, Watch, usage_of
from loadstone.runner.session import (
    EXHAUSTED,
    LOST,
    Ending,
    FailureError,
    Outcome,
    Session,
    WorkloadEvent,
)
from loadstone.runner.steps.answer_files import keep_answer, keep_text
from loadstone.runner.steps.limit import Limit
from loadstone.runner.steps.parameters import Parameters, Step, Stream
from loadstone.runner.steps.session_pool import SessionPool

TIME_LIMIT = "time-limit"
"""Class of a statement that was broken off because it took too long."""
STOPPED = "stopped"
"""Class of a statement that was broken off because the run is to end."""


@dataclass
class Round:
    """What the streams of a phase know of each other."""

    streams: Sequence[Stream]
    ended: dict[str, threading.Event] = field(init=False)

    def __post_init__(self) -> None:
        self.ended = {stream.name: threading.Event() for stream in self.streams}


class Exclusivity:
    """Tells whether a statement was the only one: then what the engine used is its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = 0
        self._working = 0

    def begin(self) -> int | None:
        """Notes that a statement begins; returns a token if no other runs."""
        with self._lock:
            self._begun += 1
            self._working += 1
            return self._begun if self._working == 1 else None

    def end(self, token: int | None) -> bool:
        """Notes that it has ended; returns whether no other ran meanwhile."""
        with self._lock:
            self._working -= 1
            return token == self._begun


@dataclass
class Common:
    """What all sessions share."""

    engine: Engine
    parameters: Parameters
    clock: Clock
    seed: int = 0
    """Of the requests that are drawn."""
    rounds: list[Round] = field(init=False)
    stopping: threading.Event = field(default_factory=threading.Event)
    exclusivity: Exclusivity = field(init=False)
    _channels: list[Channel] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.rounds = [Round(streams) for streams in self.parameters.rounds]
        self.exclusivity = Exclusivity()

    def hurry(self) -> None:
        """Breaks off every statement of a step; no further one begins."""
        self.stopping.set()
        for round_ in self.rounds:
            for ended in round_.ended.values():
                ended.set()
        with self._lock:
            for channel in self._channels:
                channel.interrupt()

    def opened(self) -> Channel:
        """Opens a session with the engine.

        Raises:
            FailureError: The engine does not.
        """
        channel = self.engine.connect()
        with self._lock:
            self._channels.append(channel)
        return channel

    @contextmanager
    def unhurried(self, channel: Channel) -> Iterator[None]:
        """What runs within the block may end by itself."""
        with self._lock:
            self._channels.remove(channel)
        try:
            yield
        finally:
            with self._lock:
                self._channels.append(channel)

    def close(self, channel: Channel) -> None:
        """Closes it; nobody breaks it off any more."""
        with self._lock:
            if channel in self._channels:
                self._channels.remove(channel)
        channel.close()


@dataclass
class _StepResult:
    """A step as it went; what the engine used is None where others used it at the same time."""

    since_ns: int = 0
    until_ns: int = 0
    rows: Rows | None = None
    parser_cpu_s: float | None = None
    """Of the files of a work: it is none of the engine's."""
    failure: FailureError | None = None
    usage: ProcessUsage | None = None
    peak_bytes: int | None = None
    spilled_bytes: int | None = None
    spilled_beside_bytes: int | None = None
    """What all that ran at the time have spilled, where others did."""

    def figures(self) -> dict[str, float | str]:
        """What is known of it."""
        failure, usage = self.failure, self.usage
        known: dict[str, float | str | None] = {
            "from_s": to_s(self.since_ns),
            "to_s": to_s(self.until_ns),
            "rows": None if self.rows is None else len(self.rows),
            "class": None if failure is None else failure.error_class,
            "error": None if failure is None else failure.message,
            "cpu_s": None if usage is None else usage.cpu_s,
            "parser_cpu_s": self.parser_cpu_s,
            "read_bytes": None if usage is None else usage.read_bytes,
            "written_bytes": None if usage is None else usage.written_bytes,
            "peak_bytes": self.peak_bytes,
            "spilled_bytes": self.spilled_bytes,
            "spilled_beside_bytes": self.spilled_beside_bytes,
        }
        return {name: value for name, value in known.items() if value is not None}


class StreamSession(Session):
    """A session of the loop (`runner.session.Session`)."""

    def __init__(self, common: Common, user: int) -> None:
        self._common = common
        self._user = user
        self._channel = common.opened()
        self._pool = SessionPool(common)
        self._draw = random.Random(f"requests {common.seed} {user}")
        self._round = 0
        self._place = 0
        self._events: list[WorkloadEvent] = []
        self._lost_ns: int | None = None
        self._is_abandoned = False
        """The engine did not come back: no further step is made."""
        self._failed: set[str] = set()
        """Queries that did not end well: their plans are shown without another execution."""

    # -- what the loop asks ----------------------------------------------------------------------
    def choose(self) -> str:
        """The next step's operation; any if there is none: then `execute` says so."""
        step, stream = self._step(), self._stream()
        if step is not None:
            return step.operation
        if stream is not None and stream.asks is not None:
            return stream.asks
        return self._common.parameters.operations[0]

    @property
    def hurries(self) -> bool:
        """Each step follows the last at once; users think before they ask."""
        stream = self._stream()
        return self._step() is not None or stream is None or stream.asks is None

    def execute(self, operation: str) -> Outcome:
        """Makes the next step, or says that this was the last of its round.

        Raises:
            FailureError: It did not end well, or took too long; the stream goes on with the next.
        """
        stream, step = self._stream(), self._step()
        if stream is not None and self._place == 0 and stream.after is not None:
            self._common.rounds[self._round].ended[stream.after].wait()
        if stream is None or self._is_over or (step is None and stream.asks is None):
            self._end_round(stream)
            return EXHAUSTED
        if step is None:
            return self._ask()
        self._place += 1
        return self._make(stream, step)

    def workload_events(self) -> Sequence[WorkloadEvent]:
        """What became of the last step."""
        events, self._events = self._events, []
        return events

    def reconnect(self) -> None:
        """Opens a new session with the engine; gives up after the time that a query may take.

        Raises:
            FailureError: There is none yet, or the run is to end.
        """
        common = self._common
        if common.stopping.is_set():
            raise FailureError(LOST, "the run is to end")
        now_ns = common.clock.now_ns()
        self._lost_ns = now_ns if self._lost_ns is None else self._lost_ns
        common.close(self._channel)
        self._pool.close()
        try:
            self._channel = common.opened()
        except FailureError:
            self._is_abandoned = to_s(now_ns - self._lost_ns) > common.parameters.time_limit_s
            if not self._is_abandoned:
                raise
        else:
            self._lost_ns = None

    def close(self) -> None:
        """Says goodbye."""
        self._end_round(self._stream())
        self._pool.close()
        self._common.close(self._channel)

    # -- a request -------------------------------------------------------------------------------
    def _ask(self) -> Outcome:
        """Asks one of the requests; nothing is looked at beside it, as many are short."""
        common = self._common
        with common.unhurried(self._channel):
            since_ns = common.clock.now_ns()
            self._channel.run(self._draw.choice(common.parameters.requests))
            until_ns = common.clock.now_ns()
        return Outcome(Ending.DONE, since_ns=since_ns, until_ns=until_ns)

    # -- a step ----------------------------------------------------------------------------------
    def _make(self, stream: Stream, step: Step) -> Outcome:
        result = self._executed(step)
        named = {"stream": stream.name, "operation": step.operation, "step": step.kind}
        self._events.append(WorkloadEvent(TOLD, {**named, **result.figures()}))
        if result.failure is not None:
            self._failed.add(step.operation)
            raise result.failure
        if result.rows is not None and step.answer is not None:
            keep_answer(self._folder / ANSWERS, step.answer, result.rows)
        return Outcome(Ending.DONE, since_ns=result.since_ns, until_ns=result.until_ns)

    def _executed(self, step: Step) -> _StepResult:
        """Makes a step, and looks up what the engine uses for it: that may fail too."""
        now_ns = self._common.clock.now_ns()
        result = _StepResult(since_ns=now_ns, until_ns=now_ns)
        try:
            with self._using(result):
                self._attempt(step, result)
                if self._is_left_unexplained(step, result):
                    self._failed.add(step.operation)
                    self._attempt(step, result, since_ns=result.since_ns)
        except FailureError as error:
            result.failure = error
        return result

    def _attempt(self, step: Step, result: _StepResult, since_ns: int | None = None) -> None:
        """Makes a step within its time; it began now, or where an attempt before it did."""
        # Before the limit, so that what the limit breaks off has taken at least that long.
        result.since_ns = self._common.clock.now_ns() if since_ns is None else since_ns
        result.failure = None
        with self._limit() as is_late:
            try:
                rows = self._run(step, result, is_late)
            except FailureError as error:
                broken_off = self._broken_off(is_late=is_late.is_set())
                result.failure = error if error.is_fatal else broken_off or error
            else:
                # ClickHouse may end with a part of the answer, and without an error.
                result.failure = self._broken_off(is_late=is_late.is_set())
                result.rows = rows if result.failure is None else None
            result.until_ns = self._common.clock.now_ns()
        if is_late.is_set():
            self._absorb()

    def _is_left_unexplained(self, step: Step, result: _StepResult) -> bool:
        """Whether a plan with an execution failed where one without may be had."""
        if step.kind != "explain" or step.operation in self._failed or result.failure is None:
            return False
        return not result.failure.is_fatal and not self._common.stopping.is_set()

    def _absorb(self) -> None:
        """Takes an interrupt that found nothing to break off, lest the next statement does."""
        for own in (self._channel, *self._pool.channels):
            with suppress(FailureError):
                own.run("SELECT 1")

    def _run(self, step: Step, result: _StepResult, is_late: threading.Event) -> Rows | None:
        if step.kind == "change":
            self._channel.change(step.statements)
            return None
        if step.kind == "work":
            found = self._pool.work(self._channel, step.stages, is_late)
            result.parser_cpu_s = sum(parsed.cpu_s for parsed in found) if found else None
            return [parsed.row() for parsed in found]
        (statement,) = step.statements
        if step.kind == "explain":
            plan = self._channel.explain(statement, execute=step.operation not in self._failed)
            keep_text(self._folder / PLANS, step.operation, plan.text)
            keep_text(self._folder / SHAPES, step.operation, plan.shape)
            return None
        return self._channel.run(statement)

    def _broken_off(self, *, is_late: bool) -> FailureError | None:
        """Why a statement was interrupted, if it was: its engine says that it was, or nothing."""
        if is_late:
            limit_s = self._common.parameters.time_limit_s
            return FailureError(TIME_LIMIT, f"broken off after {limit_s:g} s")
        if self._common.stopping.is_set():
            return FailureError(STOPPED, "broken off: the run is to end")
        return None

    @contextmanager
    def _limit(self) -> Iterator[threading.Event]:
        """Interrupts what runs within the block for too long; the event tells that it did."""
        channel = self._channel

        def interrupt() -> None:
            for own in (channel, *self._pool.channels):
                own.interrupt()

        limit = Limit(self._common.parameters.time_limit_s, interrupt)
        try:
            yield limit.is_late
        finally:
            limit.lift()

    @contextmanager
    def _using(self, result: _StepResult) -> Iterator[None]:
        """Notes what the engine uses within the block, if this stream is alone.

        Raises:
            FailureError: The engine does not say what it has used before; the block is not run.
        """
        exclusivity, engine = self._common.exclusivity, self._common.engine
        token = exclusivity.begin()
        try:
            before, spilled = usage_of(engine.pids), self._channel.spilled_bytes()
            watch = Watch(engine.pids, engine.temporary)
            try:
                yield
            finally:
                watch.stop()
        finally:
            alone = exclusivity.end(token)
        if alone and engine.pids:
            result.usage = usage_of(engine.pids) - before - self._parser(engine, result)
            result.peak_bytes = watch.peak_memory_bytes
        is_watched = engine.temporary is not None
        spilled = watch.peak_files_bytes if is_watched else self._spilled_since(spilled)
        if alone:
            result.spilled_bytes = spilled
        else:
            result.spilled_beside_bytes = spilled

    def _parser(self, engine: Engine, result: _StepResult) -> ProcessUsage:
        """What the parsers used, where they are children of the engine's process."""
        is_here = os.getpid() in engine.pids
        return ProcessUsage(cpu_s=result.parser_cpu_s or 0.0) if is_here else ProcessUsage()

    def _spilled_since(self, before: int | None) -> int | None:
        if before is None:
            return None
        try:
            now = self._channel.spilled_bytes()
        except FailureError:
            return None
        return None if now is None else now - before

    @property
    def _is_over(self) -> bool:
        return self._common.stopping.is_set() or self._is_abandoned

    # -- where it is -----------------------------------------------------------------------------
    @property
    def _folder(self) -> Path:
        return Path(self._common.parameters.folder)

    def _stream(self) -> Stream | None:
        """This user's stream of the present round; None after the last."""
        rounds = self._common.rounds
        streams = rounds[self._round].streams if self._round < len(rounds) else ()
        if self._user < len(streams):
            return streams[self._user]
        return streams[-1] if streams and streams[-1].asks is not None else None

    def _step(self) -> Step | None:
        stream = self._stream()
        if stream is None or self._place >= len(stream.steps):
            return None
        return stream.steps[self._place]

    def _end_round(self, stream: Stream | None) -> None:
        if stream is not None:
            self._common.rounds[self._round].ended[stream.name].set()
        self._round += 1
        self._place = 0
