"""The peers that the driver is measured beside: pgbench and sysbench, with the CPU they took."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.server import Server
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql import binaries

DATABASE = "pgbench"
CLIENTS = 8


@dataclass(frozen=True)
class PeerRun:
    """What a peer reported, and what it cost."""

    per_s: float
    cpu_us: float
    """Client CPU of one transaction, microseconds."""


class Pgbench:
    """PostgreSQL's own load generator, one thread, prepared statements."""

    name = "pgbench"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._binary = binaries.find("embedded").folder / "pgbench"

    def initialise(self, scale: int) -> None:
        """Makes a database of its own, with its tables."""
        self._server.target.execute(
            f"DROP DATABASE IF EXISTS {DATABASE}; CREATE DATABASE {DATABASE};"
        )
        _checked(
            [str(self._binary), "-i", "-q", "-s", str(scale), *_address(self._to), DATABASE],
        )

    def run(self, options: Sequence[str], seconds: float) -> PeerRun:
        """Runs it with its own scripts."""
        clients = ["-M", "prepared", "-c", str(CLIENTS), "-j", "1", "-n"]
        command = [str(self._binary), *_address(self._to), *clients, "-T", str(round(seconds))]
        return _measured([*command, *options, DATABASE], r"actually processed: (\d+)", seconds)

    @property
    def _to(self) -> ServerConnection:
        return replace(self._server.connection, database=DATABASE)


class Sysbench:
    """The load generator that MariaDB's people use, one thread a client, prepared statements."""

    name = "sysbench"

    def __init__(self, server: Server) -> None:
        binary = shutil.which("sysbench")
        if binary is None:
            raise RuntimeError("sysbench is not installed: apt-get install sysbench")
        to = server.connection
        self._command = [
            binary,
            "oltp_point_select",
            *("--db-driver=mysql", f"--mysql-user={to.user}", f"--mysql-db={to.database}"),
            f"--mysql-socket={to.host}",
            "--tables=1",
        ]

    def initialise(self, rows: int) -> None:
        """Makes its table in the work database."""
        _checked([*self._command, f"--table-size={rows}", "prepare"])

    def run(self, rows: int, seconds: float) -> PeerRun:
        """Selects rows by their keys."""
        options = [f"--table-size={rows}", f"--threads={CLIENTS}", f"--time={round(seconds)}"]
        return _measured([*self._command, *options, "run"], r"transactions:\s+(\d+)", seconds)


def _address(to: ServerConnection) -> list[str]:
    return ["-h", to.host, "-p", str(to.port), "-U", to.user]


def _checked(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _measured(command: Sequence[str], count: str, seconds: float) -> PeerRun:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    found = re.search(count, output)
    if process.returncode or found is None:
        raise RuntimeError(f"{command[0]} failed:\n{output}")
    done = int(found[1])
    return PeerRun(done / seconds, (usage.ru_utime + usage.ru_stime) / done * 1e6)
