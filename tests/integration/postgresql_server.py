"""A PostgreSQL that is not Loadstone's: started by its own programs, as an ordinary user."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from loadstone.placements.account import server_account
from loadstone.targets.postgresql import binaries

START_S = 60.0
PORT = 5432


@dataclass(frozen=True)
class PostgreSQLServer:
    """A running server; its administrator `postgres` has no password."""

    folder: Path
    data: Path
    log: Path
    pid: int

    @property
    def address(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}&port={PORT}"

    def connect(self, user: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(
            host=str(self.folder), port=PORT, user=user, dbname="postgres", autocommit=True
        )

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """The rows of the last statement."""
        rows: list[tuple[Any, ...]] = []
        with self.connect() as connection:
            for statement in statements:
                cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows


@contextlib.contextmanager
def running_postgresql(
    settings: Mapping[str, object] | None = None,
    *,
    programs_of: str = "embedded",
    initdb: Sequence[str] = (),
    nofile: int | None = None,
) -> Iterator[PostgreSQLServer]:
    """A server with these settings, in a folder of its own that is removed afterwards.

    Args:
        settings: As in `postgresql.conf`.
        programs_of: As `TargetSpec.server` names them.
        initdb: Options of initdb.
        nofile: Files that it may open.
    """
    account = server_account()
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-postgresql-", dir="/var/tmp"))
    account.own(folder)
    data, log = folder / "data", folder / "server.log"
    options = {"cwd": str(folder), **account.process_options()}
    server = None
    try:
        programs = binaries.find(programs_of)
        if not binaries.reachable(programs, account):
            folder.chmod(0o755)
            programs = binaries.copy(programs, folder)
        subprocess.run(
            [
                str(programs.program("initdb")),
                *("--no-sync", "--auth=trust", "--username=postgres", "--locale=C"),
                *initdb,
                f"--pgdata={data}",
            ],
            check=True,
            capture_output=True,
            **options,
        )
        given = {
            "listen_addresses": "",
            "unix_socket_directories": folder,
            "port": PORT,
            **(settings or {}),
        }
        limit = ["prlimit", f"--nofile={nofile}"] if nofile else []
        with log.open("wb") as output:
            account.own(log)
            server = subprocess.Popen(
                [
                    *limit,
                    *(str(programs.program("postgres")), "-D", str(data)),
                    *(part for name in given for part in ("-c", f"{name}={given[name]}")),
                ],
                stdout=output,
                stderr=output,
                **options,
            )
        found = PostgreSQLServer(folder, data, log, server.pid)
        _wait_until_ready(found, server)
        yield found
    finally:
        if server is not None:
            server.send_signal(signal.SIGQUIT)
            server.wait()
        shutil.rmtree(folder)


def _wait_until_ready(server: PostgreSQLServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server.connect().close()
        except psycopg.Error:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"PostgreSQL does not start: {server.log.read_text()[-2000:]}")
