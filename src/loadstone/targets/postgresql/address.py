"""The address of a PostgreSQL server, as people write it."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address, check_parts, holds_password, unreadable

_SCHEMES = ("postgresql://", "postgres://")
_KNOWN = frozenset({"host", "port", "user", "dbname"})
_FORM = "write postgresql://user@host:port/database"


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
    except ProgrammingError:
        raise unreadable(_FORM) from None
    if "password" in parts:
        raise holds_password()
    check_parts(parts, _KNOWN, _FORM)
    missing = [word for word, key in (("user", "user"), ("database", "dbname")) if key not in parts]
    if missing:
        raise WrongInputError(f"the address lacks the {missing[0]}", advice=_FORM)
    host = parts.get("host", "localhost")
    if "," in host:
        raise WrongInputError("the address names several hosts", advice="name one")
    port = parts.get("port", "5432")
    if not port.isdecimal():
        raise WrongInputError("the address has a port that is no number", advice=_FORM)
    return Address(host, int(port), parts["user"], parts["dbname"], spec.password)
