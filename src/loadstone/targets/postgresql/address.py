"""An address of a server that somebody else runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from loadstone.errors import WrongInputError
from loadstone.experiments.model import TargetSpec
from loadstone.targets.base import Connection

_SCHEMES = ("postgresql://", "postgres://")
_KNOWN = frozenset({"host", "port", "user", "dbname"})


@dataclass(frozen=True)
class Address:
    """Where a server is, and where the password lies."""

    host: str
    port: int
    user: str
    database: str
    password_reference: str | None = field(default=None)

    @property
    def shown(self) -> str:
        """The address as people write it."""
        user, database = quote(self.user, safe=""), quote(self.database, safe="")
        if self.host.startswith("/"):
            return f"postgresql://{user}@/{database}?host={quote(self.host)}&port={self.port}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgresql://{user}@{host}:{self.port}/{database}"

    def connection(self, database: str | None = None) -> Connection:
        """To this database of the server, or to the one that was named.

        Raises:
            WrongInputError: If the password is not where it was said to be.
        """
        return Connection(
            protocol="postgresql",
            host=self.host,
            port=self.port,
            user=self.user,
            database=database or self.database,
            password=password(self.password_reference),
        )

    def to_journal(self) -> dict[str, str | int | None]:
        """What another process needs to connect; never the password itself."""
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user,
            "database": self.database,
            "password_reference": self.password_reference,
        }


def is_address(server: str) -> bool:
    """Whether the word is an address rather than `embedded` or `local`."""
    return server.startswith(_SCHEMES)


def parse(spec: TargetSpec) -> Address:
    """Reads the address of a target.

    Raises:
        WrongInputError: If it cannot be read, lacks something, or holds a password.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = {key: str(value) for key, value in conninfo_to_dict(spec.server).items()}
    except ProgrammingError as error:
        # The reason may quote the address, and with it a password.
        raise WrongInputError(
            "the address of the server cannot be read",
            advice="write postgresql://user@host:port/database",
        ) from error
    if "password" in parts:
        raise WrongInputError(
            "the address holds a password",
            advice="leave it out, and name its place: password: env:NAME or file:PATH",
        )
    unknown = sorted(set(parts) - _KNOWN)
    if unknown:
        raise WrongInputError(f"the address has a part that is not supported: {unknown[0]}")
    missing = [word for word, key in (("user", "user"), ("database", "dbname")) if key not in parts]
    if missing:
        raise WrongInputError(
            f"the address {spec.server} lacks the {missing[0]}",
            advice="write postgresql://user@host:port/database",
        )
    host = parts.get("host", "localhost")
    if "," in host:
        raise WrongInputError("the address names several hosts", advice="name one")
    port = parts.get("port", "5432")
    if not port.isdecimal():
        raise WrongInputError(f"the address has a port that is no number: {port!r}")
    return Address(host, int(port), parts["user"], parts["dbname"], spec.password)


def password(reference: str | None) -> str | None:
    """The password that `env:NAME` or `file:PATH` refers to.

    Raises:
        WrongInputError: If there is none.
    """
    if reference is None:
        return None
    kind, _, place = reference.partition(":")
    if kind == "env":
        found = os.environ.get(place)
        if found is None:
            raise WrongInputError(f"environment variable {place} with the password is not set")
        return found
    try:
        return Path(place).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        raise WrongInputError(
            f"the file {place} with the password cannot be read: {error.strerror}"
        ) from error
