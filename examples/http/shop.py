"""A small shop to try the examples of web applications on. It keeps everything in memory.

Start it with `python3 examples/http/shop.py`: it is at http://127.0.0.1:8080 until Ctrl-C. Another
port is written behind the name.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PASSWORD = "demo"  # noqa: S105 - of everybody, in examples/http/people.csv too
PER_PAGE = 10
STYLE = "body { font-family: sans-serif; }\n"


@dataclass
class Person:
    """A browser that came by: its token, and who logged in there."""

    token: str = field(default_factory=lambda: secrets.token_hex(8))
    name: str = ""


@dataclass
class Shop:
    """Who is there, and what was ordered."""

    people: dict[str, Person] = field(default_factory=dict)
    orders: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reset(self) -> None:
        """As it was at the start."""
        with self.lock:
            self.people.clear()
            self.orders = 0

    def order(self) -> int:
        """The number of a new order."""
        with self.lock:
            self.orders += 1
            return self.orders


SHOP = Shop()


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "shop"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        """Pages and items."""
        url = urlsplit(self.path)
        page = int(parse_qs(url.query).get("page", ["1"])[0])
        match url.path:
            case "/":
                name = self.person().name or "stranger"
                self.page(f"<h1>Shop</h1><p>Welcome, {name}</p>")
            case "/login":
                self.log_in_form()
            case "/logout":
                SHOP.people.pop(self.cookie(), None)
                self.answer(303, location="/login")
            case "/items":
                self.page(f"<h1>Items</h1><p>Page {page}</p>")
            case "/api/items":
                first = page * PER_PAGE
                numbers = range(first, first + PER_PAGE)
                self.json(200, {"items": [{"id": n, "name": f"item {n}"} for n in numbers]})
            case "/static/shop.css":
                self.answer(200, "text/css", STYLE)
            case _:
                self.answer(404, body="not found\n")

    def do_POST(self) -> None:
        """Log-ins, orders, and the reset."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        match self.path:
            case "/login":
                self.log_in({name: each[0] for name, each in parse_qs(body).items()})
            case "/api/orders":
                person = self.person()
                if not person.name or self.headers.get("X-CSRFToken") != person.token:
                    self.json(403, {"state": "refused"})
                    return
                self.json(201, {"state": "accepted", "order": SHOP.order(), **json.loads(body)})
            case "/reset":
                SHOP.reset()
                self.answer(200, body="empty shop\n")
            case _:
                self.answer(404, body="not found\n")

    def log_in_form(self) -> None:
        """A form with a token, and a cookie by which the browser is known."""
        known, person = secrets.token_hex(8), Person()
        SHOP.people[known] = person
        token = f'<input type="hidden" name="csrf_token" value="{person.token}">'
        self.page(f'<form method="post">{token}</form>', f"session={known}; Path=/; HttpOnly")

    def log_in(self, form: dict[str, str]) -> None:
        """Who has the password and the token of the form is in."""
        person = self.person()
        if form.get("csrf_token") != person.token or form.get("password") != PASSWORD:
            self.answer(403, body="wrong name, password or token\n")
            return
        person.name = form.get("username", "")
        self.answer(303, location="/")

    def person(self) -> Person:
        """Whose browser it is; a stranger without a cookie."""
        return SHOP.people.get(self.cookie()) or Person()

    def cookie(self) -> str:
        """The cookie by which a browser is known; empty without one."""
        morsel = SimpleCookie(self.headers.get("Cookie", "")).get("session")
        return morsel.value if morsel else ""

    def page(self, inner: str, cookie: str = "") -> None:
        """A page of HTML."""
        head = '<!doctype html><link rel="stylesheet" href="/static/shop.css">'
        self.answer(200, "text/html; charset=utf-8", head + inner, cookie=cookie)

    def json(self, status: int, value: object) -> None:
        """A document of JSON."""
        self.answer(status, "application/json", json.dumps(value))

    def answer(
        self,
        status: int,
        kind: str = "text/plain; charset=utf-8",
        body: str = "",
        *,
        location: str = "",
        cookie: str = "",
    ) -> None:
        """One answer, with its length."""
        data = body.encode()
        self.send_response(status)
        named = {"Content-Type": kind, "Location": location, "Set-Cookie": cookie}
        for name, value in named.items():
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line for each request would be a load of its own."""


class Server(ThreadingHTTPServer):
    """A thread for each connection, and room for many that come at once."""

    daemon_threads = True
    request_queue_size = 1024


def main() -> None:
    """Serves until Ctrl-C."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    with Server(("127.0.0.1", port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
