"""A real nginx that serves a small application: pages, people, a log-in; plain and by TLS."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packages import do_without

from loadstone.placements import programs

START_S = 30.0
_LISTENING = (20_000, 32_000)
"""Ports that servers listen at."""
PASSWORD = "s3cret-of-the-application"
TOKEN = "token-of-the-form"
PEOPLE = ("ada", "grace", "edsger")
PARTS = tuple(f"part-{number}.css" for number in range(6))
"""Files that the home page needs."""
SLOW = "slow.css"
SLOW_S = 0.25
"""Its last byte comes so much later than its first one, at least."""
_SLOW_BYTES_PER_S = 8192

_CONFIG = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4000; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_timeout {keepalive};
    keepalive_requests 1000000;
    types {{ text/html html; text/css css; }}
    log_format uri '$uri';
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.key;
    server {{
        listen {address}:{port} backlog=4000;
        listen {address}:{other_port} backlog=4000;
        listen {address}:{tls_port} ssl backlog=4000;
        root {folder}/pages;
        location /people/ {{ access_log {folder}/people.log uri; }}
        location = /log-in {{
            add_header Set-Cookie "session=of-one; Path=/";
            if ($http_x_password != "{password}") {{ return 403; }}
            return 200 "<p>Welcome</p>";
        }}
        location = /order {{ return 200 "<p>Ordered</p>"; }}
        location = /log-out {{ return 200 "<p>Goodbye</p>"; }}
        location = /moved.html {{ return 302 /about.html; }}
        location = /{slow} {{ limit_rate {slow_bytes_per_s}; }}
    }}
}}
"""


@dataclass(frozen=True)
class NginxServer:
    """A server that runs: where it is, and how it ends."""

    folder: Path
    address: str
    port: int
    other_port: int
    tls_port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def other_url(self) -> str:
        """The same pages at another address."""
        return f"http://{self.address}:{self.other_port}"

    @property
    def tls_url(self) -> str:
        return f"https://localhost:{self.tls_port}"

    @property
    def ca(self) -> Path:
        """The certificate of who issued the server's."""
        return self.folder / "ca.pem"

    def people(self) -> list[str]:
        """Whose pages were asked for, in order."""
        text = (self.folder / "people.log").read_text()
        return [Path(line).stem for line in text.splitlines()]

    def kill(self) -> None:
        """Ends it at once, its worker too.

        The parent first: it would start another worker for one that ended.
        """
        workers = _children(self.process.pid)
        self.process.kill()
        self.process.wait()
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


@contextlib.contextmanager
def running_nginx(
    within: Sequence[str] = (), *, address: str = "127.0.0.1", keepalive: str = "60s"
) -> Iterator[NginxServer]:
    """A server in a folder of its own, which is removed afterwards.

    Args:
        within: Words that come before its command, as those that enter a network namespace.
        address: That it listens at.
        keepalive: So long it keeps a connection on which nothing comes, as `500ms`.
    """
    for name in ("nginx", "openssl"):
        if reason := programs.absent(name):
            do_without(reason)
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-nginx-", dir="/var/tmp"))
    process = None
    try:
        _make_pages(folder / "pages")
        _make_certificates(folder)
        port, other_port, tls_port = _free_ports(3)
        config = folder / "nginx.conf"
        config.write_text(
            _CONFIG.format(
                user="user root;" if os.geteuid() == 0 else "",
                folder=folder,
                address=address,
                port=port,
                other_port=other_port,
                tls_port=tls_port,
                password=PASSWORD,
                keepalive=keepalive,
                slow=SLOW,
                slow_bytes_per_s=_SLOW_BYTES_PER_S,
            )
        )
        nginx = str(programs.needed("nginx"))
        with (folder / "output.log").open("wb") as output:
            process = subprocess.Popen(
                [*within, nginx, "-e", str(folder / "error.log"), "-c", str(config)],
                stdout=output,
                stderr=output,
            )
        server = NginxServer(folder, address, port, other_port, tls_port, process)
        _wait_until_ready(server)
        yield server
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(folder)


def _make_pages(folder: Path) -> None:
    (folder / "people").mkdir(parents=True)
    form = f'<form><input type="hidden" name="csrf_token" value="{TOKEN}"></form>'
    (folder / "index.html").write_text(f"<html><body><h1>Home</h1>{form}</body></html>")
    (folder / "about.html").write_text("<html><body><h1>About</h1></body></html>")
    for name in PARTS:
        (folder / name).write_text("body { margin: 0 }\n" * 20)
    # nginx sends what may be sent in the first second at once.
    (folder / SLOW).write_bytes(b" " * int(_SLOW_BYTES_PER_S * (1 + 2 * SLOW_S)))
    for name in PEOPLE:
        (folder / "people" / f"{name}.html").write_text(f"<h1>{name}</h1>")


def _make_certificates(folder: Path) -> None:
    """An authority, and a certificate of `localhost` that it issued."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    request = ("-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    authority = ("-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Authority")
    issue = ("-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
    for words in (
        ("req", "-x509", *key, *authority),
        ("req", *key, *request),
        ("x509", "-req", *issue, "-days", "2", "-extfile", "names", "-out", "server.pem"),
    ):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def _free_ports(count: int) -> list[int]:
    """Below those that the kernel gives to outgoing connections: a load may take all of them."""
    found: list[int] = []
    for port in random.sample(range(*_LISTENING), 1000):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise AssertionError(f"nobody has {count} free ports in {_LISTENING}")


def _wait_until_ready(server: NginxServer) -> None:
    """It writes its number when it listens; a namespace of its own cannot be asked from here."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.process.poll() is None:
        if (server.folder / "nginx.pid").exists() and _children(server.process.pid):
            return
        time.sleep(0.02)
    said = "".join(each.read_text() for each in sorted(server.folder.glob("*.log")))
    raise AssertionError(f"nginx does not start: {said}")


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
