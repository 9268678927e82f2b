"""The database below slurmdbd: a MariaDB of Loadstone's own, with Slurm's records only."""

from __future__ import annotations

from pathlib import Path

from loadstone.placements.account import server_account
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.local.engine_folders import EngineFolders
from loadstone.targets.mariadb import binaries
from loadstone.targets.mariadb.instance import USER, Folders, Instance

_SOCKET = "mariadb.sock"
_OPTIONS = {"innodb_buffer_pool_size": "64M", "innodb_flush_log_at_trx_commit": "2"}
_INSTALL = f"""
FLUSH PRIVILEGES;
CREATE USER {USER}@localhost;
GRANT ALL PRIVILEGES ON *.* TO {USER}@localhost WITH GRANT OPTION;
"""
"""slurmdbd makes its database itself."""


class AccountingDatabase:
    """Made, started and removed with the cluster; reached by its Unix socket only."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        """Makes nothing yet.

        Args:
            spec: Of the cluster: its data folder is that of the database, too.
            context: The journal is told first.

        Raises:
            TargetError: If there is no MariaDB on this machine.
        """
        self._binaries = binaries.find("local")
        self._context = context
        self._account = server_account("mysql")
        self._folders = EngineFolders(spec, context, self._account)
        self._server: Instance | None = None
        self.socket = Path()
        """Where it listens, once it is open."""

    def open(self) -> None:
        """Makes an empty server and starts it.

        Raises:
            TargetError: If it does not start.
        """
        self._folders.open()
        layout = self._folders.places.use(StorageSpec())
        self.socket = self._folders.make_socket_folder(_SOCKET) / _SOCKET
        self._server = Instance(
            self._binaries,
            Folders.on(layout.data, layout.log),
            self.socket,
            log=self._folders.make_folder("log") / "mariadb.log",
            account=self._account,
            journal=self._context.journal,
        )
        self._server.initialise({}, _INSTALL)
        self._server.end()
        self._server.configure(_OPTIONS)
        self._server.start({})

    def close(self) -> None:
        """Ends it and removes its folders. Works after any failure."""
        if self._server is not None:
            self._server.end()
            self._server = None
        self._folders.close()
