"""The event archive by the runner as it is used: a process, its pipes, and a file of DuckDB."""

import json
import resource
import signal
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from runner_plans import archive_plan, changed, encoded
from runner_process import RUNNER, Runner, is_event, make_archive

from loadstone.load.locate import find_driver
from loadstone.protocol.frames import PROTOCOL_VERSION, Frame, Hello, Tick
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.contents import read_contents, strays
from loadstone.workloads.archive.replay_file import write_replay
from loadstone.workloads.archive.segments import read_segments
from loadstone.workloads.archive.tables import index_name

STATIONS = 3
Rows = list[tuple[Any, ...]]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return make_archive(tmp_path / "archive.db")


def ask(path: Path, sql: str) -> Rows:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def run(plan: Mapping[str, Any]) -> Runner:
    with Runner(plan) as runner:
        assert runner.wait() == 0, runner.errors
    return runner


def segments(path: Path) -> Rows:
    sql = "SELECT number, name, begin_us, state FROM archive_segment ORDER BY number"
    return ask(path, sql)


def check_rows(path: Path) -> int:
    """Each station's events are there once, in the segment of their time; how many all are.

    What was held back until the segment of its time was closed lies in the next.
    """
    stations = ask(
        path,
        "SELECT station, count(*), min(seq), max(seq), count(DISTINCT seq), any_value(stored) "
        "FROM event_history JOIN archive_station USING (station) GROUP BY station",
    )
    assert len(stations) == STATIONS
    for _, rows, least, most, distinct, mark in stations:
        assert (least, most, distinct, mark) == (1, rows, rows, rows)

    def query(sql: str) -> Rows:
        return ask(path, sql)

    assert strays(read_contents(query, Dialect("duckdb"), read_segments(query))) == {}
    return sum(rows for _, rows, *_ in stations)


def check_facts(path: Path, facts: Mapping[str, float]) -> None:
    """What the runner counted is what is there."""
    rows = check_rows(path)
    held = facts["events_buffered"] + facts["events_in_doubt"]
    assert facts["events_offered"] == facts["events_accepted"] + facts["events_lost"]
    assert facts["events_accepted"] == facts["events_stored"] + held
    assert facts["events_stored"] <= rows <= facts["events_stored"] + facts["events_in_doubt"]


def has_stored(events: int) -> Any:
    def wanted(frame: Frame) -> bool:
        return isinstance(frame, Tick) and frame.counters["events_stored"] >= events

    return wanted


def is_told(name: str) -> Any:
    """Whether a frame is an event of the workload of that name."""
    return lambda frame: is_event(frame, "workload") and frame.name == name


# -- under load ----
@pytest.mark.parametrize(("index", "preallocate"), [("live", True), ("on-close", False)])
def test_segments_are_switched_under_load(archive: Path, index: str, preallocate: bool) -> None:
    plan = changed(archive_plan(archive, duration_s=60.0), "workload.parameters.index", index)
    with Runner(changed(plan, "workload.parameters.preallocate", preallocate)) as runner:
        runner.await_frame(is_told("segment-close"))
        runner.await_frame(is_told("segment-switch"), after=len(runner.frames))
        runner.say(control="stop")
        assert runner.wait() == 0
    hello = runner.frames[0]
    assert isinstance(hello, Hello)
    assert (hello.version, hello.engine) == (PROTOCOL_VERSION, f"DuckDB {duckdb.__version__}")
    assert (runner.end.reason, runner.end.operations["insert"].errors) == ("stopped", 0)
    assert runner.end.facts["events_offered"] > 500.0 * STATIONS
    assert runner.end.facts["events_lost"] == 0
    check_facts(archive, runner.end.facts)

    told = [event.name for event in runner.events("workload")]
    states = [state for *_, state in segments(archive)]
    assert told.count("segment-switch") >= 2
    assert told.count("segment-close") == states.count("closed") >= 1
    assert len(states) - 1 == told.count("segment-create")
    indexes = {name for (name,) in ask(archive, "SELECT index_name FROM duckdb_indexes()")}
    for _, name, _, state in segments(archive):
        assert state != "closed" or index_name(name) in indexes
        assert index == "on-close" or index_name(name) in indexes


def test_ticks_say_what_was_done_and_what_it_cost(archive: Path) -> None:
    runner = run(archive_plan(archive, duration_s=1.5))
    ticks, end = runner.ticks, runner.end
    assert sum(tick.counters["events_stored"] for tick in ticks) == end.facts["events_stored"]
    for name, total in end.operations.items():
        assert sum(tick.operations[name].count for tick in ticks) == total.count
    assert end.operations["visible"].count > 0
    asked = ("element-window", "group-last", "minute")
    assert sum(end.operations[name].count for name in asked) > 5
    for tick in ticks:
        assert tick.engine_cpu_s is not None
        assert 0.0 <= tick.engine_cpu_s <= tick.cpu_user_s + tick.cpu_system_s
        assert tick.users == 2 + 1 + STATIONS
    whole = [tick for tick in ticks if not tick.late][:3]
    # A tick that a busy machine ends late is followed by one that is as much shorter.
    assert [tick.duration_s for tick in whole] == pytest.approx([0.5] * 3, abs=0.3)
    assert sum(tick.duration_s for tick in whole) == pytest.approx(1.5, abs=0.3)


def test_a_file_is_replayed_by_every_station(archive: Path, tmp_path: Path) -> None:
    lines = [
        f"{at / 500},element {at % 7},{at},192,{'state' if at % 5 else ''}" for at in range(99)
    ]
    csv, events = tmp_path / "events.csv", tmp_path / "events.bin"
    csv.write_text("\n".join(["ts,element,value,status,text", *lines]))
    with events.open("wb") as file:
        write_replay(csv, file)
    plan = archive_plan(archive, duration_s=1.0)
    runner = run(changed(plan, "workload.parameters.events", str(events)))
    check_facts(archive, runner.end.facts)
    wrong = "value <> (seq - 1) % 99 OR element_id <> station * 50 + value % 7"
    assert ask(archive, f"SELECT count(*) FROM event_history WHERE {wrong}") == [(0,)]
    assert runner.end.facts["events_stored"] > 99 * STATIONS


# -- the same events as those of the Rust driver ----
def test_events_say_what_those_of_the_rust_driver_say(archive: Path, tmp_path: Path) -> None:
    plan = changed(archive_plan(archive), "seed", 2**63 + 11)
    run(plan)
    columns = "station, seq, element_id, value, text, status"
    ours = ask(archive, f"SELECT {columns} FROM event_history ORDER BY station, seq")
    file = tmp_path / "archive.sqlite"
    theirs = dict(_by_rust(plan, file, columns))
    common = [row for row in ours if row[:2] in theirs]
    assert len(common) > 500 * STATIONS
    assert [row for row in common if theirs[row[:2]] != row] == []
    assert {row[4] for row in common} > {None, "TRIPPED"}


def _by_rust(plan: dict[str, Any], file: Path, columns: str) -> Any:
    with sqlite3.connect(file) as made:
        made.executescript(
            "CREATE TABLE archive_station (station integer PRIMARY KEY, stored bigint NOT NULL);"
            "CREATE TABLE archive_segment (number integer PRIMARY KEY, name text, begin_us bigint, "
            "state text, created_us bigint, current_us bigint, closed_us bigint, create_s real, "
            "switch_s real, close_s real);"
            "CREATE TABLE event_history_00000001 (element_id integer, ts integer, value real, "
            "text text, status integer, station integer, seq bigint);"
            "CREATE VIEW event_history AS SELECT * FROM event_history_00000001;"
            "INSERT INTO archive_segment (number, name, begin_us, state) "
            "VALUES (1, 'event_history_00000001', 0, 'current')"
        )
    connection = {"protocol": "sqlite", "database": str(file), "settings": {"journal_mode": "wal"}}
    _exchange((str(find_driver()),), {**plan, "connection": connection})
    with sqlite3.connect(file) as filled:
        for row in filled.execute(f"SELECT {columns} FROM event_history"):
            yield row[:2], row


def _exchange(program: tuple[str, ...], plan: dict[str, Any]) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encoded(plan))
        process.stdin.flush()
        process.stdout.read()


# -- ends ----
def test_after_a_kill_the_marks_are_the_rows_and_a_run_goes_on_from_them(
    archive: Path, tmp_path: Path
) -> None:
    acknowledged = tmp_path / "acknowledged"
    plan = archive_plan(archive, duration_s=60.0) | {"acknowledgements": str(acknowledged)}
    with Runner(plan) as runner:
        runner.await_frame(has_stored(1000))
        runner.signal(signal.SIGKILL)
        assert runner.wait() == -signal.SIGKILL
    before = check_rows(archive)
    marks = dict(ask(archive, "SELECT station, stored FROM archive_station"))
    last = dict.fromkeys(range(STATIONS), 0)
    for line in acknowledged.read_text().splitlines():
        _, user, operation, station, first, end = json.loads(line)
        assert (user, operation, first) == (station + 3, "insert", last[station] + 1)
        last[station] = end
    assert all(0 < last[station] <= marks[station] for station in last)

    run(changed(archive_plan(archive, duration_s=0.5), "seed", 6))
    assert check_rows(archive) > before


def test_stations_go_on_after_duckdb_has_given_up_its_database(archive: Path) -> None:
    with duckdb.connect(archive) as filled:
        filled.execute("CREATE TABLE filler AS SELECT random() FROM range(300_000)")
    # The disk is full for the checkpoints of the file, not for its log, which is small.
    limit = (archive.stat().st_size, resource.RLIM_INFINITY)
    plan = archive_plan(archive, duration_s=60.0)
    plan["connection"]["settings"] = {"checkpoint_threshold": "100KB"}
    with Runner(plan) as runner:
        runner.await_frame(has_stored(100))
        runner.limit(resource.RLIMIT_FSIZE, limit)
        runner.await_frame(lambda frame: is_event(frame, "connection-lost"))
        runner.limit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        runner.await_frame(lambda frame: is_event(frame, "reconnected"))
        before = len(runner.frames)
        runner.await_frame(has_stored(1000), after=before)
        runner.say(control="stop")
        assert runner.wait() == 0
    assert runner.end.facts["events_lost"] == 0
    check_facts(archive, runner.end.facts)


@pytest.mark.parametrize("reason", ["asked to", "standard input ended", "SIGTERM", "SIGINT"])
def test_every_reason_to_stop_ends_the_run_in_order(archive: Path, reason: str) -> None:
    with Runner(archive_plan(archive, duration_s=60.0)) as runner:
        runner.await_frame(has_stored(100))
        if reason == "asked to":
            runner.say(control="stop")
        elif reason == "standard input ended":
            runner.end_input()
        else:
            runner.signal(signal.Signals[reason])
        assert runner.wait() == 0
    assert [event.detail for event in runner.events("stopping")] == [reason]
    assert runner.end.reason == "stopped"
    check_facts(archive, runner.end.facts)
    assert not archive.with_suffix(".db.wal").exists()


def test_a_runner_that_nobody_listens_to_ends(archive: Path) -> None:
    pipe = subprocess.PIPE
    plan = archive_plan(archive, duration_s=60.0)
    with subprocess.Popen(RUNNER, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encoded(plan))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(20) == 1
    check_rows(archive)


def test_control_lines_are_obeyed_or_answered(archive: Path) -> None:
    plan = changed(archive_plan(archive, duration_s=60.0), "start", "told")
    with Runner(plan) as runner:
        runner.await_frame(lambda frame: is_event(frame, "ready"))
        runner.say(control="begin", monotonic_s=0.0)
        runner.await_frame(has_stored(100))
        runner.say(control="rate", rate_per_s=5)
        runner.say(control="users", users=2 + 1 + STATIONS + 2)
        runner.await_frame(
            lambda frame: isinstance(frame, Tick) and frame.users == 3 + STATIONS + 2
        )
        runner.say(control="stop")
        assert runner.wait() == 0
    assert [event.detail for event in runner.events("refused")] == ["rate: this phase is closed"]
    assert [event.detail for event in runner.events("users")] == [str(3 + STATIONS + 2)]


OPEN = {"model": "open", "rate_per_s": {"from": 9, "to": 9}, "sessions": 1}


# -- refusals ----
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", PROTOCOL_VERSION + 1),
        ("workload.name", "oltp"),
        ("workload.parameters.path", "staged"),
        ("workload.parameters.events", "/nowhere/at/all"),
        ("connection.database", "/nowhere/at/all.db"),
        ("connection.settings", {"threads": "many"}),
        ("phases[0].load", OPEN),
        ("pacing.operations", {"vacuum": {"every_s": 1.0}}),
        ("acknowledgements", "/nowhere/at/all"),
    ],
)
def test_a_refused_plan_is_told_in_one_line(archive: Path, path: str, value: object) -> None:
    plan = changed(archive_plan(archive) | {"connection": connection_to(archive)}, path, value)
    with Runner(plan) as runner:
        assert runner.wait() == 2
    assert runner.frames == []
    assert runner.errors.startswith(f"loadstone-runner: plan refused: {path}")
    assert runner.errors.count("\n") == 1


def connection_to(path: Path) -> dict[str, Any]:
    return {"protocol": "duckdb", "database": str(path), "settings": {}}


def test_the_version_is_told_without_loading_the_engine() -> None:
    command = (RUNNER[0], "-X", "importtime", *RUNNER[1:], "--version")
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout == f"loadstone-runner 0.1.0 (protocol {PROTOCOL_VERSION})\n"
    loaded = {line.rsplit("|", 1)[-1].strip() for line in answer.stderr.splitlines()}
    assert loaded.isdisjoint({"duckdb", "numpy", "pyarrow", "pydantic", "json"})
