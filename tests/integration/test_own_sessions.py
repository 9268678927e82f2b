"""Loadstone's own sessions do not hang on the settings under test; those of the load keep them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from integration.mariadb_server import MariaDBServer, running_mariadb
from integration.postgresql_server import PostgreSQLServer, running_postgresql
from lengths import LONG
from session import Session

from loadstone.targets import served
from loadstone.targets.connection import ServerConnection
from loadstone.targets.duckdb.database import ALL, MEANING, Database, connect
from loadstone.targets.mariadb import session as of_mariadb
from loadstone.targets.mariadb.client import Client as MariaDBClient
from loadstone.targets.postgresql import session as of_postgresql
from loadstone.targets.postgresql import settings
from loadstone.targets.postgresql.client import Client as PostgreSQLClient
from loadstone.targets.served import SqlClient

HOSTILE_POSTGRESQL = {
    "statement_timeout": "300ms",
    "lock_timeout": "1ms",
    "idle_in_transaction_session_timeout": "300ms",
    "idle_session_timeout": "300ms",
    "transaction_timeout": "300ms",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "search_path": "pg_catalog",
    "client_encoding": "SQL_ASCII",
    "default_tablespace": "pg_global",
    "standard_conforming_strings": "off",
    "quote_all_identifiers": "on",
    "transform_null_equals": "on",
    "check_function_bodies": "off",
    "datestyle": "SQL, DMY",
    "intervalstyle": "sql_standard",
}
HOSTILE_MARIADB = {
    "max_statement_time": 0.02,
    "wait_timeout": 1,
    "interactive_timeout": 1,
    "idle_transaction_timeout": 1,
    "idle_readonly_transaction_timeout": 1,
    "idle_write_transaction_timeout": 1,
    "lock_wait_timeout": 1,
    "innodb_lock_wait_timeout": 1,
    "net_read_timeout": 1,
    "net_write_timeout": 1,
    "max_session_mem_used": 1_000_000,
    "sql_mode": "ORACLE,ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH",
    "completion_type": "RELEASE",
    "div_precision_increment": 0,
    "group_concat_max_len": 4,
    "sql_safe_updates": "ON",
    "transaction_isolation": "READ-UNCOMMITTED",
    "transaction_read_only": "ON",
    "character_set_server": "latin1",
    "character_set_client_handshake": "OFF",
    "autocommit": "OFF",
}


LATER_MARIADB = {
    "sql_select_limit": 1,
    "foreign_key_checks": 0,
    "unique_checks": 0,
    "sql_auto_is_null": 1,
    "sql_quote_show_create": 0,
    "check_constraint_checks": 0,
    "sql_big_selects": 0,
}
"""There is no option for them."""


@pytest.fixture(scope="module")
def hostile_postgresql() -> Iterator[PostgreSQLServer]:
    with running_postgresql(HOSTILE_POSTGRESQL) as server:
        yield server


@pytest.fixture(scope="module")
def hostile_mariadb() -> Iterator[MariaDBServer]:
    with running_mariadb(HOSTILE_MARIADB) as server:
        server.run(*(f"SET GLOBAL {name} = {value}" for name, value in LATER_MARIADB.items()))
        yield server


def at_postgresql(server: PostgreSQLServer, database: str = "postgres") -> PostgreSQLClient:
    to = ServerConnection("postgresql", str(server.folder), "postgres", database, port=5432)
    return PostgreSQLClient(to)


def at_mariadb(server: MariaDBServer) -> MariaDBClient:
    return MariaDBClient(ServerConnection("mysql", str(server.socket), "root", "mysql"))


def works(client: SqlClient, slow: str, quiet_s: float, options: str = "") -> None:
    """Makes and fills a table, takes its time, is quiet, and reads."""
    client.execute(f"DROP TABLE IF EXISTS own; CREATE TABLE own (a int, b varchar(20)) {options}")
    client.query("INSERT INTO own VALUES (1, 'Ærø \u4e2d'), (2, 'back\\\\slash')")
    client.query(slow)
    time.sleep(quiet_s)
    assert client.query("SELECT a FROM own ORDER BY a") == [(1,), (2,)]
    assert client.value("SELECT b FROM own WHERE a = 1") == "Ærø \u4e2d"
    client.query("DROP TABLE own")


@pytest.mark.xdist_group("postgresql")
def test_postgresql(hostile_postgresql: PostgreSQLServer) -> None:
    client = at_postgresql(hostile_postgresql)
    pid = client.value("SELECT pg_backend_pid()")
    works(client, "SELECT pg_sleep(0.5)", 0.5)
    assert client.value("SELECT pg_backend_pid()") == pid, "it was cut"
    assert of_postgresql.NAMES - {"temp_tablespaces"} == set(HOSTILE_POSTGRESQL) - {
        "client_encoding"
    }
    for name, hostile in HOSTILE_POSTGRESQL.items():
        assert client.value(f"SHOW {name}") != hostile, name
        read = settings.row(client, name)
        assert read is not None
        if name != "client_encoding":
            assert read.shown == hostile, "the load has it, and it is read back"
    client.query(
        "CREATE DATABASE plain ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    )
    client.close()
    other = at_postgresql(hostile_postgresql, "plain")
    works(other, "SELECT 1", 0)
    assert other.value("SELECT current_database()") == "plain"
    other.close()


@pytest.mark.xdist_group("mariadb")
def test_mariadb(hostile_mariadb: MariaDBServer) -> None:
    client = at_mariadb(hostile_mariadb)
    number = client.value("SELECT connection_id()")
    works(client, "SELECT sleep(0.1)", 1.3, "CHARACTER SET utf8mb4")
    assert client.value("SELECT connection_id()") == number, "it was cut"
    assert client.value("SELECT 1 / 3") > 0
    assert client.value("SELECT @@tx_isolation") == "REPEATABLE-READ"
    shown = dict(client.query("SHOW SESSION VARIABLES"))
    assert set(of_mariadb.OWN) <= set(shown)
    assert "ORACLE" not in shown["sql_mode"]
    assert set(of_mariadb.OWN) <= {*HOSTILE_MARIADB, *LATER_MARIADB}
    for name in of_mariadb.OWN:
        (theirs,) = client.query(f"SELECT @@GLOBAL.{name}")[0]
        assert client.value(f"SELECT @@SESSION.{name}") != theirs, name
    client.close()


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_quiet_session_that_was_cut_is_opened_again(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "_QUIET_S", 0.0)
    client: SqlClient
    if kind == "postgresql":
        server = request.getfixturevalue("hostile_postgresql")
        client = at_postgresql(server)
        own, kill = "SELECT pg_backend_pid()", "SELECT pg_terminate_backend({}, 5000)"
        other: SqlClient = at_postgresql(server)
    else:
        server = request.getfixturevalue("hostile_mariadb")
        client, other = at_mariadb(server), at_mariadb(server)
        own, kill = "SELECT connection_id()", "KILL CONNECTION {}"
    before = client.value(own)
    other.query(kill.format(before))
    assert client.value(own) != before
    client.close()
    other.close()


def test_the_sessions_of_the_load_keep_them(
    hostile_postgresql: PostgreSQLServer, hostile_mariadb: MariaDBServer
) -> None:
    with hostile_postgresql.connect() as theirs, pytest.raises(psycopg.Error):
        theirs.execute("SELECT pg_sleep(0.5)")
    with hostile_mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@max_statement_time")
        assert float(cursor.fetchone()[0]) == 0.02


@LONG
@pytest.mark.parametrize(
    "limits",
    [
        ("statement_timeout=250ms", "transaction_timeout=250ms", "idle_session_timeout=100ms"),
        ("max_statement_time=0.25", "wait_timeout=1", "idle_transaction_timeout=1"),
    ],
    ids=["postgresql", "mariadb"],
)
def test_a_trial_under_time_limits_is_loaded_and_checked(
    limits: tuple[str, ...], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Loading a warehouse takes longer than any of them."""
    engine = request.node.callspec.id
    settings = [word for limit in limits for word in ("--set", limit)]
    with Session(tmp_path) as session:
        ended = session.run(
            "run", "oltp", "--target", engine, "--param", "warehouses=1", "--warm-up", "1s",
            "--measure", "3s", *settings, "--json",
        )  # fmt: skip
    trial = json.loads(ended.stdout)["trials"][0]["result"]
    assert trial["status"] in ("valid", "disturbed"), ended.stderr
    assert all(check["passed"] for check in trial["checks"]) and trial["checks"]


def test_duckdb(tmp_path: Path) -> None:
    hostile = {
        "default_order": "DESC",
        "default_null_order": "NULLS_FIRST",
        "integer_division": "true",
        "max_expression_depth": "10",
    }
    with connect(tmp_path / "own.duckdb", {}) as made:
        made.execute("CREATE TABLE t AS SELECT unnest([1, 2, NULL]) AS a")
    own = Database(tmp_path / "own.duckdb", {**hostile, "threads": "1"})
    assert own.query("SELECT a FROM t ORDER BY a") == [(1,), (2,), (None,)]
    assert own.query("SELECT 1 / 2") == [(0.5,)]
    assert own.query("SELECT current_setting('threads')") == [(1,)]
    found = own.in_force()
    assert (found["default_order"], found["integer_division"]) == ("DESC", "true")
    own.close()
    with connect(":memory:", {}) as engine:
        known = {name for name, _, _ in engine.execute(ALL).fetchall()}
    assert MEANING - known <= {"scalar_subquery_error_on_multiple_rows", "old_implicit_casting"}


def test_chdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own: one holds one database at a time."""
    pytest.importorskip("chdb")
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", CHDB, str(tmp_path / "own")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["read", "back:", "1", "rows:", "3"], done.stderr


CHDB = """
import sys
from pathlib import Path
from loadstone.targets.chdb import ChDB
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
path = Path(sys.argv[1])
hostile = {"max_result_rows": 1}
spec = TargetSpec(engine="chdb", settings=hostile)
target = ChDB(spec, TargetContext(journal=None, owner="test"))
target._connection = target.opened(path)
(reading,) = target.read_back(path, spec)
print("read back:", reading.read_back, "rows:", len(target.query("SELECT number FROM numbers(3)")))
target.stop()
"""
