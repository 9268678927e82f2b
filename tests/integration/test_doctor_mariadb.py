"""The doctor at a real MariaDB: one with planted faults, and one that is set up well."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest
from mariadb_server import MariaDBServer, running_mariadb

from loadstone.doctor.collect.mariadb import read_only_connection
from loadstone.doctor.document import experiment_file
from loadstone.doctor.facts import MariaDBFacts
from loadstone.doctor.visit import Visit, visit_server
from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.spec.target import TargetSpec

FAULTY = {
    "innodb_buffer_pool_size": "8M",
    "innodb_log_file_size": "4M",
    "innodb_flush_log_at_trx_commit": 2,
    "innodb_doublewrite": "OFF",
    "innodb_flush_method": "fsync",
    "innodb_print_all_deadlocks": "ON",
    "log_bin": "binlog",
    "sync_binlog": 0,
    "query_cache_type": "ON",
    "query_cache_size": "1M",
    "tmp_table_size": "1K",
    "max_heap_table_size": "16K",
    "table_open_cache": 10,
    "max_connections": 12,
    "log_warnings": 4,
}
PLANTED = {
    "mariadb.buffer-pool",
    "mariadb.flush-log-at-commit",
    "mariadb.doublewrite-off",
    "mariadb.flush-method",
    "mariadb.sync-binlog",
    "mariadb.query-cache",
    "mariadb.temporary-tables",
    "mariadb.table-cache",
    "mariadb.no-crash-recovery",
    "mariadb.connections-used-up",
    "mariadb.slow-log-off",
    "mariadb.log.aborted-connections",
    "mariadb.log.deadlocks",
    "mariadb.log.too-many-connections",
}
MAY_COME_TOO = {"mariadb.redo-log", "mariadb.buffer-pool-waits", "mariadb.log.page-cleaner-late"}
"""Rightly found of so small a pool and log when the disk of this machine is slow."""
WELL = {
    "innodb_buffer_pool_size": "256M",
    "log_bin": "binlog",
    "sync_binlog": 1,
    "slow_query_log": "ON",
}


@pytest.fixture(scope="module")
def faulty() -> Iterator[MariaDBServer]:
    with running_mariadb(FAULTY, nofile=1100) as server:
        _use(server)
        yield server


@pytest.fixture(scope="module")
def seen(faulty: MariaDBServer) -> Visit:
    """A visit to the faulty server."""
    return _visit(faulty)


@pytest.fixture(scope="module")
def well() -> Iterator[MariaDBServer]:
    with running_mariadb(WELL) as server:
        server.run(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.item (id integer PRIMARY KEY)",
            "INSERT INTO shop.item VALUES (1)",
        )
        yield server


def _use(server: MariaDBServer) -> None:
    """Load under which the faults show."""
    server.run(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.item (id integer PRIMARY KEY, name varchar(200))",
        "CREATE TABLE shop.old (id integer PRIMARY KEY) ENGINE = MyISAM",
    )
    rows = ",".join(f"({n}, repeat('x', 150))" for n in range(100_000))
    with server.connect(max_allowed_packet=16 << 20) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO shop.item VALUES " + rows)
        for number in range(40):
            cursor.execute(f"CREATE TABLE shop.t{number} (id integer PRIMARY KEY)")
        for number in range(200):
            cursor.execute(f"SELECT count(*) FROM shop.t{number % 40}")
            cursor.execute(
                f"SELECT repeat(name, 2) AS word, count(*) FROM shop.item WHERE id < "
                f"{number + 500} "
                "GROUP BY word"
            )
        cursor.execute("ANALYZE TABLE shop.item")
    _deadlock(server)
    for _ in range(12):
        _leave_without_a_word(server)
    _fill_sessions(server)


def _deadlock(server: MariaDBServer) -> None:
    met = threading.Barrier(2)
    threads = [
        threading.Thread(target=_lock, args=(server, met, rows)) for rows in ((1, 2), (2, 1))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _lock(server: MariaDBServer, met: threading.Barrier, rows: tuple[int, int]) -> None:
    update = "UPDATE shop.item SET name = '' WHERE id = %s"
    died = contextlib.suppress(pymysql.err.OperationalError)
    with server.connect() as connection, connection.cursor() as cursor, died:
        connection.begin()
        cursor.execute(update, rows[:1])
        met.wait()
        cursor.execute(update, rows[1:])
        connection.commit()


def _leave_without_a_word(server: MariaDBServer) -> None:
    connection = server.connect(database="shop")
    connection._force_close()


def _fill_sessions(server: MariaDBServer) -> None:
    with contextlib.ExitStack() as stack, contextlib.suppress(pymysql.err.OperationalError):
        for _ in range(20):
            stack.enter_context(server.connect())


def _visit(server: MariaDBServer, address: str | None = None) -> Visit:
    return visit_server(TargetSpec(engine="mariadb", server=address or server.address))


def _names(visit: Visit) -> set[str]:
    names = {each.rule.name for each in visit.findings}
    return {name for name in names if name.startswith("mariadb.")}


def test_every_planted_fault_is_found_and_nothing_else(seen: Visit):
    assert _names(seen) - MAY_COME_TOO == PLANTED


def test_on_a_well_configured_server_nothing_is_found(well: MariaDBServer):
    visit = _visit(well)
    assert _names(visit) == set()
    server = visit.facts.server
    assert isinstance(server, MariaDBFacts)
    assert server.settings.text("sync_binlog") == "1"
    assert server.log is not None
    assert visit.notes == ()


@pytest.mark.parametrize("way", ["socket", "address"])
def test_what_the_server_tells_is_seen(faulty: MariaDBServer, way: str):
    address = {
        "socket": faulty.address,
        "address": f"mysql://root@127.0.0.1:{faulty.port}/shop",
    }[way]
    server = _visit(faulty, address).facts.server
    assert isinstance(server, MariaDBFacts)
    assert server.local
    assert server.process is not None
    assert (server.process.pid, server.process.nofile) == (faulty.pid, 1100)
    assert server.log is not None
    assert server.log.path == str(faulty.log)
    assert server.settings.number("innodb_buffer_pool_size") == 8 * 1024**2
    assert server.crash_unsafe_tables == 1
    assert server.data_bytes is not None
    assert server.data_bytes > 10_000_000


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
    assert experiments >= 9


def test_a_visit_writes_nothing(well: MariaDBServer):
    state = (
        "SELECT * FROM information_schema.global_status WHERE variable_name IN ("
        "'Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted', 'Com_insert', "
        "'Com_update', 'Com_delete', 'Com_create_table', 'Com_drop_table', 'Com_alter_table', "
        "'Binlog_bytes_written') ORDER BY variable_name"
    )
    settings = "SELECT * FROM information_schema.global_variables ORDER BY variable_name"
    before = well.run(state), _without_clocks(well.run(settings))
    _visit(well)
    assert (well.run(state), _without_clocks(well.run(settings))) == before


def _without_clocks(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [row for row in rows if "timestamp" not in row[0].lower()]


def test_the_server_itself_refuses_writes_of_the_session(well: MariaDBServer):
    with read_only_connection(TargetSpec(engine="mariadb", server=well.address)) as connection:
        for statement in ("CREATE TABLE shop.more (id integer)", "DELETE FROM shop.item"):
            with connection.cursor() as cursor, pytest.raises(pymysql.Error, match="READ ONLY"):
                cursor.execute(statement)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mysql://root:secret@localhost/shop", "holds a password"),
        ("mysql://localhost/shop", "lacks the user"),
        ("mysql://root@localhost:many/shop", "cannot be read"),
    ],
)
def test_a_wrong_address_is_refused(address: str, told: str):
    with pytest.raises(WrongInputError, match=told) as error:
        visit_server(TargetSpec(engine="mariadb", server=address))
    assert "secret" not in str(error.value)


def test_a_server_that_is_not_there_is_said_so(tmp_path: Path):
    address = f"mysql://root@/mysql?socket={tmp_path / 'none'}"
    with pytest.raises(TargetError, match="cannot connect"):
        visit_server(TargetSpec(engine="mariadb", server=address))
