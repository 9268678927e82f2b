"""How a load generator reaches a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from loadstone.protocol.programs import DRIVER, Program


class Connection(ABC):
    """What a plan says of it, and what each session of it costs the generator."""

    program: Program
    """What makes load through it, unless the workload says otherwise."""
    host: str
    """Where the load arrives, if it leaves the generator's process: a name, an address, or the
    folder of a socket."""
    password: str | None
    """Handed over in the generator's environment only."""
    divisible: ClassVar[bool] = True
    """Several processes may have sessions of it at a time."""

    @property
    def files(self) -> int:
        """That each session keeps open: sockets, most of them."""
        return 1

    @property
    def secrets(self) -> Mapping[str, str]:
        """Variable of the generator's environment: the secret that is handed over in it only."""
        return {}

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """The plan's `connection`, without a password."""


@dataclass(frozen=True)
class NoConnection(Connection):
    """Operations end in the generator."""

    files: ClassVar[int] = 0

    program: Program = DRIVER
    host: str = ""
    password: None = None

    def plan(self) -> dict[str, Any]:
        """Only that there is none."""
        return {"protocol": "none"}


@dataclass(frozen=True)
class ServerConnection(Connection):
    """A session of a database server."""

    protocol: str
    host: str
    user: str
    database: str
    port: int = 0
    password: str | None = field(default=None, repr=False)
    program: Program = DRIVER

    def plan(self) -> dict[str, Any]:
        """Address, user and database."""
        return {
            "protocol": self.protocol,
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "database": self.database,
        }


@dataclass(frozen=True)
class InProcessConnection(Connection):
    """An engine that lives in the generator: a second process would be a second engine."""

    divisible: ClassVar[bool] = False

    protocol: str
    database: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of each session."""
    program: Program = DRIVER
    host: str = ""
    password: None = None

    def plan(self) -> dict[str, Any]:
        """Files and settings."""
        return {
            "protocol": self.protocol,
            "database": self.database,
            "settings": dict(self.settings),
        }
