"""What the parts of Superset have in common that Loadstone starts: cache, nodes, balancer."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, TypeVar

import psutil

from loadstone.errors import TargetError
from loadstone.host.processes import matching
from loadstone.journal import Journal
from loadstone.placements.account import Account, own_account
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.local.engine_folders import EngineFolders
from loadstone.targets.owned_part import OwnedPart
from loadstone.targets.owned_server import OwnedServer
from loadstone.targets.superset.runs_as import runs_as


class PartServer(OwnedServer):
    """A server that is known by the path of its configuration, an argument of each process."""

    config_name: ClassVar[str]

    def __init__(self, folder: Path, socket: Path, *, log: Path, journal: Journal) -> None:
        """Starts nothing yet.

        Args:
            folder: That it works in.
            socket: Unix socket that it listens at.
            log: Of what it says.
            journal: Told before it is started.
        """
        super().__init__(folder, log=log, account=runs_as().account, journal=journal)
        self.socket = socket

    @property
    def config(self) -> Path:
        """The file that it is configured by."""
        return self.folder / self.config_name

    @classmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """Those with the configuration among their arguments, the oldest first."""
        mark = str(folder / cls.config_name)
        found = matching(lambda words: any(mark in word for word in words[1:]))
        return sorted(found, key=lambda process: (process.create_time(), process.pid))


ServerT = TypeVar("ServerT", bound=PartServer)


class SupersetPart(OwnedPart[ServerT]):
    """A part that runs as the account of all parts, see `runs_as`.

    The first `empty` or `restore` starts it: before that there is no catalogue to serve from.
    """

    socket_name: ClassVar[str]

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._account = runs_as().account
        self._engine_folders = EngineFolders(spec, context, self._account)

    def open(self) -> None:
        """Makes its folders."""
        self._engine_folders.open(self.empty_bytes)
        log = self._engine_folders.make_folder("log") / f"{self.engine}.log"
        self._server = self.make_server(self._engine_folders.make_folder("work"), log)

    @property
    def socket(self) -> Path:
        """Where the other parts reach it."""
        return self.server.socket

    def make_socket(self) -> Path:
        """The path of its socket, in a folder that is short enough for one."""
        return self._engine_folders.make_socket_folder(self.socket_name) / self.socket_name


def write_private(path: Path, text: str, account: Account | None = None) -> None:
    """Writes a file that only one account may read.

    Args:
        path: Of the file.
        text: That it has.
        account: That it is given to; default: Loadstone's own.

    Raises:
        TargetError: If the disk takes no more.
    """
    try:
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        (account or own_account()).own(path)
    except OSError as error:
        raise TargetError(f"{path} could not be written: {error.strerror}") from error
