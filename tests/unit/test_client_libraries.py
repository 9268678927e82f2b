"""What a client library raises is told as an error of the target, whatever its class."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.errors import TargetError
from loadstone.targets import served
from loadstone.targets.connection import ServerConnection
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS

RAISED = [
    RuntimeError("'cryptography' package is required for sha256_password"),
    ValueError("embedded null character"),
    OverflowError("Python int too large to convert to SQLite INTEGER"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    ConnectionResetError("reset by peer"),
    AttributeError("'NoneType' object has no attribute 'sendall'"),
]
Ask = Callable[[], object]


def _server(protocol: str) -> ServerConnection:
    return ServerConnection(protocol, "db1", "bench", "shop", port=1)


def _postgresql(patch: pytest.MonkeyPatch, fails: Callable[..., Any], _: Path) -> list[Ask]:
    from loadstone.targets.postgresql.client import Client

    patch.setattr("psycopg.connect", fails)
    asked = Client(_server("postgresql"))
    asked._connection = SimpleNamespace(closed=False, broken=False, execute=fails, close=lambda: 0)  # type: ignore[assignment]
    fresh = Client(_server("postgresql"))
    return [lambda: fresh.query("SELECT 1"), lambda: asked.query("SELECT 1")]


def _mariadb(patch: pytest.MonkeyPatch, fails: Callable[..., Any], _: Path) -> list[Ask]:
    from loadstone.targets.mariadb.client import Client

    patch.setattr("pymysql.connect", fails)
    asked = Client(_server("mysql"))
    asked._connection = SimpleNamespace(open=True, cursor=fails, close=lambda: 0)  # type: ignore[assignment]
    fresh = Client(_server("mysql"))
    return [lambda: fresh.query("SELECT 1"), lambda: asked.query("SELECT 1")]


def _sqlite(patch: pytest.MonkeyPatch, fails: Callable[..., Any], folder: Path) -> list[Ask]:
    from loadstone.targets.sqlite.database import Database as SQLite

    patch.setattr("sqlite3.connect", fails)
    asked = SQLite(folder / "x")
    asked._connection = SimpleNamespace(execute=fails)  # type: ignore[assignment]
    return [lambda: SQLite(folder / "x").query("SELECT 1"), lambda: asked.query("SELECT 1")]


def _duckdb(patch: pytest.MonkeyPatch, fails: Callable[..., Any], folder: Path) -> list[Ask]:
    from loadstone.targets.duckdb.database import Database as DuckDB

    patch.setattr("duckdb.connect", fails)
    patch.setattr("duckdb.extract_statements", fails)
    asked = DuckDB(folder / "x", {})
    asked._connection = SimpleNamespace(execute=fails)  # type: ignore[assignment]
    fresh = DuckDB(folder / "x", {})
    return [
        lambda: fresh.query("SELECT 1"),
        lambda: asked.query("SELECT 1"),
        lambda: asked.execute("SELECT 1"),
    ]


def _chdb(patch: pytest.MonkeyPatch, fails: Callable[..., Any], folder: Path) -> list[Ask]:
    from loadstone.targets.chdb.database import Database as ChDB

    patch.setitem(sys.modules, "chdb", SimpleNamespace(connect=fails))
    asked = ChDB(folder / "x")
    asked._connection = SimpleNamespace(query=fails)
    return [lambda: ChDB(folder / "x").query("SELECT 1"), lambda: asked.query("SELECT 1")]


def _spark(patch: pytest.MonkeyPatch, fails: Callable[..., Any], folder: Path) -> list[Ask]:
    from loadstone.targets.spark.database import Database as Spark
    from loadstone.targets.spark.jvm import JVM

    patch.setattr(JVM, "_start", fails)
    patch.setattr(JVM, "close", lambda _self: None)
    session = SimpleNamespace(sql=fails, read=SimpleNamespace(parquet=fails))
    asked = Spark(folder, {})
    asked._connection = SimpleNamespace(session=session, has_ended=False)  # type: ignore[assignment]
    return [
        lambda: Spark(folder, {}).query("SELECT 1"),
        lambda: asked.query("SELECT 1"),
        lambda: asked.load("t", [folder / "x"]),
    ]


ASKS = {
    "postgresql": _postgresql,
    "mariadb": _mariadb,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "chdb": _chdb,
    "spark": _spark,
}
"""Engine: asks something of it, of a session that is opened for it and of one that is open."""


def test_every_database_of_the_registry_is_asked() -> None:
    assert {name for name, kind in TARGETS.items() if issubclass(kind, Database)} == set(ASKS)


@pytest.mark.parametrize("engine", ASKS)
@pytest.mark.parametrize("raised", RAISED, ids=lambda error: type(error).__name__)
def test_what_a_library_raises_is_an_error_of_the_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, engine: str, raised: Exception
) -> None:
    def fails(*_: object, **__: object) -> Any:
        raise raised

    for ask in ASKS[engine](monkeypatch, fails, tmp_path):
        with pytest.raises(TargetError) as caught:
            ask()
        assert "\n" not in caught.value.message


@pytest.mark.parametrize("engine", ASKS)
def test_an_interrupt_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, engine: str) -> None:
    def interrupted(*_: object, **__: object) -> Any:
        raise KeyboardInterrupt

    for ask in ASKS[engine](monkeypatch, interrupted, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            ask()


def test_a_connection_is_cut_if_the_server_is_silent_and_stays_if_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"here")
        with served.cut_if_silent(ours.fileno()):
            assert ours.recv(4) == b"here"
        theirs.send(b"still")
        assert ours.recv(5) == b"still"
        monkeypatch.setattr(served, "ANSWER_S", 0.01)
        with served.cut_if_silent(ours.fileno()):
            assert ours.recv(4) == b"", "it waited for the server"
