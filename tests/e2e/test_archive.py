"""The event archive as a user runs it: switches under load, and a server that goes away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest
from lengths import LONG, long_but
from session import Session, until
from stepped import compare_engines, metrics, skip_without

from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.results.frames import read_frames
from loadstone.targets.registry import TARGETS

ENGINES = [name for name, cls in TARGETS.items() if {"sql", "bulk"} <= cls.capabilities]
SMALL = ("archive", "--rate", "2000", "--param", "segment_events=4000", "--warm-up", "1s")
COMPARED = """\
workload:
  name: archive
  parameters: {rate: 2000, segment_events: 4000, late_by: 1s, operators: 1, interval: 100ms}
profile: {warm_up: 1s, measure: 8s}
"""
"""Of bulk inserts that were longer apart, or of a shorter phase, one more or less would be a large
share of all."""
CHECKS = 8
TOGETHER = pytest.mark.xdist_group("archive")
"""Of tests that look at the same trials: one process makes those."""
MOVE = """\
version: 1
name: move
workload:
  name: archive
  parameters: {{rate: 2000, segment_events: 2000, late_by: 500ms, move: true}}
target: {{engine: postgresql{storage}}}
profile: {{warm_up: 1s, measure: {measure}}}
extra_trials: 0
"""
PLACE = "loop:ext4,size=1GB"
EXPERIMENT = """\
version: 1
name: outage
workload:
  name: archive
  parameters:
    {{rate: 2000, segment_events: 4000, buffer_events: {buffer}, path: {path}, late_by: 1s,
    interval: 200ms}}
target: {{engine: {engine}{target}}}
profile: {{warm_up: 1s, measure: {measure}}}
outage: {{kind: {kind}, after: 1s, for: {length}}}
extra_trials: 0
"""


def figures(session: Session, *arguments: str) -> tuple[dict[str, float], dict[str, Any]]:
    """The metrics and the result of a run of one trial, whose checks have all passed."""
    (result,) = results_of(session, "run", *arguments)
    return metrics(result), result


def results_of(session: Session, *arguments: str) -> list[dict[str, Any]]:
    """The results of trials whose checks have all passed, and which have left nothing."""
    results = session.trial_results(*arguments)
    for result in results:
        assert len(result["checks"]) == CHECKS
        assert [check for check in result["checks"] if not check["passed"]] == []
    session.assert_nothing_left()
    return results


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """The result of each engine that is there, of one experiment."""
    with Session(tmp_path_factory.mktemp("compared")) as user:
        (user.folder / "engines.yaml").write_text(compare_engines(ENGINES, COMPARED))
        results = results_of(user, "run", "engines.yaml")
        yield {result["variant"].removeprefix("engine="): result for result in results}


@TOGETHER
@pytest.mark.parametrize("engine", ENGINES)
def test_no_event_is_lost_while_segments_are_switched(
    compared: dict[str, dict[str, Any]], engine: str
) -> None:
    skip_without(engine)
    check_switched(metrics(compared[engine]), engine)


@LONG
@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_no_event_is_lost_by_a_procedure(session: Session, engine: str) -> None:
    skip_without(engine)
    given = ("path=staged", "late_by=1s", "operators=1", "interval=100ms")
    staged = [word for each in given for word in ("--param", each)]
    found, _ = figures(session, *SMALL, *staged, "--target", engine, "--measure", "6s")
    check_switched(found, engine)


def check_switched(found: dict[str, float], engine: str) -> None:
    assert found["segment_switches"] >= 1
    assert found["events_lost_per_s"] == 0
    assert found["events_offered_per_s"] == pytest.approx(2000, rel=0.05)
    assert found["bytes_per_event"] > 40
    assert found["visible_p99_ms"] >= 0
    assert ("log_bytes_per_event" in found) != TARGETS[engine].in_process


def moving(session: Session, archive: str | None, measure: str) -> Path:
    """An experiment that moves segments, as a file; skips where the placement cannot be made."""
    if archive is not None and (reason := support.unavailable(parse(archive))):
        pytest.skip(reason)
    storage = f', storage: {{archive: "{archive}"}}' if archive else ""
    path = session.folder / "move.yaml"
    path.write_text(MOVE.format(storage=storage, measure=measure))
    return path


@LONG
@pytest.mark.parametrize("archive", [None, PLACE])
def test_closed_segments_move_to_the_second_place(session: Session, archive: str | None) -> None:
    """Two trials: the second must not find what the first has moved."""
    ended = session.run("run", str(moving(session, archive, "6s")), "--repeats", "2", "--json")
    assert ended.returncode in {0, 3}, ended.stderr
    for trial in json.loads(ended.stdout)["trials"]:
        checks = {each["name"]: each for each in trial["result"]["checks"]}
        assert [name for name, each in checks.items() if not each["passed"]] == []
        detail = checks["closed segments have moved"]["detail"]
        assert not detail.startswith("0 "), detail
        found = {metric["name"]: metric["value"] for metric in trial["result"]["metrics"]}
        assert found["close_max_ms"] >= found["close_median_ms"] > 0
        readings = {each["factor"]: each["read_back"] for each in trial["result"]["factors"]}
        assert readings.get("storage.archive") == archive
    session.assert_nothing_left()


@pytest.mark.parametrize("archive", long_but([PLACE], [None, PLACE]))
def test_a_run_killed_after_segments_have_moved_leaves_nothing(
    session: Session, archive: str | None
) -> None:
    run = session.start("run", str(moving(session, archive, "90s")))
    trial = session.measuring()

    def moved() -> bool:
        return any(frame.get("name") == "segment-close" for frame in read_frames(trial))

    until("a segment that was moved", moved)
    run.kill()
    run.communicate()
    recovered = session.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    session.assert_nothing_left()


def outage(session: Session, kind: str, **fields: Any) -> Path:
    """An experiment with an outage, as a file."""
    path = session.folder / "outage.yaml"
    given = {"engine": "postgresql", "target": "", "kind": kind, "length": "3s"}
    given |= {"buffer": 30_000, "measure": "8s", "path": "direct"}
    path.write_text(EXPERIMENT.format(**{**given, **fields}))
    return path


@pytest.mark.parametrize(
    ("kind", "engine", "path"),
    long_but(
        [("kill", "mariadb", "direct")],
        [
            ("pause", "postgresql", "staged"),
            *product(["pause", "kill"], ["postgresql", "mariadb"], ["direct"]),
        ],
    ),
)
def test_a_server_that_comes_back_finds_every_event_once(
    session: Session, kind: str, engine: str, path: str
) -> None:
    skip_without(engine)
    found, result = figures(session, str(outage(session, kind, engine=engine, path=path)))
    assert found["events_lost_per_s"] == 0
    assert found["segment_switches"] >= (1 if path == "staged" else 0)
    assert found["deepest_buffer"] >= 2000
    assert found["inserts_over_threshold"] >= 1
    (told,) = result["outages"]
    assert told["to_s"] - told["from_s"] == pytest.approx(3, abs=0.5)


def test_a_full_disk_holds_events_back(session: Session) -> None:
    reason = support.unavailable(parse("loop:ext4"))
    if reason is not None:
        pytest.skip(reason)
    target = ', storage: {data: "loop:ext4,size=2GB"}'
    found, _ = figures(session, str(outage(session, "full-disk", target=target)))
    assert found["events_lost_per_s"] == 0


@LONG
def test_what_does_not_fit_into_the_buffers_is_counted(session: Session) -> None:
    found, result = figures(session, str(outage(session, "pause", buffer=1500)))
    assert found["events_lost_per_s"] > 0
    assert found["deepest_buffer"] == 1500
    account = next(each for each in result["checks"] if each["name"] == "events add up")
    assert " lost; " in account["detail"]


@pytest.mark.parametrize("engine", long_but(["sqlite"], ["postgresql", "mariadb", "sqlite"]))
def test_acknowledged_events_survive_a_kill(session: Session, engine: str) -> None:
    skip_without(engine)
    ended = session.run("crash", *SMALL, "--target", engine, "--crashes", "2", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    for trial in document["trials"]:
        record = trial["result"]["durability"]
        assert record["acknowledged"] > 0
        assert (record["lost"], record["conditions_failed"]) == (0, [])
    session.assert_nothing_left()


def test_a_run_killed_while_its_server_is_paused_leaves_nothing(session: Session) -> None:
    path = outage(session, "pause", length="60s", measure="90s")
    run = session.start("run", str(path))
    session.measuring()

    def paused() -> bool:
        return session.postmaster().status() == psutil.STATUS_STOPPED

    until("the pause", paused)
    run.kill()
    run.communicate()
    assert paused()
    recovered = session.run("recover")
    assert recovered.returncode == 0, recovered.stderr
    session.assert_nothing_left()


def test_users_are_not_the_users_to_give(session: Session) -> None:
    ended = session.run("run", "archive", "--users", "8")
    assert ended.returncode == 2
    assert "is decided by workload archive" in ended.stderr
