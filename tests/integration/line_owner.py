"""What an engine would say of `line_server.py`, and a process that owns one and is killed.

Usage: line_owner.py FOLDER JOURNAL [paused]
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import psutil

from loadstone.host.processes import matching
from loadstone.journal import Journal
from loadstone.placements.account import own_account
from loadstone.targets.owned_server import OwnedServer

PROGRAM = Path(__file__).with_name("line_server.py")


class LineServer(OwnedServer):
    """Known by its socket."""

    title = "Lines"
    undo_name = "lines-stop"

    def __init__(self, folder: Path, journal: Journal) -> None:
        super().__init__(folder, log=folder / "log", account=own_account(), journal=journal)
        self.settings: dict[str, str] = {}

    def command(self) -> Sequence[str | Path]:
        words = [f"{name}={value}" for name, value in self.settings.items()]
        return [sys.executable, PROGRAM, self.folder / "socket", *words]

    def is_ready(self) -> bool:
        try:
            return self.answer() == "pong"
        except OSError:
            return False

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        return matching(lambda words: str(folder / "socket") in words)

    def answer(self, timeout_s: float = 5.0) -> str:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_s)
            client.connect(str(self.folder / "socket"))
            client.sendall(b"ping\n")
            return client.recv(100).decode().strip()


def main(folder: str, journal: str, how: str = "") -> None:
    server = LineServer(Path(folder), Journal(Path(journal), "victim"))
    server.start({})
    with server.paused() if how == "paused" else nullcontext():
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
