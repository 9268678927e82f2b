"""The processes of an owned MariaDB: found by the data folder, ended whatever state they are in."""

from __future__ import annotations

from pathlib import Path

import psutil

from loadstone.host import processes

_SERVERS = ("mariadbd", "mysqld")


def server_of(data: Path) -> psutil.Process | None:
    """The server process that runs in this data folder."""
    option = f"--datadir={data}"
    found = processes.matching(
        lambda words: (
            option in words and Path(words[0]).name in _SERVERS and "--bootstrap" not in words
        )
    )
    return found[0] if found else None


def all_of(data: Path) -> list[psutil.Process]:
    """Every process that was started for this data folder, the installer and its children too."""
    option = f"--datadir={data}"
    return processes.matching(lambda words: option in words)


def end_server(data: Path) -> None:
    """Ends the server by all means. There is no last checkpoint: its data can be recovered.

    Raises:
        TargetError: If processes survive SIGKILL.
    """
    processes.kill_all(lambda: all_of(data), f"MariaDB in {data}")


def cpu_s(data: Path) -> float | None:
    """User and system seconds of the server so far."""
    server = server_of(data)
    return None if server is None else processes.cpu_s(server)
