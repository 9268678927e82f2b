"""A PostgreSQL cluster that Loadstone owns: made, started, stopped, crashed."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.placements.account import Account
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.targets.connection import ServerConnection
from loadstone.targets.owned_server import OwnedServer
from loadstone.targets.postgresql import processes, values
from loadstone.targets.postgresql.binaries import Binaries

SUPERUSER = "loadstone"
PORT = 5432
INITDB_OPTIONS = ("--encoding=UTF8", "--locale=C", "--auth=trust", f"--username={SUPERUSER}")
_SETTINGS_FILE = "loadstone.conf"


class Cluster(OwnedServer):
    """A data folder, and the server in it if it runs."""

    title = "PostgreSQL"
    undo_name = "postgresql-stop"
    stop_signal = signal.SIGINT
    stop_s = 300.0
    stamp = re.compile(r"^\S+ \S+ \S+ \[\d+\] ")
    cause = re.compile(r"^(?:FATAL|PANIC|ERROR|HINT|DETAIL):| for parameter ")
    cures = (
        (
            re.compile("could not map anonymous shared memory"),
            "reserve huge pages if they are asked for (--host vm.nr_hugepages=N), free memory, "
            "or lower shared_buffers; huge_pages=try goes on without huge pages",
        ),
        (
            re.compile("could not (create|resize|open) shared memory segment"),
            "enlarge /dev/shm (of a container: --shm-size)",
        ),
        (re.compile("could not create semaphores"), "raise kernel.sem (--host kernel.sem=...)"),
        (
            re.compile("io_uring"),
            "allow io_uring (kernel.io_uring_disabled=0; a container's profile may forbid it), "
            "or write io_method=worker",
        ),
        (
            re.compile("max_wal_senders.*wal_level", re.DOTALL),
            "write max_wal_senders=0 beside wal_level=minimal",
        ),
    )

    def __init__(
        self,
        binaries: Binaries,
        data: Path,
        socket: Path,
        *,
        log: Path,
        account: Account,
        journal: Journal,
    ) -> None:
        super().__init__(data, log=log, account=account, journal=journal, version=binaries.version)
        self.binaries = binaries
        self.socket = socket

    def connection(self, database: str) -> ServerConnection:
        """How to reach the server: by its Unix socket, which only its account may enter."""
        return ServerConnection(
            protocol="postgresql",
            host=str(self.socket),
            port=PORT,
            user=SUPERUSER,
            database=database,
        )

    def initialise(self) -> None:
        """Runs initdb. The journal knows of it: it must not go on alone in a removed folder.

        Raises:
            TargetError: With its output.
        """
        self._note()
        done = subprocess.run(
            [
                str(self.binaries.program("initdb")),
                *INITDB_OPTIONS,
                "--no-sync",
                *(["--data-checksums"] if self.binaries.major < 18 else []),
                f"--pgdata={self.folder}",
            ],
            cwd=self.folder.parent,
            capture_output=True,
            text=True,
            check=False,
            **self.account.process_options(),
        )
        if done.returncode != 0:
            raise TargetError(f"initdb failed: {' '.join((done.stdout + done.stderr).split())}")
        with (self.folder / "postgresql.conf").open("a") as file:
            file.write(f"include = '{_SETTINGS_FILE}'\n")

    def configure(self, settings: Mapping[str, Level]) -> None:
        """Writes the settings that the next start uses; all others have initdb's defaults."""
        path = self.folder / _SETTINGS_FILE
        path.write_text(
            "".join(
                f"{name} = {values.quoted(values.text(level))}\n"
                for name, level in settings.items()
            )
        )
        path.chmod(0o600)
        self.account.own(path)

    def command(self) -> Sequence[str | Path]:
        """The postmaster."""
        return [self.binaries.program("postgres"), "-D", self.folder]

    def is_ready(self) -> bool:
        """Asks its own file: it accepts connections."""
        try:
            lines = (self.folder / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        ours = lines[:1] == [str(self.pid)]
        return ours and len(lines) > 7 and lines[7].strip() == "ready"

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """The postmaster first; children whose postmaster has died, too."""
        return processes.all_of(folder)

    @classmethod
    def end_in(cls, folder: Path) -> None:
        """Ends it, or its initdb, and removes what it left in memory."""
        processes.end_server(folder)
        with contextlib.suppress(OSError):  # the disk below it may have lost its power
            (folder / "postmaster.pid").unlink(missing_ok=True)

    def crash(self, failure: Failure) -> None:
        """Kills it while it stands still; a power loss takes its shared memory away."""
        if failure == "power-loss":
            processes.kill_with_memory(self.folder)
        else:
            processes.kill_server(self.folder)
        self._wait()

    def wal_in_use(self) -> str:
        """Name of the WAL file with the last checkpoint of the stopped server."""
        output = self._control_data()
        match = re.search(r"REDO WAL file:\s+([0-9A-F]{24})", output)
        if match is None:
            raise TargetError(f"pg_controldata says nothing of the WAL file: {output[:200]!r}")
        return match[1]

    def was_shut_down(self) -> bool:
        """Whether the stopped server ended with a checkpoint of its own."""
        return re.search(r"cluster state:\s+shut down\n", self._control_data()) is not None

    def _control_data(self) -> str:
        program = self.binaries.program("pg_controldata")
        done = subprocess.run(
            [str(program), str(self.folder)],
            capture_output=True,
            text=True,
            check=True,
            **self.account.process_options(),
        )
        return str(done.stdout)
