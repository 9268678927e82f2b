"""What engines have in common that are servers: the runner is their client."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadstone.runner.engines.connections import ServerConnection


class ServerEngine:
    """A server, which was there before and goes on."""

    temporary: Path | None = None

    def __init__(self, connection: ServerConnection, server_pid: int | None) -> None:
        """Connects to nothing yet.

        Args:
            connection: Where the server is.
            server_pid: Its process; None if it is on another machine.
        """
        self._connection = connection
        self._password = connection.password()
        self.pids: Sequence[int] = () if server_pid is None else (server_pid,)

    def cpu_s(self) -> float:
        """None of it is in this process."""
        return 0.0

    def close(self) -> None:
        """The server goes on."""
