"""How a load generator reaches a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from loadstone.protocol.programs import DRIVER, Program

PASSWORD_VARIABLE = "LOADSTONE_DRIVER_PASSWORD"  # noqa: S105 - a name, not a password


@dataclass(frozen=True)
class Reach:
    """A server that each session connects to by TCP."""

    host: str
    port: int
    each: int = 1
    """Most connections of a session to it at a time."""


class Connection(ABC):
    """What a plan says of it, and what each session of it costs the generator."""

    program: Program
    """What makes load through it, unless the workload says otherwise."""
    host: str
    """Where the load arrives, if it leaves the generator's process: a name, an address, or the
    folder of a socket."""
    divisible: ClassVar[bool] = True
    """Several processes may have sessions of it at a time."""
    chooses_sources: ClassVar[bool] = False
    """Sessions can be told from which addresses of this machine they come (`coming_from`)."""

    @property
    def processes(self) -> int | None:
        """Processes that the load must have, where each reaches a system of its own.

        Returns:
            None: as many as are worth it.
        """
        return None

    @property
    def handing_over(self) -> Program | None:
        """What hands plans to systems that make their load themselves.

        Returns:
            None where the load is made by `program`.
        """
        return None

    @property
    def files(self) -> int:
        """That each session keeps open: sockets, most of them."""
        return 1

    @property
    def reaches(self) -> Sequence[Reach]:
        """All servers that a session connects to by TCP: each of its connections takes a port."""
        return ()

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """Where the system listens: hosts with ports, 0 where a port is not known.

        Of a Unix socket: its folder, and the number in its name.
        """
        return [(each.host, each.port) for each in self.reaches]

    @property
    def sources(self) -> tuple[str, ...]:
        """Addresses of this machine that sessions come from; none: the system chooses."""
        return ()

    def coming_from(self, sources: tuple[str, ...]) -> Connection:
        """The same, with sessions that come from these addresses of this machine.

        Only of connections that have `chooses_sources`; others come from where they do.
        """
        return self

    @property
    def secrets(self) -> Mapping[str, str]:
        """Variable of the generator's environment: the secret that is handed over in it only."""
        return {}

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """The plan's `connection`, with the names of variables in the place of secrets."""


@dataclass(frozen=True)
class NoConnection(Connection):
    """Operations end in the generator."""

    files: ClassVar[int] = 0

    program: Program = DRIVER
    host: str = ""

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

    @property
    def reaches(self) -> Sequence[Reach]:
        """The server, unless it is reached by a Unix socket."""
        return () if self.host.startswith("/") else (Reach(self.host, self.port),)

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        """The server, also at a Unix socket."""
        return [(self.host, self.port)]

    @property
    def secrets(self) -> Mapping[str, str]:
        """The password, if there is one."""
        return {} if self.password is None else {PASSWORD_VARIABLE: self.password}

    def plan(self) -> dict[str, Any]:
        """Address, user and database."""
        plan: dict[str, Any] = {
            "protocol": self.protocol,
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "database": self.database,
        }
        if self.password is not None:
            plan["password_env"] = PASSWORD_VARIABLE
        return plan


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

    def plan(self) -> dict[str, Any]:
        """Files and settings."""
        return {
            "protocol": self.protocol,
            "database": self.database,
            "settings": dict(self.settings),
        }
