"""A MariaDB that is not Loadstone's: started by its own programs, as an ordinary user."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest

from loadstone.errors import TargetError
from loadstone.placements.account import server_account
from loadstone.targets.mariadb import binaries

START_S = 60.0


@dataclass(frozen=True)
class MariaDBServer:
    """A running server; its administrator `root` has no password."""

    folder: Path
    socket: Path
    port: int
    log: Path
    pid: int

    @property
    def address(self) -> str:
        return f"mysql://root@/mysql?socket={self.socket}"

    def connect(self, **options: Any) -> pymysql.connections.Connection[Any]:
        settings = {"user": "root", "unix_socket": str(self.socket), "autocommit": True, **options}
        return pymysql.connect(**settings)

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        rows: list[tuple[Any, ...]] = []
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
                rows = list(cursor.fetchall())
        return rows


@contextlib.contextmanager
def running_mariadb(
    options: Mapping[str, object] | None = None, *, nofile: int | None = None
) -> Iterator[MariaDBServer]:
    """A server with these options, in a folder of its own that is removed afterwards.

    Args:
        options: As in an option file, with underscores.
        nofile: Files that it may open.
    """
    try:
        programs = binaries.find("local")
    except TargetError as error:
        pytest.skip(str(error))
    account = server_account("mysql")
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-mariadb-", dir="/var/tmp"))
    account.own(folder)
    data, log, path = folder / "data", folder / "error.log", folder / "sock"
    server = None
    try:
        _initialise(programs, account.process_options(), data)
        port = _free_port()
        command = [
            str(programs.server),
            "--no-defaults",
            f"--datadir={data}",
            f"--socket={path}",
            f"--pid-file={folder / 'pid'}",
            f"--log-error={log}",
            f"--port={port}",
            "--bind-address=127.0.0.1",
            *(f"--{name}={value}" for name, value in (options or {}).items()),
        ]
        limit = ["prlimit", f"--nofile={nofile}"] if nofile else []
        server = subprocess.Popen(
            [*limit, *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **account.process_options(),
        )
        found = MariaDBServer(folder, path, port, log, server.pid)
        _wait_until_ready(found, server)
        yield found
    finally:
        if server is not None:
            server.kill()
            server.wait()
        shutil.rmtree(folder)


def _initialise(programs: binaries.Binaries, options: dict[str, Any], data: Path) -> None:
    subprocess.run(
        [
            str(programs.installer),
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--innodb-log-file-size=4M",
        ],
        check=True,
        capture_output=True,
        cwd="/",
        **options,
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_ready(server: MariaDBServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.connect().close()
        except pymysql.Error:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"MariaDB does not start: {server.log.read_text()[-2000:]}")
