"""Streams of steps in the runner, on an engine of its own that needs no server."""

import io
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from runner_plans import encoded

from loadstone.protocol.frames import End, Event, Frame, parse_frame
from loadstone.protocol.steps import StepRun, steps_of
from loadstone.runner.clock import Clock
from loadstone.runner.conductor import Conductor
from loadstone.runner.engines.base import QueryPlan, Rows
from loadstone.runner.messages import Inbox, Stop
from loadstone.runner.plan import Plan, RefusalError, parse_plan
from loadstone.runner.session import LOST, FailureError
from loadstone.runner.steps.parameters import read_parameters
from loadstone.runner.steps.session import Common
from loadstone.runner.steps.workload import Streams


class FakeEngine:
    """Answers `wait` when it is broken off, `refuse` never, `die` with the end of the session."""

    version = "Fake 1.0"
    pids: Sequence[int] = ()
    temporary: Path | None = None

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_gone = False
        self.is_closed = False
        self.meeting = threading.Barrier(2)
        self.unseen = 0
        """How many times it does not say what it has spilled."""
        self.takes_s = 0.0
        """How long an interrupt is on its way."""
        self.on_its_way = threading.Event()

    def connect(self) -> "FakeChannel":
        if self.is_gone:
            raise FailureError(LOST, "nobody there")
        return FakeChannel(self)

    def cpu_s(self) -> float:
        return 0.0

    def close(self) -> None:
        self.is_closed = True


class FakeChannel:
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine
        self._broken_off = threading.Event()
        self._interrupted = threading.Event()

    def run(self, sql: str) -> Rows:
        self._engine.asked.append(sql)
        match sql.split():
            case ["meet"]:
                self._engine.meeting.wait(30)
            case ["wait", *_]:
                assert self._broken_off.wait(30)
                self._broken_off.clear()
                raise FailureError("57014", "canceling statement")
            case ["linger"]:
                if self._broken_off.wait(0.5):
                    raise FailureError("57014", "canceling statement")
            case ["SELECT", "1"]:
                if self._broken_off.is_set():
                    self._broken_off.clear()
                    raise FailureError("57014", "canceling statement")
            case ["outlast"]:
                assert self._interrupted.wait(30)
            case ["refuse"]:
                raise FailureError("42601", "syntax error")
            case ["die"]:
                self._engine.is_gone = True
                raise FailureError(LOST, "server closed the connection")
        return [(sql, 1)]

    def change(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self.run(statement)

    def explain(self, sql: str, *, execute: bool) -> QueryPlan:
        if execute and sql.startswith(("refuse", "wait")):
            self.run(sql)
        return QueryPlan(f"plan of {sql}{', 3 rows' if execute else ''}", f"plan of {sql}")

    def spilled_bytes(self) -> int | None:
        if self._engine.unseen > 0:
            self._engine.unseen -= 1
            raise FailureError("42883", "function does not exist")
        return 1

    def interrupt(self) -> None:
        """What runs may end by itself before the interrupt has arrived."""
        self._interrupted.set()
        self._engine.on_its_way.wait(self._engine.takes_s)
        self._broken_off.set()

    def close(self) -> None:
        return None


def query(sql: str, answer: str | None = None) -> dict[str, Any]:
    name = sql.split(maxsplit=1)[0]
    return {"operation": name, "kind": "query", "statements": [sql], "answer": answer}


def work(*stages: list[list[str]]) -> dict[str, Any]:
    return {"operation": "work", "kind": "work", "stages": list(stages)}


def plan_of(
    folder: Path, *rounds: list[dict[str, Any]], time_limit_s: float = 30.0
) -> dict[str, Any]:
    users = len(rounds[0])
    parameters = {"rounds": rounds, "time_limit_s": time_limit_s, "folder": str(folder)}
    return {
        "version": 4,
        "workload": {"name": "dss", "parameters": parameters},
        "connection": {"protocol": "duckdb", "database": "a.db"},
        "phases": [
            {
                "name": f"round-{number}",
                "kind": "measure",
                "duration_s": 60.0,
                "load": {"model": "closed", "users": {"from": users, "to": users}},
            }
            for number in range(len(rounds))
        ],
    }


def stream(name: str, *steps: dict[str, Any], after: str | None = None) -> dict[str, Any]:
    return {"name": name, "steps": list(steps)} | ({"after": after} if after else {})


def parsed(plan: dict[str, Any]) -> Plan:
    return parse_plan(encoded(plan))


def run(
    plan: dict[str, Any], engine: FakeEngine, *messages: Stop, after_s: float = 0.0
) -> tuple[list[StepRun], End]:
    value, inbox, output = parsed(plan), Inbox(), io.BytesIO()
    clock = Clock()
    for message in messages:
        threading.Timer(after_s, inbox.put, (message,)).start()
    workload = Streams(Common(engine, read_parameters(value), clock))
    Conductor(value, workload, clock, inbox, output).conduct()
    frames: list[Frame] = [parse_frame(json.loads(line)) for line in output.getvalue().splitlines()]
    end = frames[-1]
    assert isinstance(end, End)
    return steps_of(frame for frame in frames if isinstance(frame, Event)), end


def names(steps: list[StepRun]) -> list[tuple[str, str]]:
    return [(step.stream, step.operation) for step in steps]


def test_streams_keep_their_order_and_wait_for_the_one_they_follow(tmp_path: Path) -> None:
    engine = FakeEngine()
    plan = plan_of(
        tmp_path,
        [stream("warm", query("w1"), query("w2")), stream("idle")],
        [stream("power", query("a"), query("b")), stream("second", query("c"), after="power")],
    )
    steps, end = run(plan, engine)
    assert names(steps) == [
        ("warm", "w1"),
        ("warm", "w2"),
        ("power", "a"),
        ("power", "b"),
        ("second", "c"),
    ]
    assert all(step.to_s >= step.from_s >= 0 and step.rows == 1 for step in steps)
    assert (end.reason, end.operations["a"].count, engine.is_closed) == ("completed", 1, True)


def test_answers_and_plans_are_kept(tmp_path: Path) -> None:
    explain = {"operation": "q1", "kind": "explain", "statements": ["q1"]}
    run(plan_of(tmp_path, [stream("power", query("q1", "power-q1"), explain)]), FakeEngine())
    assert (tmp_path / "answers" / "power-q1.parquet").is_file()
    assert (tmp_path / "plans" / "q1.txt").read_text() == "plan of q1, 3 rows"
    assert (tmp_path / "shapes" / "q1.txt").read_text() == "plan of q1"


def test_the_plan_of_a_query_that_was_broken_off_is_not_another_execution(tmp_path: Path) -> None:
    explain = {"operation": "wait", "kind": "explain", "statements": ["wait"]}
    plan = plan_of(tmp_path, [stream("power", query("wait"), explain)], time_limit_s=0.3)
    steps, _ = run(plan, FakeEngine())
    assert [(step.kind, step.error_class) for step in steps] == [
        ("query", "time-limit"),
        ("explain", None),
    ]
    assert (tmp_path / "plans" / "wait.txt").read_text() == "plan of wait"


@pytest.mark.parametrize("query_before", [True, False])
def test_the_plan_of_a_query_that_fails_is_had_without_an_execution(
    tmp_path: Path, query_before: bool
) -> None:
    explain = {"operation": "refuse", "kind": "explain", "statements": ["refuse"]}
    before = [query("refuse")] if query_before else []
    engine = FakeEngine()
    steps, _ = run(plan_of(tmp_path, [stream("power", *before, explain)]), engine)
    assert [step.error_class for step in steps] == ["42601"] * len(before) + [None]
    assert engine.asked == ["refuse"]
    assert (tmp_path / "plans" / "refuse.txt").read_text() == "plan of refuse"


def test_an_executed_plan_that_takes_too_long_is_had_without_an_execution(tmp_path: Path) -> None:
    explain = {"operation": "wait", "kind": "explain", "statements": ["wait"]}
    plan = plan_of(tmp_path, [stream("power", explain, query("b"))], time_limit_s=0.3)
    steps, _ = run(plan, FakeEngine())
    assert [(step.kind, step.error_class) for step in steps] == [("explain", None), ("query", None)]
    assert steps[0].seconds > 0.25
    assert (tmp_path / "plans" / "wait.txt").read_text() == "plan of wait"


def test_an_interrupt_on_its_way_does_not_hit_the_next_query(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.takes_s = 0.2
    plan = plan_of(tmp_path, [stream("power", query("outlast"), query("linger"))], time_limit_s=0.6)
    steps, _ = run(plan, engine)
    assert [(step.operation, step.error_class) for step in steps] == [
        ("outlast", "time-limit"),  # its answer may be cut off, though it says nothing
        ("linger", None),
    ]
    assert (steps[0].rows, steps[0].seconds < 0.8) == (None, True)


def test_a_look_up_that_fails_fails_its_step_and_no_other(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.unseen = 1
    steps, end = run(plan_of(tmp_path, [stream("power", query("a"), query("b"))]), engine)
    assert [(step.operation, step.error_class, step.error) for step in steps] == [
        ("a", "42883", "function does not exist"),
        ("b", None, None),
    ]
    # Known only of a step that was alone: the first is not taken to be at work still.
    assert [step.spilled_bytes for step in steps] == [None, 0]
    assert (engine.asked, end.operations["a"].errors) == (["b"], 1)


def test_what_an_engine_spills_for_several_at_once_is_told_of_none_alone(tmp_path: Path) -> None:
    engine = FakeEngine()
    streams = [stream("stream-1", query("meet")), stream("stream-2", query("meet"))]
    steps, _ = run(plan_of(tmp_path, streams), engine)
    assert [(step.spilled_bytes, step.spilled_beside_bytes) for step in steps] == [(None, 0)] * 2


def test_a_query_that_is_refused_ends_itself_and_not_its_stream(tmp_path: Path) -> None:
    steps, end = run(
        plan_of(tmp_path, [stream("power", query("refuse"), query("b"))]), FakeEngine()
    )
    assert [(step.operation, step.error_class, step.error) for step in steps] == [
        ("refuse", "42601", "syntax error"),
        ("b", None, None),
    ]
    assert (end.operations["refuse"].errors, end.operations["b"].count) == (1, 1)


def test_a_query_that_takes_too_long_is_broken_off(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [stream("power", query("wait"), query("b"))], time_limit_s=0.1)
    steps, end = run(plan, FakeEngine())
    assert [(step.operation, step.error_class) for step in steps] == [
        ("wait", "time-limit"),
        ("b", None),
    ]
    assert 0.1 <= steps[0].seconds < 10.0
    assert end.reason == "completed"


def test_a_stop_breaks_off_what_runs_and_who_waits(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        [stream("power", query("wait"), query("b")), stream("second", query("c"), after="power")],
    )
    engine = FakeEngine()
    steps, end = run(plan, engine, Stop("asked to"), after_s=0.2)
    assert [(step.operation, step.error_class) for step in steps] == [("wait", "stopped")]
    assert (end.reason, engine.asked) == ("stopped", ["wait"])


def test_a_server_that_does_not_come_back_leaves_the_others_to_their_end(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        [
            stream("one", query("a"), query("die"), query("b")),
            stream("two", query("c"), after="one"),
        ],
        time_limit_s=0.3,
    )
    steps, end = run(plan, FakeEngine())
    assert [(step.operation, step.error_class) for step in steps][:2] == [
        ("a", None),
        ("die", LOST),
    ]
    assert ("two", "c") in names(steps)
    assert ("one", "b") not in names(steps)
    assert end.reason == "completed"


def test_the_jobs_of_a_stage_run_at_once_and_stages_after_each_other(tmp_path: Path) -> None:
    engine = FakeEngine()
    steps, end = run(
        plan_of(tmp_path, [stream("cycle", work([["a"]], [["meet"], ["meet"]], [["z", "y"]]))]),
        engine,
    )
    assert engine.asked == ["a", "meet", "meet", "z", "y"]
    assert [(step.operation, step.kind, step.error_class) for step in steps] == [
        ("work", "work", None)
    ]
    assert end.operations["work"].count == 1


def test_a_job_that_fails_ends_the_work_and_the_stream_goes_on(tmp_path: Path) -> None:
    engine = FakeEngine()
    stages = ([["wait", "b"], ["refuse"]], [["c"]])
    steps, _ = run(plan_of(tmp_path, [stream("cycle", work(*stages), query("d"))]), engine)
    assert [(step.operation, step.error_class) for step in steps] == [
        ("work", "42601"),
        ("d", None),
    ]
    assert set(engine.asked) == {"wait", "refuse", "d"}


def test_a_work_that_takes_too_long_is_broken_off_in_all_its_sessions(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [stream("cycle", work([["wait"], ["wait"]]))], time_limit_s=0.1)
    steps, end = run(plan, FakeEngine())
    assert [step.error_class for step in steps] == ["time-limit"]
    assert end.reason == "completed"


def test_streams_that_ask_do_so_until_the_phase_is_over(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        [stream("cycle", query("a")), stream("idle")],
        [{**stream("first"), "asks": "retrieve"}, {**stream("second"), "asks": "retrieve"}],
    )
    plan["phases"][1]["duration_s"] = 0.2
    plan["workload"]["parameters"]["requests"] = ["r1", "r2"]
    engine = FakeEngine()
    steps, end = run(plan, engine)
    assert names(steps) == [("cycle", "a")]
    assert set(engine.asked) == {"a", "r1", "r2"}
    assert end.operations["retrieve"].count == len(engine.asked) - 1


def test_a_request_in_flight_may_end(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [{**stream("first"), "asks": "retrieve"}])
    plan["phases"][0]["duration_s"] = 0.2
    plan["workload"]["parameters"]["requests"] = ["linger"]
    _, end = run(plan, FakeEngine())
    assert end.operations["retrieve"].count == 1
    assert end.operations["retrieve"].errors == 0


@pytest.mark.parametrize(
    ("streams", "field"),
    [
        ([{"name": "Power", "steps": []}], "rounds[0][0].name"),
        ([{"name": "a", "steps": [], "after": "b"}, {"name": "b", "steps": []}], "rounds[0]"),
        ([{"name": "a", "steps": []}, {"name": "a", "steps": []}], "rounds[0]"),
        ([{"name": "a", "steps": [{"operation": "q", "statements": []}]}], "statements"),
        ([{"name": "a", "steps": [{"operation": "q", "statements": ["a", "b"]}]}], "steps[0]"),
        ([{"name": "a", "steps": [{"operation": "q", "kind": "work"}]}], "steps[0]"),
        ([{"name": "a", "steps": [{"operation": "q", "kind": "change"}]}], "steps[0]"),
        ([{"name": "a", "steps": [], "asks": "q"}], "requests"),
    ],
)
def test_streams_that_cannot_be_are_refused(
    tmp_path: Path, streams: list[dict[str, Any]], field: str
) -> None:
    with pytest.raises(RefusalError) as refused:
        read_parameters(parsed(plan_of(tmp_path, streams)))
    assert field in str(refused.value)


def test_each_phase_needs_its_streams(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, [stream("a")], [stream("b"), stream("c")])
    with pytest.raises(RefusalError, match="2 streams, but 1 users"):
        read_parameters(parsed(plan))
    del plan["phases"][0]
    with pytest.raises(RefusalError, match="2, but there are 1 phases"):
        read_parameters(parsed(plan))
