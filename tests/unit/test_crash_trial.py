"""The order of a crash trial and its record, with a target and a driver that only take notes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import sample_trials

from loadstone.errors import TargetError
from loadstone.experiments import trial
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.lab import Lab, Site
from loadstone.experiments.observer import Observer
from loadstone.experiments.trial import run_trial
from loadstone.journal import Journal
from loadstone.load import driver_group
from loadstone.load.driver import DriverFailedError, Failure
from loadstone.protocol.frames import PROTOCOL_VERSION, Hello, parse_frame
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import CheckResult, Status, TrialResult
from loadstone.spec.plans import CrashPlan, TrialPlan
from loadstone.targets.base import Target
from loadstone.targets.connection import NoConnection
from loadstone.workloads.durability import Acknowledgement, CommitAudit
from loadstone.workloads.noop import Noop

AFTER_S = 0.05
LONG_AFTER_S = 60.0
"""Nothing takes as long, however busy the machine is."""


class Story(list[str]):
    """What happened, in order."""


class FakeDriver:
    """Acknowledges four commits: three long before the failure, and one far after it."""

    story: Story
    late_s = 1000.0
    origins_s = (0.0,)

    def __init__(self, plan: Mapping[str, Any], take: Callable[[dict[str, Any]], None], **_: Any):
        self.plan, self._take = plan, take
        self._ended, self._killed = threading.Event(), False
        self._began = time.monotonic()

    def __enter__(self) -> FakeDriver:
        self.story.append("load begins")
        self._hello = {
            "frame": "hello", "t_s": 0.0, "version": PROTOCOL_VERSION, "driver": "x", "pid": 1,
            "threads": 1, "workload": "noop", "operations": ["noop"], "unix_time_s": time.time(),
            "nofile": 1, "clock_resolution_ns": 1,
        }  # fmt: skip
        begin = {
            "frame": "event", "t_s": 0.0, "kind": "phase-begin", "phase": "measure",
            "phase_kind": "measure", "detail": "",
        }  # fmt: skip
        lines = [[0.0, user, "noop", user] for user in range(3)] + [[self.late_s, 3, "noop", 3]]
        path = Path(self.plan["acknowledgements"])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self._take(self._hello)
        self._take(begin)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def clock_s(self) -> float:
        return time.monotonic() - self._began

    def wait_hello(self) -> Hello:
        frame = parse_frame(self._hello)
        assert isinstance(frame, Hello)
        return frame

    def stop(self) -> None:
        if not self._ended.is_set():
            self.story.append("load stops")
        self._ended.set()

    def kill(self) -> None:
        self.story.append("driver killed")
        self._killed = True
        self._ended.set()

    def wait(self) -> None:
        self._ended.wait()
        if self._killed:
            raise DriverFailedError(Failure.KILLED, "the driver was ended by SIGKILL")


class FakeTarget:
    """Fails when told; may not come back."""

    def __init__(self, story: Story, *, in_process: bool = False, recovers: bool = True) -> None:
        self._story, self.in_process, self._recovers = story, in_process, recovers

    def crash(self, failure: str) -> None:
        self._story.append(f"target fails ({failure})")

    def crash_under_load(self, failure: str, kill_load: Callable[[], None]) -> None:
        kind: Any = Target
        kind.crash_under_load(self, failure, kill_load)

    def start(self) -> None:
        self._story.append("target starts")
        if not self._recovers:
            raise TargetError("PANIC: could not locate a valid checkpoint record")

    def server_pid(self) -> int | None:
        return None

    def server_pids(self) -> list[int]:
        return []

    def data_folder(self) -> None:
        return None

    def check_ready(self) -> None:
        self._story.append("first answer")

    def reading_all(self) -> AbstractContextManager[None]:
        return nullcontext()

    def connection(self) -> NoConnection:
        return NoConnection()

    def probes(self) -> list[Any]:
        return []

    def parts(self) -> dict[str, Any]:
        return {}

    def check_alive(self) -> None:
        pass

    def log_path(self) -> None:
        return None


class Told(CommitAudit[Any]):
    """An audit that is told what is lost."""

    story: Story
    missing: frozenset[int] = frozenset()
    consistent = True
    unreadable = False

    def lost(self, _: Any, acknowledged: Sequence[Acknowledgement]) -> list[Acknowledgement]:
        self.story.append(f"{len(acknowledged)} looked for")
        if self.unreadable:
            raise TargetError("invalid page in block 7")
        return [each for each in acknowledged if each.keys[0] in self.missing]

    def consistency(self, _: Any) -> list[CheckResult]:
        return [CheckResult(name="whole", passed=self.consistent, detail="")]


class Audited(Noop):
    """A workload of which a crash trial can be made."""

    Durability = Told


class Stage:
    """Runs one crash trial and keeps its story."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.story = Story()
        self._folder, self._patch = folder, monkeypatch
        self.after_s = AFTER_S
        monkeypatch.setenv("LOADSTONE_STATE", str(folder / "state"))
        monkeypatch.setattr(FakeDriver, "story", self.story, raising=False)
        monkeypatch.setattr(Told, "story", self.story, raising=False)
        monkeypatch.setattr(driver_group, "Driver", FakeDriver)
        monkeypatch.setattr(trial, "_reset", lambda *_: self.story.append("start state"))
        monkeypatch.setattr("loadstone.experiments.trial.workload_of", lambda _: self.workload())

    def workload(self) -> Audited:
        return Audited(Noop.Parameters())

    def set(self, **fields: object) -> None:
        for name, value in fields.items():
            self._patch.setattr(Told, name, value)

    def run(self, failure: str = "kill", **target: bool) -> TrialResult:
        crash = CrashPlan(failure=failure, after_s=self.after_s)  # type: ignore[arg-type]
        plan: TrialPlan = sample_trials.plan_of().model_copy(update={"crash": crash})
        folder = ExperimentFolder.create(self._folder / "results", "x")
        with Journal(self._folder / "journal.jsonl", "pytest") as journal:
            fake: Any = FakeTarget(self.story, **target)
            nobody: Any = None
            lab = Lab([Site(fake, nobody)], journal, Interrupts(), Observer(), nobody)
            return run_trial(plan, folder.trial(plan), lab)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def test_the_order_with_a_server(stage: Stage):
    result = stage.run("power-loss")
    assert stage.story == [
        "start state",
        "load begins",
        "target fails (power-loss)",
        "load stops",
        "target starts",
        "first answer",
        "3 looked for",
    ]
    record = result.durability
    assert record is not None
    assert (result.status, record.outcome, record.acknowledged) == (Status.VALID, "survived", 3)
    assert record.in_doubt == 1, "acknowledged after the clock was read"
    assert record.crashed_at_s >= AFTER_S - 0.001
    assert result.metrics == []
    assert result.operations == []
    assert result.drift is None


@pytest.mark.parametrize("failure", ["kill", "power-loss"])
def test_the_order_with_an_engine_in_the_driver(stage: Stage, failure: str):
    result = stage.run(failure, in_process=True)
    assert stage.story[2:-3] == [f"target fails ({failure})", "driver killed"]
    assert stage.story[-3] == "target starts"
    assert result.status is Status.VALID


def test_what_is_lost_is_counted_named_and_leaves_the_trial_valid(stage: Stage):
    stage.set(missing=frozenset({1, 2}))
    result = stage.run()
    record = result.durability
    assert record is not None
    assert (record.lost, record.outcome) == (2, "lost commits")
    assert record.lost_span_s == pytest.approx(record.crashed_at_s)
    assert record.examples[0].startswith("noop 1, acknowledged ")
    assert result.status is Status.VALID
    assert [notice.severity for notice in result.notices] == ["error"]


@pytest.mark.parametrize("fields", [{"consistent": False}, {"unreadable": True}])
def test_wrong_or_unreadable_data_is_corrupt(stage: Stage, fields: dict[str, object]):
    stage.set(**fields)
    result = stage.run()
    assert result.durability is not None
    assert result.durability.outcome == "corrupt"
    assert result.status is Status.VALID


def test_a_server_that_does_not_come_back_is_a_finding(stage: Stage):
    result = stage.run(recovers=False)
    record = result.durability
    assert record is not None
    assert (record.outcome, record.recovery_s) == ("did not recover", None)
    assert "checkpoint record" in record.problem
    assert stage.story[-1] == "target starts"
    assert result.status is Status.VALID


def test_a_crash_before_the_first_commit_shows_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(driver_group, "Driver", _Silent)
    monkeypatch.setattr(_Silent, "story", stage.story, raising=False)
    result = stage.run()
    assert result.status is Status.INVALID
    assert result.durability is not None
    assert result.durability.acknowledged == 0


class _Silent(FakeDriver):
    def __enter__(self) -> FakeDriver:
        super().__enter__()
        Path(self.plan["acknowledgements"]).unlink()
        return self


def test_a_load_that_ends_before_the_moment_is_a_failed_trial(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(FakeDriver, "wait", lambda _: None)
    stage.after_s = LONG_AFTER_S
    result = stage.run()
    assert result.status is Status.FAILED
    assert result.durability is None
    assert "before the moment of the failure" in result.notices[0].message
