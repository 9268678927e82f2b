"""What the active sessions wait for, sampled from pg_stat_activity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.targets import probing
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.client import as_target_error, connect

if TYPE_CHECKING:
    import psycopg

PROBE_NAME = "loadstone-probe"
_MINE = "loadstone"

_ACTIVE = f"""
SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'CPU'), count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend'
  AND application_name NOT IN ('{PROBE_NAME}', '{_MINE}')
GROUP BY 1, 2
"""


class WaitsProbe(probing.WaitsProbe):
    """Active sessions by `wait_event`; a session without one counts as `CPU`."""

    name = "postgresql-waits"

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

    def look(self) -> list[tuple[str, str, int]]:
        """Counts in the server."""
        connection = self._connection
        if connection is None:
            raise TargetError("not connected")
        with as_target_error():
            return connection.execute(_ACTIVE, prepare=True).fetchall()
