"""The address of a MariaDB server, as people write it."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from loadstone.errors import WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address, check_parts, holds_password, unreadable

_SCHEMES = ("mysql://", "mariadb://")
_FORM = "write mysql://user@host:port/database, or mysql://user@/database?socket=/path"


def is_address(server: str) -> bool:
    """Whether the word is an address rather than `local`."""
    return server.startswith(_SCHEMES)


def parse(spec: TargetSpec) -> Address:
    """Reads the address of a target.

    Raises:
        WrongInputError: If it cannot be read, lacks something, or holds a password.
    """
    try:
        parts = urlsplit(spec.server)
        port, host = parts.port or 3306, parts.hostname
    except ValueError:
        raise unreadable(_FORM) from None
    if parts.password is not None:
        raise holds_password()
    options = parse_qs(parts.query)
    check_parts([*options, *(["#"] if parts.fragment else [])], {"socket"}, _FORM)
    database, user = unquote(parts.path.removeprefix("/")), unquote(parts.username or "")
    missing = "user" if not user else "database" if not database or "/" in database else ""
    if missing:
        raise WrongInputError(f"the address lacks the {missing}", advice=_FORM)
    socket = options.get("socket", [""])[0]
    if socket and (host not in (None, "localhost") or not socket.startswith("/")):
        raise WrongInputError("a socket is a path on this machine", advice=_FORM)
    return Address(
        host=socket or host or "localhost",
        port=0 if socket else port,
        user=user,
        database=database,
        password_reference=spec.password,
        protocol="mysql",
    )
