"""A web application whose use is recorded: log-in, a list, an item with a form, log-out.

Its tokens and ids differ from session to session, so that a recording that is only repeated fails.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

ITEMS = 5
COOKIE = "ledger_session"
PAGE = """<!doctype html><html><head><title>{title}</title>
<meta name="csrf-token" content="{token}">
<link rel="stylesheet" href="/static/style.css"></head>
<body><h1>{title}</h1>{body}</body></html>"""
LOG_IN = """<form method="post" action="/login">
<input type="hidden" name="csrf_token" value="{token}">
<input name="username"><input type="password" name="password">
<button>Log in</button></form>"""
LIST = """<ul id="items"></ul><p id="me"></p><img src="/static/logo.png" alt="">
<form method="post" action="/logout"><input type="hidden" name="csrf_token" value="{token}">
<button id="leave">Log out</button></form><script src="/static/app.js"></script>"""
ITEM = """<p data-reference="{reference}">Item {item}</p>
<form method="post" action="/items/{item}/notes">
<input type="hidden" name="csrf_token" value="{token}"><input name="note">
<button id="save">Save</button></form>
<button id="filter">Filter</button><p id="rows"></p><a href="/items">All items</a>
<script>
document.getElementById("filter").onclick = async () => {{
  const token = document.querySelector("meta[name=csrf-token]").content;
  const headers = {{"Content-Type": "application/json", "X-CSRFToken": token}};
  const reference = document.querySelector("p[data-reference]").dataset.reference;
  const body = JSON.stringify({{item_id: {item}, reference, columns: ["note"]}});
  const made = await (await fetch("/api/filters", {{method: "POST", headers, body}})).json();
  const rows = await (await fetch(`/api/rows?filter_key=${{made.key}}`)).json();
  document.getElementById("rows").textContent = `${{rows.rows.length}} rows`;
}};
</script>"""
STYLE_TAG = '"style-1"'
SCRIPT = """const headers = {Accept: "application/json"};
const get = async (path) => (await fetch(path, {headers})).json();
Promise.all([get("/api/items"), get("/api/me")]).then(([list, me]) => {
  document.getElementById("items").innerHTML = list.items
    .map((each) => `<li><a href="/items/${each.id}">${each.name}</a></li>`).join("");
  document.getElementById("me").textContent = me.name;
});
"""


@dataclass
class Visit:
    """What the application keeps of a browser."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    user: str = ""
    items: list[int] = field(
        default_factory=lambda: [100_000 + secrets.randbelow(900_000) for _ in range(ITEMS)]
    )
    references: dict[int, str] = field(default_factory=dict)
    filters: dict[str, int] = field(default_factory=dict)


@dataclass
class Application:
    """The application, and what it noted."""

    password: str
    url: str = ""
    visits: dict[str, Visit] = field(default_factory=dict)
    users: Counter[str] = field(default_factory=Counter)
    """Who was let in, and how often."""
    left: Counter[str] = field(default_factory=Counter)
    """Who logged out, and how often."""
    refused: list[str] = field(default_factory=list)
    """Requests that were answered with 4xx."""
    cookies: set[str] = field(default_factory=set)
    """Values of its cookie that it was sent."""
    paths: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    """Files that a browser had, as it was told."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        pass

    @property
    def _application(self) -> Application:
        return self.server.application

    def do_GET(self) -> None:
        self._begin()
        path, visit = urlsplit(self.path).path, self.visit
        item = self._item(path, "/items/")
        if path.startswith("/static/"):
            self._static(path)
        elif path == "/login":
            self._page("Log in", LOG_IN.format(token=visit.token))
        elif not visit.user:
            self._redirect("/login")
        elif path == "/":
            self._redirect("/items")
        elif path == "/items":
            self._page("Items", LIST.format(token=visit.token))
        elif path == "/api/items":
            items = [{"id": each, "name": f"item {at}"} for at, each in enumerate(visit.items)]
            self._json({"count": len(items), "items": items})
        elif path == "/api/me":
            self._json({"name": visit.user, "id": 7})
        elif item is not None:
            reference = visit.references.setdefault(item, secrets.token_hex(12))
            text = ITEM.format(item=item, token=visit.token, reference=reference)
            self._page(f"Item {item}", text)
        elif path == "/api/rows":
            key = parse_qs(urlsplit(self.path).query).get("filter_key", [""])[0]
            self._json({"rows": [1, 2, 3]}) if key in visit.filters else self._refuse(404)
        else:
            self._refuse(404)

    def do_POST(self) -> None:
        self._begin()
        path, visit = urlsplit(self.path).path, self.visit
        if path == "/login":
            self._log_in()
        elif not visit.user:
            self._refuse(401)
        elif path == "/logout":
            self._log_out()
        elif path == "/api/filters":
            self._filter()
        elif path.endswith("/notes") and self._item(path[: -len("/notes")], "/items/") is not None:
            allowed = self.form.get("csrf_token") == visit.token
            place = path[: -len("/notes")]
            self._redirect(f"{place}?saved=1", 303) if allowed else self._refuse(403)
        else:
            self._refuse(404)

    # -- what is asked -----------------------------------------------------------------------------
    def _begin(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = SimpleCookie(self.headers.get("Cookie", ""))
        own = sent[COOKIE].value if COOKIE in sent else ""
        application = self._application
        with application.lock:
            application.paths[urlsplit(self.path).path] += 1
            if own:
                application.cookies.add(own)
            self.is_new = own not in application.visits
            self.key = secrets.token_urlsafe(24) if self.is_new else own
            self.visit = application.visits.setdefault(self.key, Visit())
        self.text = body.decode()
        self.form = {name: each[0] for name, each in parse_qs(self.text).items()}

    def _item(self, path: str, before: str) -> int | None:
        name = path.removeprefix(before)
        known = path.startswith(before) and name.isdigit() and int(name) in self.visit.items
        return int(name) if known else None

    def _log_in(self) -> None:
        application, form = self._application, self.form
        if form.get("csrf_token") != self.visit.token:
            self._refuse(403)
        elif form.get("password") != application.password:
            self._page("Log in", LOG_IN.format(token=self.visit.token))
        else:
            with application.lock:
                application.users[form["username"]] += 1
                self.key, self.is_new = secrets.token_urlsafe(24), True
                self.visit = application.visits[self.key] = Visit(user=form["username"])
            self._redirect("/items")

    def _log_out(self) -> None:
        if self.form.get("csrf_token") != self.visit.token:
            self._refuse(403)
            return
        with self._application.lock:
            self._application.left[self.visit.user] += 1
            self._application.visits.pop(self.key)
        self._redirect("/login")

    def _filter(self) -> None:
        asked = json.loads(self.text)
        item, visit = asked.get("item_id"), self.visit
        known = isinstance(item, int) and visit.references.get(item) == asked.get("reference")
        if self.headers.get("X-CSRFToken") != visit.token or not known:
            self._refuse(403)
            return
        key = secrets.token_urlsafe(16)
        visit.filters[key] = item
        self._json({"key": key})

    # -- what is answered --------------------------------------------------------------------------
    def _page(self, title: str, body: str) -> None:
        text = PAGE.format(title=title, token=self.visit.token, body=body)
        self._answer(200, "text/html; charset=utf-8", text.encode())

    def _json(self, data: Any) -> None:
        self._answer(200, "application/json", json.dumps(data).encode())

    def _static(self, path: str) -> None:
        """A script for a day, a style to ask about each time, a picture without a word."""
        kind = path.rpartition(".")[2]
        media = {"js": "text/javascript", "css": "text/css", "png": "image/png"}[kind]
        if kind == "css" and self.headers.get("If-None-Match") == STYLE_TAG:
            with self._application.lock:
                self._application.unchanged[path] += 1
            self._answer(304, media, b"", ("ETag", STYLE_TAG))
            return
        keeping = {"js": ("Cache-Control", "max-age=86400"), "css": ("Cache-Control", "no-cache")}
        headers = [keeping[kind]] if kind in keeping else []
        if kind == "css":
            headers.append(("ETag", STYLE_TAG))
        text = SCRIPT if kind == "js" else ""
        self._answer(200, media, text.encode(), *headers)

    def _redirect(self, to: str, status: int = 302) -> None:
        self._answer(status, "text/html", b"", ("Location", to))

    def _refuse(self, status: int) -> None:
        with self._application.lock:
            self._application.refused.append(f"{self.command} {self.path}: {status}")
        self._answer(status, "text/plain", b"no")

    def _answer(self, status: int, kind: str, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        if self.is_new:
            self.send_header("Set-Cookie", f"{COOKIE}={self.key}; Path=/; HttpOnly")
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, application: Application) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.application = application


@contextmanager
def serving(password: str) -> Iterator[Application]:
    """The application at an address of this machine, for as long as the block runs."""
    application = Application(password)
    with _Server(application) as server:
        application.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield application
        finally:
            server.shutdown()
            thread.join()
