"""Classes of errors: those that the load driver has, and those that a scenario adds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

FAULTS = (
    *("resolve", "resolve_timeout"),
    *("connect_refused", "unreachable", "connect_timeout", "connect"),
    *("no_ports", "too_many_files"),
    *("tls", "tls_expired", "tls_name", "tls_authority", "tls_timeout"),
    *("first_byte_timeout", "timeout", "reset", "closed", "short_body"),
    *("bad_header", "bad_length", "bad_chunk", "bad_encoding"),
    *("header_too_large", "body_too_large", "inflated_too_large", "too_many_interim"),
    *("unexpected_upgrade", "too_many_redirects", "bad_redirect", "foreign_host", "bad_url"),
)
"""What a browser can meet, in the order of a request."""
JUDGED = ("check", "no_value", "answers")
"""Of answers that are not as expected, lack a value, or could not be kept."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_STATUS = re.compile(r"status_[2-9]\d\d")
_OVERLOAD = (408, 429)


def is_known(name: str) -> bool:
    """Whether the driver has a class of this name."""
    return name in FAULTS or name in JUDGED or _STATUS.fullmatch(name) is not None


def is_overload(status: int) -> bool:
    """Whether a status says that a server has too much to do, or is away."""
    return status in _OVERLOAD or status >= 500


def check_name(name: str) -> None:
    """Refuses a name that no class of a scenario can have.

    Raises:
        ValueError: With the name.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of a class: write small letters, digits and _, as session_expired"
        )
    if is_known(name) or name.startswith("status_"):
        raise ValueError(f"{name!r} is a class of the load driver: choose another name")


def check_known(names: Iterable[str], declared: Collection[str], field: str) -> None:
    """Refuses classes that no error can have.

    Args:
        names: Of the classes.
        declared: Names of the scenario's own classes.
        field: Where they are given.

    Raises:
        ValueError: With the first of them.
    """
    for name in names:
        if name not in declared and not is_known(name):
            raise ValueError(
                f"{field}: there is no class {name!r}: name one of `classes`, or of those of the "
                "load driver, as reset or status_401"
            )
