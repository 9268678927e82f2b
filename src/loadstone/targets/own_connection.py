"""A connection of Loadstone's own to an engine that lives in its process."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any


class OwnConnection(ABC):
    """Opened when it is needed, and shared by threads one at a time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._connection: Any = None
        """The engine's own; None while it is not open."""

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one statement and returns its rows; parameters are written `%s`.

        Raises:
            TargetError: With the engine's own message.
        """

    def statements(self, script: str) -> Iterable[str]:
        """The statements of a script; each ends with its line, unless the engine knows better."""
        return (statement for statement in script.split(";\n") if statement.strip())

    def execute(self, script: str) -> None:
        """Runs the statements of a script one after the other.

        Raises:
            TargetError: With the engine's message and the statement that failed.
        """
        for statement in self.statements(script):
            self.query(statement)

    def close(self) -> None:
        """Closes the connection; the next use opens another."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
