"""The target `mariadb`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.results.record import FactorReading, Fingerprint
from loadstone.spec.model import Level, TargetSpec
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.dialect import Dialect
from loadstone.targets.local.sessions import room_for
from loadstone.targets.mariadb import (
    address,
    binaries,
    bulk,
    catalog,
    ddl,
    fingerprint,
    remote,
    settings,
)
from loadstone.targets.mariadb.owned import OwnedServer
from loadstone.targets.mariadb.remote import AddressServer
from loadstone.targets.mariadb.server import Server
from loadstone.targets.mariadb.statistics import StatisticsProbe
from loadstone.targets.mariadb.waits import WaitsProbe
from loadstone.targets.schema import Table
from loadstone.targets.served import ServedTarget

if TYPE_CHECKING:
    from pathlib import Path

    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog

_FIXED = (
    "character_set_database",
    "collation_database",
    "innodb_checksum_algorithm",
    "innodb_data_file_path",
    "innodb_file_per_table",
    "innodb_page_size",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
)


class MariaDB(ServedTarget):
    """MariaDB 10.6 or newer: `local`, `local:10.11`, or an address."""

    engine = "mariadb"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"sql", "transactions", "procedures", "bulk", "files", "changes", "table-compression"}
    )
    dialect = Dialect("mariadb")
    storage_roles = ("data", "log")
    _server: Server

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._server = (
            AddressServer(spec, context)
            if address.is_address(spec.server)
            else OwnedServer(spec, context)
        )

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """Version and path of the server, or the address; nothing is started or reached."""
        if address.is_address(spec.server):
            return {"engine": cls.engine, "address": address.parse(spec).shown}
        found = binaries.find(spec.server)
        return {"engine": cls.engine, "version": found.version, "binaries": str(found.server)}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the programs, or the server at the address."""
        if address.is_address(spec.server):
            return remote.setting(spec, name, level)
        return settings.info(binaries.find(spec.server), spec, name, level)

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """`max_connections`, where it is not set."""
        if address.is_address(spec.server):
            return {}
        return room_for(sessions, map(catalog.plain_name, spec.settings))

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """Page size, tablespaces and row format, where they are not the defaults."""
        if address.is_address(spec.server):
            return {}
        return settings.layout(binaries.find(spec.server), spec.settings)

    def open(self) -> None:
        """Makes a server, or connects; refuses a database that is not Loadstone's."""
        self._server.open()

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """An empty database on pages of the size that `spec` wants."""
        return self._server.empty(spec)

    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes them with their primary keys."""
        self.execute(ddl.create(tables))

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Sends the files, each in a session of its own."""
        bulk.load(self.connection(), table, files, sessions=sessions)

    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds indexes and foreign keys, and looks for rows that refer to nothing.

        Raises:
            TargetError: If there is one.
        """
        self.execute(ddl.finish(tables))
        for name, query in ddl.orphans(tables):
            found = self.query(query)
            if found:
                raise TargetError(f"a row breaks foreign key {name}: {found[0]} is not there")

    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables."""
        return fingerprint.take(self._server.client, tables)

    def size_bytes(self) -> int:
        """Size of the work database."""
        return fingerprint.size_bytes(self._server.client)

    def index_names(self, table: str) -> set[str]:
        """As the information schema has them."""
        rows = self.query(
            "SELECT DISTINCT index_name FROM information_schema.STATISTICS "
            "WHERE table_schema = database() AND table_name = %s",
            (table,),
        )
        return {name for (name,) in rows}

    def log_bytes(self) -> int:
        """Where the next record of the redo log comes; a restart does not begin it anew."""
        return int(self.query("SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'")[0][1])

    def probes(self) -> list[Probe]:
        """Counters once a second, waits ten times a second."""
        connection = self._server.connection()
        return [StatisticsProbe(connection), WaitsProbe(connection, self._server.pid)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes tell."""
        from loadstone.targets.mariadb.happenings import happenings

        return happenings(samples)

    def inventory(self) -> dict[str, Any]:
        """Version, settings that are not the default, plugins, size, and where the data lie."""
        client = self._server.client
        return {
            "engine": self.engine,
            "version": client.value("SELECT version()"),
            "version_text": client.value("SELECT concat(@@version_comment, ' ', version())"),
            "settings": {
                name.lower(): {"value": value, "unit": "", "source": origin.lower()}
                for name, value, origin in client.query(
                    "SELECT variable_name, global_value, global_value_origin "
                    "FROM information_schema.SYSTEM_VARIABLES "
                    "WHERE global_value_origin NOT IN ('COMPILE-TIME') ORDER BY variable_name"
                )
            },
            "fixed": {name: str(client.value(f"SELECT @@{name}")) for name in _FIXED},
            "extensions": dict(
                client.query(
                    "SELECT plugin_name, plugin_auth_version FROM information_schema.PLUGINS "
                    "WHERE plugin_status = 'ACTIVE' AND plugin_type = 'STORAGE ENGINE'"
                )
            ),
            "size_bytes": self.size_bytes(),
            **self._server.inventory(),
        }
