"""What a PostgreSQL target asks of its server, whoever owns it."""

from __future__ import annotations

from abc import abstractmethod

from loadstone.targets import served
from loadstone.targets.postgresql.client import Client


class Server(served.Server):
    """A PostgreSQL server with one database to work in."""

    client: Client
    major: int
    """Major version, known after `open`."""

    @abstractmethod
    def make_tablespace(self) -> None:
        """Makes the tablespace that tables can be moved to; the next `restore` removes it."""
