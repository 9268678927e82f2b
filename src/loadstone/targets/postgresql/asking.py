"""A probe of PostgreSQL: a connection of its own, and a question that it asks again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.client import as_target_error, connect
from loadstone.targets.probing import ServerProbe

if TYPE_CHECKING:
    import psycopg

PROBE_NAME = "loadstone-probe"
"""The application name of the sessions of probes: no probe counts them."""


class AskingProbe(ServerProbe):
    """What probes of PostgreSQL have in common."""

    def __init__(self, connection: ServerConnection) -> None:
        super().__init__()
        self._to = connection
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    def connect(self) -> None:
        """Connects."""
        self._connection = connect(self._to, PROBE_NAME)

    def disconnect(self) -> None:
        """Disconnects."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def version(self) -> int:
        """The major version of the server that it is connected to."""
        if self._connection is None:
            raise TargetError("not connected")
        return self._connection.info.server_version // 10_000

    def asked(self, query: str) -> psycopg.Cursor[tuple[Any, ...]]:
        """The answer to a query, which the server prepares once.

        Raises:
            TargetError: If the server does not answer.
        """
        if self._connection is None:
            raise TargetError("not connected")
        with as_target_error():
            return self._connection.execute(query, prepare=True)
