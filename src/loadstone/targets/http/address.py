"""The address of a web application, as people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from loadstone.errors import WrongInputError
from loadstone.targets.address import unreadable

FORM = "write url: https://app.example, or http://app.example:8080/path"
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+", re.IGNORECASE)
"""A name or an address; one of IPv6 stands in brackets, which its reader takes off."""


@dataclass(frozen=True)
class WebAddress:
    """Where a web application is. Its `path` has no slash at the end."""

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def is_secure(self) -> bool:
        """Whether TLS is spoken."""
        return self.scheme == "https"

    @property
    def url(self) -> str:
        """As people write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def parse(text: str) -> WebAddress:
    """Reads the address of an application.

    What is wrong with it is told without a word of it: it may hold a password.

    Raises:
        WrongInputError: If it is none, or has a user, a query or a fragment.
    """
    if "@" in text:
        raise WrongInputError(
            "the address has an @, as one with a user or a password has: it is not repeated",
            advice="leave both out: the scenario logs in by its own requests, and names where its "
            "secrets are",
        )
    if not all(sign.isprintable() and not sign.isspace() for sign in text):
        raise unreadable(FORM)
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise unreadable(FORM) from None
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host) or port == 0:
        raise unreadable(FORM)
    if "?" in text or "#" in text:
        raise WrongInputError(
            "the address of a web application has no query and no fragment", advice=FORM
        )
    return WebAddress(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))
