"""Serves SFTP at a TCP port, without SSH: each connection gets an sftp-server of its own.

    python sftp_listener.py PORT SFTP_SERVER

For a network that nobody else is in: whoever reaches the port may do what this process may. It runs
on the storage node, as a program of its own.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

READY = "ready"
"""Is said when it listens."""


def serve(port: int, program: str) -> None:
    """Serves for ever."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that end are collected by the kernel
    with socket.create_server(("", port)) as listener:
        print(READY, flush=True)
        while True:
            client, _ = listener.accept()
            with client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                subprocess.Popen([program], stdin=client.fileno(), stdout=client.fileno())


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
