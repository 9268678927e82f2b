"""The address of a server that somebody else runs, and where its password lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from urllib.parse import quote

from loadstone.errors import WrongInputError
from loadstone.secret import shown
from loadstone.spec.referred import referred
from loadstone.targets.connection import ServerConnection


@dataclass(frozen=True)
class Address:
    """Where a server is. A `host` that begins with `/` is a Unix socket."""

    host: str
    port: int
    user: str
    database: str
    password_reference: str | None = field(default=None)
    protocol: str = "postgresql"
    """As the driver names it."""

    @property
    def shown(self) -> str:
        """The address as people write it."""
        user, database = quote(self.user, safe=""), quote(self.database, safe="")
        if self.host.startswith("/"):
            part = f"host={quote(self.host)}&port={self.port}"
            if self.protocol == "mysql":
                part = f"socket={quote(self.host)}"
            return f"{self.protocol}://{user}@/{database}?{part}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.protocol}://{user}@{host}:{self.port}/{database}"

    def connection(self, database: str | None = None) -> ServerConnection:
        """To this database of the server, or to the one that was named.

        Raises:
            WrongInputError: If the password is not where it was said to be.
        """
        return ServerConnection(
            protocol=self.protocol,
            host=self.host,
            port=self.port,
            user=self.user,
            database=self.database if database is None else database,
            password=password(self.password_reference),
        )

    def to_journal(self) -> dict[str, str | int | None]:
        """What another process needs to connect; never the password itself."""
        return asdict(self)


def holds_password() -> WrongInputError:
    """For an address with a password in it, which is not repeated."""
    return WrongInputError(
        "the address holds a password",
        advice="leave it out, and name its place: password: env:NAME or file:PATH",
    )


def unreadable(form: str) -> WrongInputError:
    """For an address that is none; what its reader says may quote a password: it is left out."""
    return WrongInputError("the address of the server cannot be read", advice=form)


def check_parts(parts: Iterable[str], known: Iterable[str], form: str) -> None:
    """Raises a WrongInputError, with the `form` of an address, if a part of it is not known."""
    unknown = sorted(set(parts) - set(known))
    if unknown:
        raise WrongInputError(
            f"the address has a part that is not supported: {shown(unknown[0])}", advice=form
        )


def password(reference: str | None) -> str | None:
    """The password that `env:NAME` or `file:PATH` refers to.

    Raises:
        WrongInputError: If there is none.
    """
    return None if reference is None else referred(reference, "the password")
