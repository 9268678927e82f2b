"""A server that is no database: it answers on its Unix socket, and has a child.

Usage: line_server.py SOCKET [NAME=VALUE]...    refuses colour=blue
"""

import contextlib
import os
import signal
import socket
import sys


def serve(place: str, *settings: str) -> None:
    if "colour=blue" in settings:
        sys.exit("no such value of Colour: blue")
    child = os.fork()
    if child == 0:
        signal.pause()

    def end(*_: object) -> None:
        os.kill(child, signal.SIGKILL)
        sys.exit()

    signal.signal(signal.SIGTERM, end)
    if os.path.exists(place):  # noqa: PTH110 - its imports are few: it is ready at once
        os.unlink(place)  # noqa: PTH108
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        while True:
            client, _ = listening.accept()
            with client, contextlib.suppress(BrokenPipeError):  # who asked has gone
                client.recv(100)
                client.sendall(b"pong\n")


if __name__ == "__main__":
    serve(*sys.argv[1:])
