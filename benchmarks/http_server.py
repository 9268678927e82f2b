"""The web server that all tools of the HTTP benchmarks ask: nginx, with one page of 1 KB."""

from __future__ import annotations

import http.client
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PAGE_BYTES = 1024
_START_S = 20.0
_OWN_FILES = 200
"""Of a process beside its connections."""
_CONFIG = """
daemon off;
{user}
worker_processes {workers};
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_timeout 1h;
    keepalive_requests 1000000000;
    types {{ text/html html; }}
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    map $cookie_session $new_session {{
        "" "session={session}; Path=/";
        default "";
    }}
    server {{
        listen 127.0.0.1:{port} backlog=65535 {reuse};
        listen 127.0.0.1:{tls_port} ssl backlog=65535 {reuse};
        root {folder}/pages;
        location = /page.html {{ add_header Set-Cookie $new_session; }}
        location = /counts {{ stub_status; }}
    }}
}}
"""


@dataclass(frozen=True)
class Counts:
    """What the server has seen: connections that are open, and requests so far."""

    connections: int
    requests: int


class WebServer:
    """nginx as it runs. `/page.html` sets the cookie `session` for who comes without it."""

    def __init__(self, port: int, tls_port: int, folder: Path, cookie: str) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.tls_base = f"https://localhost:{tls_port}"
        self.ca = folder / "certificate.pem"
        self.cookie = cookie
        """As a client sends it: `session=...`."""
        self._status = http.client.HTTPConnection("127.0.0.1", port, timeout=_START_S)
        self._asked = 0

    def counts(self) -> Counts:
        """Of all clients but this one."""
        self._status.request("GET", "/counts")
        text = self._status.getresponse().read().decode()
        self._asked += 1
        connections = re.search(r"Active connections: (\d+)", text)
        requests = re.search(r"^\s*\d+ \d+ (\d+)\s*$", text, re.MULTILINE)
        assert connections is not None and requests is not None, text
        return Counts(int(connections[1]) - 1, int(requests[1]) - self._asked)


def version() -> str:
    """The version of nginx on this machine."""
    said = subprocess.run([_nginx(), "-v"], capture_output=True, text=True, check=True)
    return said.stderr.strip().rpartition(": ")[2]


@contextmanager
def web_server(
    *, cookie_bytes: int, workers: int = 1, cpus: str | None = None
) -> Iterator[WebServer]:
    """Starts it, and ends it with the block.

    Args:
        cookie_bytes: Length of the value of the cookie.
        workers: Processes; connections are spread over them.
        cpus: Processors that it may run on, as a list; default: all.
    """
    raise_open_files()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    session = "s" * cookie_bytes
    with tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as name:
        folder = Path(name)
        pages = folder / "pages"
        pages.mkdir()
        (pages / "page.html").write_text("x" * PAGE_BYTES)
        _make_certificate(folder)
        port, tls_port = _free_ports(2)
        config = folder / "nginx.conf"
        config.write_text(
            _CONFIG.format(
                user="user root;" if os.geteuid() == 0 else "",
                workers=workers,
                files=files,
                connections=files - _OWN_FILES,
                folder=folder,
                session=session,
                port=port,
                tls_port=tls_port,
                reuse="reuseport" if workers > 1 else "",
            )
        )
        pinned = ["taskset", "--cpu-list", cpus] if cpus else []
        with (folder / "output.log").open("wb") as output:
            process = subprocess.Popen(
                [*pinned, _nginx(), "-e", str(folder / "error.log"), "-c", str(config)],
                stdout=output,
                stderr=output,
            )
        try:
            _await_start(process, port, folder)
            yield WebServer(port, tls_port, folder, f"session={session}")
        finally:
            process.terminate()
            process.wait()


def raise_open_files() -> None:
    """Lets this process, and all that it starts, open as many files as the hard limit allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_connections() -> int:
    """Connections that one process can have here, by its limit of open files."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] - _OWN_FILES


def _nginx() -> str:
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        raise RuntimeError("nginx is not installed: apt-get install nginx")
    return found


def _make_certificate(folder: Path) -> None:
    """A certificate of `localhost` that signs itself."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-addext", "basicConstraints=critical,CA:FALSE"),
            *("-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")),
        ],
        check=True,
        capture_output=True,
    )


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _await_start(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    said = "".join(each.read_text() for each in sorted(folder.glob("*.log")))
    raise RuntimeError(f"nginx does not start: {said}")
