"""The address of a Superset that somebody else runs, and the administrator who works there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from loadstone.errors import WrongInputError
from loadstone.spec.referred import referred
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import holds_password, unreadable
from loadstone.targets.http.address import WebAddress
from loadstone.targets.http.address import parse as parse_web

_FORM = "write http://admin@bi.example:8088, and where the password is: password: env:NAME"


@dataclass(frozen=True)
class SupersetAddress:
    """Where a Superset is, and as whom Loadstone works there."""

    url: str
    """Of its base, without the user."""
    user: str
    password_reference: str
    ca: str | None = None
    """File of the certificates by which it is trusted; None: those of the system."""

    @property
    def web(self) -> WebAddress:
        """By its parts."""
        return parse_web(self.url)

    @property
    def shown(self) -> str:
        """The address as people write it."""
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{quote(self.user, safe='')}@{rest}"

    def password(self) -> str:
        """Of the administrator.

        Raises:
            WrongInputError: If it is not where it was said to be.
        """
        return referred(self.password_reference, "the password")

    def to_journal(self) -> dict[str, Any]:
        """What another process needs to log in; never the password itself."""
        return asdict(self)


def parse(spec: TargetSpec) -> SupersetAddress:
    """Reads the address of a target.

    Raises:
        WrongInputError: If it cannot be read, lacks the user or the password's place, or holds a
            password.
    """
    try:
        parts = urlsplit(spec.server)
    except ValueError:
        raise unreadable(_FORM) from None
    user, _, host = parts.netloc.rpartition("@")
    if ":" in user:
        raise holds_password()
    if parts.scheme not in ("http", "https") or not host:
        raise unreadable(_FORM)
    web = parse_web(parts._replace(netloc=host).geturl())
    if not user:
        raise WrongInputError("the address lacks the user, who administers Superset", advice=_FORM)
    if spec.password is None:
        raise WrongInputError(
            "the place of the administrator's password is not named",
            advice="write password: env:NAME or file:PATH (--password)",
        )
    ca = None if spec.ca is None else str(Path(spec.ca).expanduser().absolute())
    return SupersetAddress(web.url, unquote(user), spec.password, ca)
