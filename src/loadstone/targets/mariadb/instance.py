"""A MariaDB server that Loadstone owns: its folders made, started, stopped, crashed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import matching
from loadstone.journal import Journal
from loadstone.placements.account import Account
from loadstone.targets.connection import ServerConnection
from loadstone.targets.mariadb import values
from loadstone.targets.mariadb.binaries import Binaries
from loadstone.targets.mariadb.client import connect
from loadstone.targets.owned_server import OwnedServer

USER = "loadstone"
INSTALL_OPTIONS = (
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--skip-name-resolve",
)


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


class Instance(OwnedServer):
    """The folders of a server, and the server in them if it runs."""

    title = "MariaDB"
    undo_name = "mariadb-stop"
    stop_s = 600.0
    """A slow shutdown purges and merges everything that is left to do."""
    stamp = re.compile(r"^\d{4}-\d\d-\d\d +\d+:\d\d:\d\d \d+ ")
    cause = re.compile(r"\[ERROR\]")
    cures = (
        (
            re.compile("annot allocate memory for the buffer pool"),
            "free memory, or lower innodb_buffer_pool_size",
        ),
        (
            re.compile("io_setup|io_uring|[Nn]ative AIO"),
            "raise fs.aio-max-nr (--host fs.aio-max-nr=N), or write innodb_use_native_aio=off",
        ),
        (re.compile("[Tt]oo many open files"), "raise host.server.nofile"),
    )

    def __init__(
        self,
        binaries: Binaries,
        folders: Folders,
        socket: Path,
        *,
        log: Path,
        account: Account,
        journal: Journal,
    ) -> None:
        """Makes nothing yet. Its configuration lies beside its log."""
        super().__init__(
            folders.data,
            log=log,
            account=account,
            journal=journal,
            version=binaries.short_version,
        )
        self.binaries = binaries
        self.folders = folders
        self.socket = socket
        self._configuration = log.with_name("loadstone.cnf")

    def move(self, folders: Folders) -> None:
        """Has the stopped server work in these folders from now on."""
        self.folders, self.folder = folders, folders.data

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

    def initialise(self, options: Mapping[str, str], script: str) -> None:
        """Makes new system tables in empty folders.

        The journal knows of it: the installer must not go on alone in a folder that is removed.

        Args:
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
        # The installer, a script of the shell, parts words at blanks where an option file does not.
        folders = {
            "innodb_log_group_home_dir": self.folders.redo,
            "tmpdir": self.folders.temporary,
        }
        lines = [values.option_line(name, str(folder)) for name, folder in folders.items()]
        answers = self._configuration.with_name("install.cnf")
        self._write(answers, "[mariadbd]\n" + "".join(lines))
        self._note()
        done = subprocess.run(
            [
                str(self.binaries.installer),
                f"--defaults-file={answers.name}",
                *INSTALL_OPTIONS,
                f"--extra-file={statements}",
                f"--datadir={self.folders.data}",
                *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()),
            ],
            cwd=answers.parent,
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

    def command(self) -> Sequence[str | Path]:
        """The server, which reads its own option file only."""
        return [
            self.binaries.server,
            f"--defaults-file={self._configuration}",
            f"--datadir={self.folder}",
        ]

    def is_ready(self) -> bool:
        """Connects."""
        if not self.socket.exists():
            return False
        try:
            connect(self.connection("")).close()
        except TargetError:
            return False
        return True

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """All that name it as their data folder: the installer and its children, too."""
        return matching(lambda words: f"--datadir={folder}" in words)

    def _write(self, path: Path, content: str) -> None:
        path.write_text(content)
        path.chmod(0o600)
        self.account.own(path)
