"""A MariaDB server that Loadstone owns: its folders made, started, stopped, crashed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.host.processes import wait_ended
from loadstone.journal import Entry, Journal, undoes
from loadstone.placements.account import Account
from loadstone.spec.model import Level
from loadstone.targets.connection import ServerConnection
from loadstone.targets.local.server_process import ServerProcess
from loadstone.targets.mariadb import processes, values
from loadstone.targets.mariadb.binaries import Binaries
from loadstone.targets.mariadb.client import connect

USER = "loadstone"
STOP_S = 600.0
"""A slow shutdown purges and merges everything that is left to do."""
INSTALL_OPTIONS = (
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--skip-name-resolve",
)
_CAUSE = re.compile(r"\[ERROR\]")
_STAMP = re.compile(r"^\d{4}-\d\d-\d\d +\d+:\d\d:\d\d \d+ ")


@dataclass(frozen=True)
class Folders:
    """Where the files of a server lie: the redo log may be on a place of its own."""

    data: Path
    redo: Path
    temporary: Path

    @classmethod
    def on(cls, data: Path, log: Path | None) -> Folders:
        """The folders on a place for data and perhaps another for the log."""
        return cls(data / "data", (log or data) / "redo", data / "tmp")

    def all(self) -> tuple[Path, Path, Path]:
        """Each of them."""
        return (self.data, self.redo, self.temporary)


class Instance:
    """The folders of a server, and the server in them if it runs."""

    def __init__(self, binaries: Binaries, account: Account, folders: Folders, root: Path) -> None:
        """Makes nothing yet.

        Args:
            binaries: Its programs.
            account: That it runs as.
            folders: Its data.
            root: Folder for its configuration and its log.
        """
        self.binaries = binaries
        self.account = account
        self.folders = folders
        self.log = root / "log" / "mariadb.log"
        self.server = ServerProcess("MariaDB", account, self.log)
        self._configuration = root / "log" / "loadstone.cnf"
        self._entry: Entry | None = None
        self.socket = Path()
        """Set by the owner before the first start."""

    def connection(self, database: str) -> ServerConnection:
        """How to reach the server: by its Unix socket, in a folder that only its account enters."""
        return ServerConnection(
            protocol="mysql", host=str(self.socket), user=USER, database=database
        )

    def make_folders(self) -> None:
        """Makes the folders that are missing, and empties the one for temporary files."""
        shutil.rmtree(self.folders.temporary, ignore_errors=True)
        for folder in self.folders.all():
            if not folder.is_dir():
                folder.mkdir(mode=0o700)
                self.account.own(folder)

    def initialise(self, journal: Journal, options: Mapping[str, str], script: str) -> None:
        """Makes new system tables in empty folders.

        Args:
            journal: Told before: the installer must not go on alone in a folder that is removed.
            options: Settings that are fixed now, such as the page size.
            script: Statements to run at the end.

        Raises:
            TargetError: With its output.
        """
        for folder in self.folders.all():
            shutil.rmtree(folder, ignore_errors=True)
        self.make_folders()
        statements = self._configuration.with_name("install.sql")
        self._write(statements, script)
        self._note(journal)
        done = subprocess.run(
            [
                str(self.binaries.installer),
                "--no-defaults",
                *INSTALL_OPTIONS,
                f"--extra-file={statements}",
                f"--datadir={self.folders.data}",
                f"--innodb-log-group-home-dir={self.folders.redo}",
                f"--tmpdir={self.folders.temporary}",
                *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()),
            ],
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **self.account.process_options(),
        )
        if done.returncode != 0:
            said = " ".join((done.stdout + done.stderr).split())
            raise TargetError(f"{self.binaries.installer.name} failed: {said[-800:]}")

    def configure(self, settings: Mapping[str, str]) -> None:
        """Writes the only option file that the next start reads."""
        own = {
            "datadir": self.folders.data,
            "innodb_log_group_home_dir": self.folders.redo,
            "tmpdir": self.folders.temporary,
            "socket": self.socket,
            "pid_file": self.socket.with_name("mariadb.pid"),
        }
        lines = [values.option_line(name, value) for name, value in settings.items()]
        lines += [values.option_line(name, str(value)) for name, value in own.items()]
        self._write(self._configuration, "[mariadbd]\nskip_networking\n" + "".join(lines))

    def start(self, journal: Journal, blamed: Mapping[str, Level]) -> None:
        """Starts the server and waits until it answers.

        Args:
            journal: Told before.
            blamed: Settings to name when the server's log names them.

        Raises:
            TargetError: If it does not start, with what its log says.
        """
        self._note(journal)
        command: list[str | Path] = [self.binaries.server]
        command += [f"--defaults-file={self._configuration}", f"--datadir={self.folders.data}"]
        self.server.start(command, self.folders.data)
        if not self.server.wait_until(self._is_ready):
            lines = self.server.log_lines(of_this_start=True)
            raise self._ended("does not start", lines, blamed)

    def stop(self, journal: Journal, *, immediate: bool = False) -> bool:
        """Stops the server; one that somebody else has killed counts as stopped.

        Args:
            journal: Told afterwards.
            immediate: At once, for data that are thrown away.

        Returns:
            Whether it ended well, with everything written to its data files.

        Raises:
            TargetError: If it does not stop in time.
        """
        server = processes.server_of(self.folders.data)
        if server is not None:
            server.send_signal(signal.SIGKILL if immediate else signal.SIGTERM)
            if not wait_ended([server], STOP_S):
                raise TargetError(
                    f"MariaDB in {self.folders.data} does not stop within {STOP_S:g} s",
                    advice=f"see {self.log}",
                )
        return self._forget(journal) == 0

    def check_alive(self) -> None:
        """Raises a TargetError, with the end of its log, if the server has ended."""
        if self.server.has_ended():
            raise self._ended("has ended", self.server.log_lines(of_this_start=False), {})

    def crash(self) -> None:
        """Kills the server at once. It stays journalled: it is to come back."""
        processes.end_server(self.folders.data)
        self.server.wait()

    def end(self, journal: Journal) -> None:
        """Ends the server by all means, whatever state it is in."""
        processes.end_server(self.folders.data)
        self._forget(journal)

    def _is_ready(self) -> bool:
        if not self.socket.exists():
            return False
        try:
            connect(self.connection("")).close()
        except TargetError:
            return False
        return True

    def _ended(self, what: str, lines: list[str], blamed: Mapping[str, Level]) -> TargetError:
        told = [_STAMP.sub("", line) for line in lines if line.strip()]
        causes = [line for line in told if _CAUSE.search(line)]
        said = " | ".join((causes or told)[-5:]) or "nothing"
        words = said.replace("-", "_").lower()
        named = [name for name in blamed if re.search(rf"\b{re.escape(name.lower())}\b", words)]
        of = ", ".join(f"{name} = {blamed[name]}" for name in named)
        return TargetError(
            f"MariaDB {what}{' with ' + of if of else ''}; its log says: {said}",
            advice=f"choose another level of {named[0]}" if named else f"see {self.log}",
        )

    def _write(self, path: Path, content: str) -> None:
        path.write_text(content)
        path.chmod(0o600)
        self.account.own(path)

    def _note(self, journal: Journal) -> None:
        if self._entry is None:
            self._entry = journal.before(
                f"run MariaDB {self.binaries.short_version} in {self.folders.data}",
                "mariadb-stop",
                data=str(self.folders.data),
            )

    def _forget(self, journal: Journal) -> int | None:
        """Notes that the server has ended. Returns its exit code, if it was a child."""
        code = self.server.wait()
        if self._entry is not None:
            processes.end_server(self.folders.data)
            journal.undone(self._entry)
            self._entry = None
        return code


@undoes("mariadb-stop")
def _stop(data: dict[str, Any]) -> None:
    processes.end_server(Path(os.path.realpath(data["data"])))
