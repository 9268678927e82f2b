"""Superset's REST interface, as an administrator or another account uses it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Network
from itertools import cycle
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

from loadstone.errors import TargetError

_ANSWER_S = 120.0
_SHOWN = 300
_PAGE = 100
"""Most rows that an answer lists: the server allows no more."""

_ADDRESSES = map(IPv4Network("198.18.0.0/15").__getitem__, cycle(range(1, 100_000)))
"""Each request comes from another: a limit of requests by address is for people, not for us."""


class Rest:
    """A session. Use as a context manager."""

    def __init__(self, url: str) -> None:
        """Connects nothing yet.

        Args:
            url: Of the base, as `http://127.0.0.1:8088`.
        """
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=_ANSWER_S)
        self._headers = {"Accept": "application/json", "Referer": f"{url}/"}

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

    def listed(self, path: str, filters: Sequence[tuple[str, str, str]] = ()) -> Iterator[Any]:
        """All rows of a list, page by page.

        Args:
            path: Of the list.
            filters: Column, operator and value, as Superset calls them.
        """
        for page in range(1000):
            words = {
                "filters": [{"col": each[0], "opr": each[1], "value": each[2]} for each in filters],
                "page": page,
                "page_size": _PAGE,
            }
            rows = self.get(f"{path}?q={quote(json.dumps(words))}")["result"]
            yield from rows
            if len(rows) < _PAGE:
                return

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """One request and its answer.

        Raises:
            TargetError: If it is not answered, or not with success.
        """
        headers, sent = {**self._headers, "X-Forwarded-For": str(next(_ADDRESSES))}, None
        if body is not None:
            headers["Content-Type"], sent = "application/json", json.dumps(body)
        what = f"{method} {path.partition('?')[0]}"
        try:
            self._connection.request(method, path, sent, headers)
            answer = self._connection.getresponse()
            said = answer.read()
        except (OSError, HTTPException) as error:
            self._connection.close()
            raise TargetError(
                f"Superset does not answer {what}: {error or type(error).__name__}"
            ) from error
        self._keep_session(answer.getheader("Set-Cookie"))
        if answer.status >= 300:
            told = said.decode(errors="replace")[:_SHOWN]
            raise TargetError(f"Superset answers {what} with {answer.status}: {told}")
        with contextlib.suppress(ValueError):
            found = json.loads(said)
            if isinstance(found, dict):
                return found
        raise TargetError(f"Superset answers {what} with something that is no JSON")

    def _keep_session(self, cookie: str | None) -> None:
        """The token of changes is bound to a session, which is a cookie."""
        if cookie is not None:
            self._headers["Cookie"] = cookie.partition(";")[0]
