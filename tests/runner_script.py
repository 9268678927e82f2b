"""The loop of the runner in this process, with a workload that needs no engine."""

import io
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from runner_plans import encoded

from loadstone.protocol.frames import End, Event, Frame, Tick, parse_frame
from loadstone.runner.clock import Clock
from loadstone.runner.conductor import Conductor
from loadstone.runner.messages import Inbox, Message
from loadstone.runner.plan import parse_plan
from loadstone.runner.session import DONE, FailureError, Outcome, WorkloadEvent


class Script:
    """A workload whose operation `work` ends as it is told, operation after operation."""

    operations = ("work",)
    engine = "Script 1.0"

    def __init__(self, *steps: FailureError | Outcome) -> None:
        self.steps = list(steps)
        self.attempts: Counter[int] = Counter()
        self.refused: set[int] = set()
        self.is_closed = False
        self.is_hurried = False
        self.turns: list[int] = []
        self.blocked = threading.Event()
        self.blocked.set()

    def open(self, user: int) -> "ScriptSession":
        if user in self.refused:
            raise FailureError("duckdb_error", "no seat")
        return ScriptSession(self, user)

    def engine_cpu_s(self) -> float:
        return 0.0

    def counters(self) -> dict[str, int]:
        return {"attempts": self.attempts.total()}

    def gauges(self) -> dict[str, float]:
        return {"users": len(self.attempts)}

    def facts(self) -> dict[str, float]:
        return {"attempts": self.attempts.total()}

    def turn(self, phase: int) -> None:
        self.turns.append(phase)

    def hurry(self) -> None:
        self.is_hurried = True

    def close(self) -> None:
        self.is_closed = True


class ScriptSession:
    hurries = False

    def __init__(self, script: Script, user: int) -> None:
        self._script = script
        self._user = user
        self._said: list[WorkloadEvent] = []

    def choose(self) -> str:
        return "work"

    def execute(self, operation: str) -> Outcome:
        self._script.blocked.wait()
        self._script.attempts[self._user] += 1
        step = self._script.steps.pop(0) if self._script.steps else DONE
        if isinstance(step, FailureError):
            raise step
        self._said.append(WorkloadEvent("worked", {"user": self._user}))
        return step

    def workload_events(self) -> list[WorkloadEvent]:
        said, self._said = self._said, []
        return said

    def reconnect(self) -> None:
        return None

    def close(self) -> None:
        return None


Condition = Callable[[list[Frame]], bool]
"""Of what the runner has said so far."""


def run(plan: dict[str, Any], script: Script, *orders: tuple[Condition, Message]) -> list[Frame]:
    """What the runner says; each order is given once its condition holds, one after the other."""
    inbox, output, ended = Inbox(), io.BytesIO(), threading.Event()

    def frames() -> list[Frame]:
        whole, _, _ = output.getvalue().rpartition(b"\n")
        return [parse_frame(json.loads(line)) for line in whole.splitlines()]

    def give() -> None:
        for holds, order in orders:
            while not holds(frames()):
                if ended.wait(0.005):
                    return
            inbox.put(order)

    giving = threading.Thread(target=give)
    giving.start()
    try:
        Conductor(parse_plan(encoded(plan)), script, Clock(), inbox, output).conduct()
    finally:
        ended.set()
        giving.join()
    return frames()


def begun(frames: list[Frame]) -> bool:
    return bool(ticks_of(frames))


def end_of(frames: list[Frame]) -> End:
    end = frames[-1]
    assert isinstance(end, End)
    return end


def ticks_of(frames: list[Frame]) -> list[Tick]:
    return [frame for frame in frames if isinstance(frame, Tick)]


def events_of(frames: list[Frame], kind: str) -> list[Event]:
    return [frame for frame in frames if isinstance(frame, Event) and frame.kind == kind]
