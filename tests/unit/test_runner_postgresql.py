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
    ("version", "spilled"), [(130_014, None), (140_001, None), (150_000, 5), (170_002, 5)]
)
def test_spilled_bytes_are_told_where_a_server_can_flush_them(
    version: int, spilled: int | None
) -> None:
    connection: Any = Connection(version)
    assert PostgreSQLChannel(connection).spilled_bytes() == spilled
    asked = any("pg_stat_force_next_flush" in sql for sql in connection.asked)
    assert asked is (spilled is not None)
