"""HTTP at a Unix socket."""

from __future__ import annotations

import socket
from http.client import HTTPConnection
from pathlib import Path


class UnixConnection(HTTPConnection):
    """A connection of the standard library to a socket of this machine."""

    def __init__(self, path: Path, within_s: float) -> None:
        """Connects nothing yet.

        Args:
            path: Of the socket.
            within_s: So long connecting, sending and each read may take.
        """
        super().__init__("localhost", timeout=within_s)
        self._path = path
        self._within_s = within_s

    def connect(self) -> None:
        """Connects to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._within_s)
        self.sock.connect(str(self._path))


def status_at(path: Path, address: str, *, within_s: float) -> int:
    """The status of the answer to a GET.

    Raises:
        OSError: If nothing answers.
        HTTPException: If what answers does not speak HTTP.
    """
    connection = UnixConnection(path, within_s)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()
