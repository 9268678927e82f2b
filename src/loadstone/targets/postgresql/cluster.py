"""A PostgreSQL cluster that Loadstone owns: made, started, stopped, crashed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.host.processes import wait_ended
from loadstone.journal import Entry, Journal, undoes
from loadstone.placements.account import Account
from loadstone.spec.model import Failure, Level
from loadstone.targets.connection import ServerConnection
from loadstone.targets.local.server_process import ServerProcess
from loadstone.targets.postgresql import processes, values
from loadstone.targets.postgresql.binaries import Binaries

SUPERUSER = "loadstone"
PORT = 5432
INITDB_OPTIONS = ("--encoding=UTF8", "--locale=C", "--auth=trust", f"--username={SUPERUSER}")
STOP_S = 300.0
_CAUSE = re.compile(r"(FATAL|PANIC|ERROR|HINT|DETAIL):|.* for parameter ")
_SETTINGS_FILE = "loadstone.conf"


class Cluster:
    """A data folder, and the server in it if it runs."""

    def __init__(self, binaries: Binaries, account: Account, data: Path, socket: Path, log: Path):
        self.binaries = binaries
        self.account = account
        self.data = data
        self.socket = socket
        self.log = log
        self.server = ServerProcess("PostgreSQL", account, log)
        self._entry: Entry | None = None

    def connection(self, database: str) -> ServerConnection:
        """How to reach the server: by its Unix socket, which only its account may enter."""
        return ServerConnection(
            protocol="postgresql",
            host=str(self.socket),
            port=PORT,
            user=SUPERUSER,
            database=database,
        )

    def initialise(self, journal: Journal) -> None:
        """Runs initdb.

        Args:
            journal: Told before: initdb must not go on alone in a folder that is being removed.

        Raises:
            TargetError: With its output.
        """
        self._note(journal)
        done = subprocess.run(
            [
                str(self.binaries.program("initdb")),
                *INITDB_OPTIONS,
                "--no-sync",
                *(["--data-checksums"] if self.binaries.major < 18 else []),
                f"--pgdata={self.data}",
            ],
            cwd=self.data.parent,
            capture_output=True,
            text=True,
            check=False,
            **self.account.process_options(),
        )
        if done.returncode != 0:
            raise TargetError(f"initdb failed: {' '.join((done.stdout + done.stderr).split())}")
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(f"include = '{_SETTINGS_FILE}'\n")

    def configure(self, settings: Mapping[str, Level]) -> None:
        """Writes the settings that the next start uses; all others have initdb's defaults."""
        path = self.data / _SETTINGS_FILE
        path.write_text(
            "".join(
                f"{name} = {values.quoted(values.text(level))}\n"
                for name, level in settings.items()
            )
        )
        path.chmod(0o600)
        self.account.own(path)

    def start(self, journal: Journal, blamed: Mapping[str, Level]) -> None:
        """Starts the server and waits until it accepts connections.

        Args:
            journal: Told before.
            blamed: Settings to name when the server's log names them.

        Raises:
            TargetError: If it does not start, with the end of its log.
        """
        self._note(journal)
        self.server.start([self.binaries.program("postgres"), "-D", self.data], self.data)
        if not self.server.wait_until(self._is_ready):
            lines = self.server.log_lines(of_this_start=True)
            raise self._ended("does not start", lines, blamed)

    def stop(self, journal: Journal) -> None:
        """Stops the server with a checkpoint; one that somebody else has killed counts as stopped.

        Raises:
            TargetError: If it does not stop in time.
        """
        postmaster = processes.postmaster_of(self.data)
        if postmaster is not None:
            postmaster.send_signal(signal.SIGINT)
            if not wait_ended([postmaster], STOP_S):
                raise TargetError(
                    f"PostgreSQL in {self.data} does not stop within {STOP_S:g} s",
                    advice=f"see {self.log}",
                )
        self.end(journal)

    def check_alive(self) -> None:
        """Raises a TargetError, with the end of its log, if the server has ended."""
        if self.server.has_ended():
            raise self._ended("has ended", self.server.log_lines(of_this_start=False), {})

    def crash(self, failure: Failure) -> None:
        """Kills all processes of the server at once. It stays journalled: it is to come back."""
        if failure == "power-loss":
            processes.kill_with_memory(self.data)
        else:
            processes.kill_server(self.data)
        self.server.wait()

    def end(self, journal: Journal) -> None:
        """Ends the server by all means, for data that are thrown away."""
        processes.end_server(self.data)
        self._forget(journal)

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
            [str(program), str(self.data)],
            capture_output=True,
            text=True,
            check=True,
            **self.account.process_options(),
        )
        return str(done.stdout)

    def _is_ready(self) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        ours = lines[:1] == [str(self.server.pid)]
        return ours and len(lines) > 7 and lines[7].strip() == "ready"

    def _ended(self, what: str, lines: list[str], blamed: Mapping[str, Level]) -> TargetError:
        told = [re.sub(r"^\S+ \S+ \S+ \[\d+\] ", "", line) for line in lines]
        causes = [line for line in told if _CAUSE.match(line)]
        said = " | ".join(causes or told[-5:]) or "nothing"
        named = [name for name in blamed if re.search(rf"\b{re.escape(name)}\b", said)]
        of = ", ".join(f"{name} = {values.text(blamed[name])}" for name in named)
        return TargetError(
            f"PostgreSQL {what}{' with ' + of if of else ''}; its log says: {said}",
            advice=f"choose another level of {named[0]}" if named else f"see {self.log}",
        )

    def _note(self, journal: Journal) -> None:
        if self._entry is None:
            self._entry = journal.before(
                f"run PostgreSQL {self.binaries.version} in {self.data}",
                "postgresql-stop",
                data=str(self.data),
            )

    def _forget(self, journal: Journal) -> None:
        self.server.wait()
        if self._entry is not None:
            with contextlib.suppress(OSError):  # the disk below it may have lost its power
                (self.data / "postmaster.pid").unlink(missing_ok=True)
            journal.undone(self._entry)
            self._entry = None


@undoes("postgresql-stop")
def _stop(data: dict[str, Any]) -> None:
    processes.end_server(Path(os.path.realpath(data["data"])))
