"""Superset's REST interface, as an administrator or another account uses it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Network
from itertools import count, cycle
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

from loadstone.errors import TargetError
from loadstone.targets.http.greeting import trust_of

_ANSWER_S = 120.0
_SHOWN = 300
_PAGE = 100
"""Most rows that an answer lists: the server allows no more."""

_ADDRESSES = map(IPv4Network("198.18.0.0/15").__getitem__, cycle(range(1, 100_000)))
"""That requests may be spread over."""


class UnwillingError(TargetError):
    """Superset has answered, and not with success."""

    def __init__(self, message: str, *, path: str, status: int, location: str = "") -> None:
        """Keeps the answer.

        Args:
            message: What was asked, and what it said.
            path: That was asked for.
            status: Of the answer.
            location: To which it sends on, if it does.
        """
        super().__init__(message)
        self.path = path
        self.status = status
        self.location = location


@dataclass(frozen=True)
class Page:
    """A page, as a browser gets it."""

    text: str
    needs_tls: bool
    """Its cookies are sent back by TLS alone."""


class Rest:
    """A session. Use as a context manager."""

    def __init__(self, url: str, ca: str | None = None, *, spread: bool = False) -> None:
        """Connects nothing yet.

        Args:
            url: Of the base, as `http://127.0.0.1:8088`.
            ca: File of the certificates by which it is trusted; None: those of the system.
            spread: Each request comes from another address: a limit by address, which is under
                test, is for people, not for Loadstone. Of a Superset of Loadstone's own only.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        self._connection = (
            HTTPSConnection(host, parts.port or 443, timeout=_ANSWER_S, context=trust_of(ca))
            if parts.scheme == "https"
            else HTTPConnection(host, parts.port or 80, timeout=_ANSWER_S)
        )
        self._base = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json", "Referer": f"{url}/"}
        self._cookie = ""
        self._spread = spread

    def __enter__(self) -> Rest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def log_in(self, username: str, password: str) -> None:
        """Logs in by a token; changes need a second one, which is asked for here.

        Raises:
            TargetError: If Superset refuses the account.
        """
        account = {"username": username, "password": password, "provider": "db"}
        token = self.post("/api/v1/security/login", account)["access_token"]
        self._headers["Authorization"] = f"Bearer {token}"
        self._headers["X-CSRFToken"] = str(self.get("/api/v1/security/csrf_token/")["result"])

    def get(self, path: str) -> dict[str, Any]:
        """Asks for something."""
        return self._asked("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Makes something."""
        return self._asked("POST", path, body)

    def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Changes something."""
        return self._asked("PUT", path, body)

    def delete(self, path: str) -> None:
        """Takes something away."""
        self._asked("DELETE", path, None)

    def page(self, path: str) -> Page:
        """Asks for a page.

        Raises:
            UnwillingError: If it is not answered with success.
        """
        said = self._answered("GET", path, None, {"Accept": "text/html"})
        flags = [each.strip().lower() for each in self._cookie.split(";")[1:]]
        return Page(said, "secure" in flags)

    def listed(self, path: str, filters: Sequence[tuple[str, str, str]] = ()) -> Iterator[Any]:
        """All rows of a list, page by page.

        Args:
            path: Of the list.
            filters: Column, operator and value, as Superset calls them.
        """
        seen = 0
        for page in count():
            words = {
                "filters": [{"col": each[0], "opr": each[1], "value": each[2]} for each in filters],
                "page": page,
                "page_size": _PAGE,
            }
            found = self.get(f"{path}?q={quote(json.dumps(words))}")
            rows = found["result"]
            yield from rows
            seen += len(rows)
            # A server may list fewer at a time than it was asked for.
            if not rows or seen >= found.get("count", seen):
                return

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """One request and its answer.

        Raises:
            UnwillingError: If it is not answered with success.
            TargetError: If it is not answered, or not with JSON.
        """
        said = self._answered(method, path, body, {})
        with contextlib.suppress(ValueError):
            found = json.loads(said)
            if isinstance(found, dict):
                return found
        raise TargetError(f"Superset answers {_told(method, path)} with something that is no JSON")

    def _answered(
        self, method: str, path: str, body: Mapping[str, Any] | None, more: Mapping[str, str]
    ) -> str:
        headers, sent = {**self._headers, **more}, None
        if self._spread:
            headers["X-Forwarded-For"] = str(next(_ADDRESSES))
        if body is not None:
            headers["Content-Type"], sent = "application/json", json.dumps(body)
        try:
            self._connection.request(method, f"{self._base}{path}", sent, headers)
            answer = self._connection.getresponse()
            said = answer.read().decode(errors="replace")
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise TargetError(
                f"Superset does not answer {_told(method, path)}: {error or type(error).__name__}"
            ) from error
        self._keep_session(answer.getheader("Set-Cookie"))
        if answer.status >= 300:
            told = " ".join(said.split())[:_SHOWN]
            raise UnwillingError(
                f"Superset answers {_told(method, path)} with {answer.status}: {told}",
                path=path,
                status=answer.status,
                location=answer.getheader("Location") or "",
            )
        return said

    def _keep_session(self, cookie: str | None) -> None:
        """The token of changes is bound to a session, which is a cookie."""
        if cookie is not None:
            self._cookie = cookie
            self._headers["Cookie"] = cookie.partition(";")[0]


def _told(method: str, path: str) -> str:
    return f"{method} {path.partition('?')[0]}"


def logged_in(
    url: str, username: str, password: str, ca: str | None = None, *, spread: bool = False
) -> Rest:
    """A session of an account; the rest as of `Rest`.

    Raises:
        TargetError: If Superset refuses the account.
    """
    rest = Rest(url, ca, spread=spread)
    rest.log_in(username, password)
    return rest
