"""The doctor at a real PostgreSQL: one with planted faults, and one that is set up well."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from integration.conftest import available
from postgresql_server import PostgreSQLServer, running_postgresql

from loadstone.doctor.collect.postgresql import read_only_client
from loadstone.doctor.document import experiment_file
from loadstone.doctor.facts import PostgreSQLFacts
from loadstone.doctor.visit import Visit, visit_server
from loadstone.errors import TargetError
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.spec.target import TargetSpec

FAULTY = {
    "shared_buffers": "1MB",
    "effective_cache_size": "1MB",
    "work_mem": "64kB",
    "max_connections": 1000,
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "zero_damaged_pages": "on",
    "max_wal_size": "4MB",
    "min_wal_size": "2MB",
    "checkpoint_completion_target": 0.2,
    "checkpoint_warning": "1h",
    "archive_mode": "on",
    "archive_command": "/bin/false",
    "autovacuum": "off",
    "io_method": "sync",
    "track_io_timing": "off",
    "log_temp_files": 0,
    "deadlock_timeout": "10ms",
    "max_files_per_process": 1000,
    "superuser_reserved_connections": 0,
}
PLANTED = {
    "postgresql.shared-buffers",
    "postgresql.effective-cache-size",
    "postgresql.work-mem",
    "postgresql.max-connections",
    "postgresql.nofile",
    "postgresql.max-wal-size",
    "postgresql.checkpoint-completion-target",
    "postgresql.fsync-off",
    "postgresql.full-page-writes-off",
    "postgresql.synchronous-commit-off",
    "postgresql.damage-hidden",
    "postgresql.data-checksums-off",
    "postgresql.archive-failing",
    "postgresql.autovacuum-off",
    "postgresql.io-method",
    "postgresql.track-io-timing",
    "postgresql.log.checkpoints-too-frequent",
    "postgresql.log.temporary-files",
    "postgresql.log.deadlocks",
    "postgresql.log.out-of-memory",
}
WELL = {
    "shared_buffers": "256MB",
    "archive_mode": "on",
    "archive_command": "/bin/true",
    "jit": "off",
    "random_page_cost": 1.1,
    "track_io_timing": "on",
}


@pytest.fixture(scope="module")
def faulty() -> Iterator[PostgreSQLServer]:
    options = ("--no-data-checksums", "--wal-segsize=1")
    with running_postgresql(FAULTY, initdb=options, nofile=900) as server:
        _use(server)
        yield server


@pytest.fixture(scope="module")
def seen(faulty: PostgreSQLServer) -> Visit:
    """A visit to the faulty server."""
    return _visit(faulty)


@pytest.fixture(scope="module")
def well() -> Iterator[PostgreSQLServer]:
    with running_postgresql(WELL) as server:
        server.run("CREATE TABLE item (id integer PRIMARY KEY)", "INSERT INTO item VALUES (1)")
        yield server


_LARGE_SORT = "SELECT repeat('x', 1000) AS t FROM generate_series(1, 10000) AS n ORDER BY -n"
"""Of ten megabytes."""


def _use(server: PostgreSQLServer) -> None:
    """Load under which the faults show: more log than it may have, long sorts, a deadlock."""
    _kill_a_session(server)
    server.run(
        "CREATE TABLE item (id integer PRIMARY KEY, name text)",
        "INSERT INTO item SELECT n, repeat('x', 100) FROM generate_series(1, 20000) AS n",
        *6 * ["UPDATE item SET name = name || 'y'", "CHECKPOINT"],
        *12 * [f"SELECT count(t) FROM ({_LARGE_SORT} OFFSET 0)"],
    )
    _deadlock(server)
    server.run("SELECT pg_switch_wal()")
    _wait(server, "SELECT failed_count > 0 FROM pg_stat_archiver")
    _wait(server, "SELECT num_requested >= 6 FROM pg_stat_checkpointer")


def _deadlock(server: PostgreSQLServer) -> None:
    met = threading.Barrier(2)
    threads = [
        threading.Thread(target=_lock, args=(server, met, rows)) for rows in ((1, 2), (2, 1))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _lock(server: PostgreSQLServer, met: threading.Barrier, rows: tuple[int, int]) -> None:
    update = "UPDATE item SET name = '' WHERE id = %s"
    died = contextlib.suppress(psycopg.errors.DeadlockDetected)
    with server.connect() as connection, died, connection.transaction():
        connection.execute(update, rows[:1])
        met.wait()
        connection.execute(update, rows[1:])


def _kill_a_session(server: PostgreSQLServer) -> None:
    """As the kernel does it when memory runs out: the server ends all sessions and recovers."""
    with contextlib.suppress(psycopg.OperationalError), server.connect() as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        connection.execute("SELECT 1")
    deadline = time.monotonic() + 60
    while b"ready to accept connections" not in server.log.read_bytes().partition(b"signal 9")[2]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _wait(server: PostgreSQLServer, question: str) -> None:
    deadline = time.monotonic() + 60
    while not server.run(question)[0][0]:
        assert time.monotonic() < deadline, question
        time.sleep(0.1)


def _visit(server: PostgreSQLServer, **options: Path) -> Visit:
    return visit_server(TargetSpec(engine="postgresql", server=server.address), **options)


def _names(visit: Visit) -> set[str]:
    return {each.rule.name for each in visit.findings}


def test_every_planted_fault_is_found_and_nothing_else(seen: Visit):
    found = {name for name in _names(seen) if name.startswith("postgresql.")}
    assert found == PLANTED


def test_on_a_well_configured_server_nothing_is_found(well: PostgreSQLServer):
    visit = _visit(well)
    assert {name for name in _names(visit) if name.startswith("postgresql.")} == set()
    server = visit.facts.server
    assert isinstance(server, PostgreSQLFacts)
    assert server.settings.text("archive_command") == "/bin/true"
    assert server.log is not None
    assert visit.notes == ()


def test_an_older_version_is_understood():
    if not available("local:15"):
        pytest.skip("no PostgreSQL 15 here")
    with running_postgresql(WELL, programs_of="local:15") as server:
        visit = _visit(server)
    found = {name for name in _names(visit) if name.startswith("postgresql.")}
    assert found == {"postgresql.data-checksums-off"}
    facts = visit.facts.server
    assert isinstance(facts, PostgreSQLFacts)
    assert facts.activity is not None
    assert facts.activity.wal_bytes is not None
    assert facts.activity.checkpoints_span_s > 0


def test_data_in_memory_is_found(well: PostgreSQLServer):
    if not Path("/dev/shm").is_dir():
        pytest.skip("this machine has no /dev/shm")
    assert "host.volatile-storage" in _names(_visit(well, folder=Path("/dev/shm")))


def test_what_the_server_tells_is_seen(faulty: PostgreSQLServer, seen: Visit):
    server = seen.facts.server
    assert isinstance(server, PostgreSQLFacts)
    assert server.major == 18
    assert server.process is not None
    assert (server.process.pid, server.process.nofile) == (faulty.pid, 900)
    assert server.log is not None
    assert server.log.path == str(faulty.log)
    assert server.settings.number("shared_buffers") == 1024**2
    assert server.settings.number("checkpoint_timeout") == 300


def test_every_experiment_can_run_here_as_its_file_says(seen: Visit):
    experiments = 0
    for finding in seen.findings:
        if finding.experiment is None:
            assert finding.no_experiment
            continue
        experiments += 1
        written = parse_experiment(experiment_file(finding), finding.rule.name)
        assert written.experiment == finding.experiment
        assert check_experiment(written.experiment) == []
    assert experiments >= 12


def test_a_user_without_rights_gets_what_there_is(well: PostgreSQLServer):
    well.run("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    address = well.address.replace("postgres@", "guest@")
    visit = visit_server(TargetSpec(engine="postgresql", server=address))
    assert any("--data FOLDER" in note for note in visit.notes)
    assert not any(each.rule.name.startswith("postgresql.") for each in visit.findings)


def test_a_visit_writes_nothing(well: PostgreSQLServer):
    state = (
        "SELECT pg_snapshot_xmax(pg_current_snapshot()), "
        "(SELECT array_agg((name, setting) ORDER BY name)::text FROM pg_settings), "
        "(SELECT array_agg((relname, reltuples, relpages) ORDER BY oid)::text FROM pg_class), "
        "(SELECT array_agg((relname, n_tup_ins, n_tup_upd, n_tup_del) ORDER BY relid)::text "
        "FROM pg_stat_user_tables)"
    )
    before = well.run(state)
    _visit(well)
    assert well.run(state) == before


def test_the_server_itself_refuses_writes_of_the_session(well: PostgreSQLServer):
    for statement in ("CREATE TABLE more (id integer)", "DELETE FROM item"):
        client = read_only_client(TargetSpec(engine="postgresql", server=well.address))
        with contextlib.closing(client), pytest.raises(TargetError, match="read-only transaction"):
            client.query(statement)


def test_a_server_that_is_not_there_is_said_so(tmp_path: Path):
    address = f"postgresql://me@/shop?host={tmp_path}"
    with pytest.raises(TargetError, match="cannot connect"):
        visit_server(TargetSpec(engine="postgresql", server=address))
