"""What a PostgreSQL target asks of its server, whoever owns it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from loadstone.experiments.model import Failure, TargetSpec
from loadstone.results.record import FactorReading
from loadstone.targets.base import Connection
from loadstone.targets.postgresql.client import Client


class Server(ABC):
    """A server with one database to work in."""

    client: Client
    """Connected to the work database."""
    major: int
    """Major version, known after `open`."""

    @abstractmethod
    def open(self) -> None:
        """Makes the work database usable, or refuses."""

    @abstractmethod
    def close(self) -> None:
        """Leaves everything as `open` found it."""

    @abstractmethod
    def start(self) -> None:
        """Starts an owned server."""

    @abstractmethod
    def stop(self) -> None:
        """Stops an owned server cleanly."""

    @abstractmethod
    def crash(self, failure: Failure) -> None:
        """Kills an owned server."""

    @abstractmethod
    def snapshot(self, key: str) -> None:
        """Keeps the data of the work database."""

    @abstractmethod
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts kept data back, and starts the server as `spec` says."""

    @abstractmethod
    def settle(self, cache: str) -> None:
        """Caches, statistics and checkpoint before load."""

    @abstractmethod
    def check_alive(self) -> None:
        """Raises a TargetError if an owned server has ended."""

    @abstractmethod
    def connection(self) -> Connection:
        """To the work database."""

    @abstractmethod
    def log_path(self) -> Path | None:
        """The server's log."""

    @abstractmethod
    def cpu_s(self) -> float | None:
        """CPU seconds of its processes so far."""

    @abstractmethod
    def inventory(self) -> dict[str, Any]:
        """What is special to this way of having a server."""
