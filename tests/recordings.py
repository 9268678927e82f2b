"""Recordings of a browser as tests write them by hand: a HAR in the making."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ORIGIN = "https://app.example"
_BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_TOOK_MS = 50.0


def named(values: dict[str, str] | None) -> list[dict[str, str]]:
    """Names and values as HAR has them."""
    return [{"name": name, "value": value} for name, value in (values or {}).items()]


class Recorded:
    """A recording; each request follows 10 ms after the answer to the one before it."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._now_ms = 0.0

    def pause(self, seconds: float) -> Recorded:
        """The person does nothing."""
        self._now_ms += seconds * 1000
        return self

    def add(
        self,
        method: str,
        path: str,
        *,
        status: int = 200,
        kind: str = "xhr",
        answer: Any = None,
        media: str | None = None,
        headers: dict[str, str] | None = None,
        answer_headers: dict[str, str] | None = None,
        form: dict[str, str] | None = None,
        data: Any = None,
        body: tuple[str, str] | None = None,
        at_once: bool = False,
        **more: Any,
    ) -> Recorded:
        """Adds a request and its answer.

        Args:
            answer: Text of HTML, or else what becomes JSON.
            form: Sent as an urlencoded form.
            data: Sent as JSON.
            body: Its type, and what is sent.
            at_once: It begins with the one before it.
            more: Fields of the entry.
        """
        if self.entries and not at_once:
            self._now_ms += _TOOK_MS + 10
        sent = body
        if form is not None:
            sent = ("application/x-www-form-urlencoded", urlencode(form))
        elif data is not None:
            sent = ("application/json", json.dumps(data))
        text = answer if isinstance(answer, str) or answer is None else json.dumps(answer)
        usual = "application/json" if text is not None and text[:1] in "{[" else "text/html"
        content = {"mimeType": usual if media is None else media}
        request = {
            "method": method,
            "url": path if ":" in path.partition("/")[0] else f"{ORIGIN}{path}",
            "headers": named(headers),
            "cookies": [],
        }
        if sent is not None:
            request["postData"] = {"mimeType": sent[0], "text": sent[1]}
        self.entries.append(
            {
                "startedDateTime": (_BEGAN + timedelta(milliseconds=self._now_ms)).isoformat(),
                "time": _TOOK_MS,
                "_resourceType": kind,
                "request": request,
                "response": {
                    "status": status,
                    "headers": named(answer_headers),
                    "cookies": [],
                    "content": content if text is None else {**content, "text": text},
                    "redirectURL": (answer_headers or {}).get("Location", ""),
                },
                **more,
            }
        )
        return self

    def page(self, path: str, answer: str = "<p>page</p>", **more: Any) -> Recorded:
        """Adds a page."""
        return self.add("GET", path, kind="document", answer=answer, **more)

    def document(self) -> dict[str, Any]:
        """The HAR."""
        return {"log": {"version": "1.2", "creator": {}, "entries": self.entries}}

    def write(self, path: Path) -> Path:
        """Writes it as a file."""
        path.write_text(json.dumps(self.document()), encoding="utf-8")
        return path


LOG_IN_PAGE = (
    '<form><input type="hidden" name="csrf_token" value="{token}"><input name="username">'
    "<input type='password' name='password'></form>"
)


PASSWORD = "Tr0ub4dor-3"
TOKEN = "kT9x2Lm4Qz8w"


def logged_in(user: str = "alice", password: str = PASSWORD, token: str = TOKEN) -> Recorded:
    """A recording that begins with a log-in."""
    form = {"csrf_token": token, "username": user, "password": password}
    return (
        Recorded()
        .page("/login", LOG_IN_PAGE.format(token=token))
        .pause(4)
        .add(
            "POST",
            "/login",
            kind="document",
            status=302,
            form=form,
            answer_headers={"Location": "/home"},
        )
        .page("/home", "<p>welcome</p>")
        .pause(4)
    )
