"""Which engine a connection leads to. Its library is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadstone.runner.engines.base import Engine
from loadstone.runner.engines.connections import read_connection


def engine_of(given: Mapping[str, Any], server_pid: int | None) -> Engine:
    """The engine of a plan.

    Args:
        given: The connection of the plan.
        server_pid: Its first process, if it is a server on this machine.

    Raises:
        RefusalError: It is not there, or does not take a setting.
    """
    connection = read_connection(given)
    match connection.protocol:
        case "duckdb":
            from loadstone.runner.engines.duckdb import DuckDBEngine

            return DuckDBEngine(connection)
        case "chdb":
            from loadstone.runner.engines.chdb import ChDBEngine

            return ChDBEngine(connection)
        case "spark":
            from loadstone.runner.engines.spark import SparkEngine

            return SparkEngine(connection)
        case "postgresql":
            from loadstone.runner.engines.postgresql import PostgreSQLEngine

            return PostgreSQLEngine(connection, server_pid)
        case "mysql":
            from loadstone.runner.engines.mariadb import MariaDBEngine

            return MariaDBEngine(connection, server_pid)
