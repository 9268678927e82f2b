"""What a MariaDB target asks of its server, whoever owns it."""

from __future__ import annotations

from abc import abstractmethod

from loadstone.results.record import FactorReading
from loadstone.spec.model import TargetSpec
from loadstone.targets import served
from loadstone.targets.mariadb.client import Client


class Server(served.Server):
    """A MariaDB server with one database to work in."""

    client: Client

    @abstractmethod
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """An empty work database in the layout of `spec`, on a server started as it says."""
