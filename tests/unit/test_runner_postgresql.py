"""What the runner asks a PostgreSQL server, by its version."""

from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.runner.engines.postgresql import PostgreSQLChannel


class Rows:
    description = ()

    def fetchall(self) -> list[tuple[int]]:
        return [(5,)]


class Connection:
    """Answers 5 to whatever it is asked."""

    def __init__(self, version: int) -> None:
        self.info = SimpleNamespace(server_version=version)
        self.asked: list[str] = []

    def execute(self, sql: bytes) -> Rows:
        self.asked.append(sql.decode())
        return Rows()


@pytest.mark.parametrize(
    ("version", "flushes"), [(130_014, False), (140_001, False), (150_000, True), (170_002, True)]
)
def test_statistics_are_flushed_where_a_server_can(version: int, flushes: bool) -> None:
    connection: Any = Connection(version)
    assert PostgreSQLChannel(connection).spilled_bytes() == 5
    assert any("pg_stat_force_next_flush" in sql for sql in connection.asked) is flushes
