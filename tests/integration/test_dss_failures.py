"""Queries that fail in the runner, on each engine: one takes too long, a spill finds no room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import order_entry
import pytest
from integration.conftest import ServerOf
from machine import need
from runner_process import Runner
from stepped import skip_without

from loadstone.protocol.frames import PROTOCOL_VERSION, Event
from loadstone.protocol.steps import ANSWERS, StepRun, steps_of
from loadstone.spec.target import StorageSpec, TargetSpec, default_server
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS

SERVERS = ("postgresql", "mariadb")
ENGINES = [name for name, cls in TARGETS.items() if {"files", "changes"} <= cls.capabilities]
ENDLESS = {
    "postgresql": "SELECT count(*) FROM generate_series(1, 90000) a, generate_series(1, 90000)",
    "mariadb": "SELECT count(*) FROM seq_1_to_100000 a JOIN seq_1_to_1000000 b ON a.seq <> b.seq",
    "duckdb": "SELECT count(*) FROM range(100000) a(i), range(1000000) b(j) WHERE hash(i, j) = 5",
    "chdb": "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 5",
}
GROUPED = """SELECT count(*) FROM (SELECT md5(CAST(i AS varchar)) AS name, sum(i) AS total
    FROM range(2000000) t(i) GROUP BY name HAVING total < 0)"""
PLACE = "loop:ext4,size=64MB"


@contextmanager
def opened(engine: str, server_of: ServerOf, folder: Path) -> Iterator[Database]:
    skip_without(engine)
    if engine in SERVERS:
        yield server_of(engine, default_server(engine))
    else:
        with order_entry.opened(engine, folder) as target:
            yield target


def steps_made(target: Database, folder: Path, *statements: str, limit_s: float) -> list[StepRun]:
    """Runs queries one after the other, in one session; each is kept as an answer."""
    steps = [
        {"operation": f"q{place}", "kind": "query", "statements": [sql], "answer": f"q{place}"}
        for place, sql in enumerate(statements)
    ]
    load = {"model": "closed", "users": {"from": 1, "to": 1}}
    parameters: dict[str, Any] = {"time_limit_s": limit_s, "folder": str(folder)}
    parameters |= {"server_pid": target.server_pid()}
    parameters |= {"rounds": [[{"name": "power", "steps": steps}]]}
    target.make_way()
    plan = {
        "version": PROTOCOL_VERSION,
        "workload": {"name": "dss", "parameters": parameters},
        "connection": target.connection().plan(),
        "phases": [{"name": "measure", "kind": "measure", "duration_s": 60.0, "load": load}],
    }
    with Runner(plan) as runner:
        assert runner.wait() == 0, runner.errors
    return steps_of(frame for frame in runner.frames if isinstance(frame, Event))


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(each, marks=pytest.mark.xdist_group(each) if each in SERVERS else ())
        for each in ENGINES
    ],
)
def test_a_query_is_broken_off_and_the_session_goes_on(
    engine: str, server_of: ServerOf, tmp_path: Path
) -> None:
    with opened(engine, server_of, tmp_path) as target:
        late, next_one = steps_made(target, tmp_path, ENDLESS[engine], "SELECT 1", limit_s=0.5)
    assert late.error_class == "time-limit"
    assert next_one.ended_well, next_one
    assert [path.stem for path in (tmp_path / ANSWERS).iterdir()] == ["q1"]


def test_a_disk_that_is_full_in_a_spill_is_told(tmp_path: Path) -> None:
    need(PLACE)
    with order_entry.opened("duckdb", tmp_path) as target:
        settings = {"memory_limit": "40MB", "threads": 2}
        target.empty(
            TargetSpec(engine="duckdb", settings=settings, storage=StorageSpec(data=PLACE))
        )
        full, next_one = steps_made(target, tmp_path, GROUPED, "SELECT 1", limit_s=60.0)
    assert "failed to offload" in str(full.error)
    assert "Out of Memory" in str(full.error)
    assert (full.spilled_bytes or 0) > 0
    assert next_one.ended_well, next_one
