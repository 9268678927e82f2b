"""The target `mariadb`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError
from loadstone.probes.base import Probe
from loadstone.results.limits import SESSIONS
from loadstone.results.record import Fingerprint
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.capabilities import STATEMENTS
from loadstone.targets.dialect import Dialect
from loadstone.targets.mariadb import address, bulk, catalog, ddl, fingerprint, settings, state
from loadstone.targets.mariadb.client import Client
from loadstone.targets.mariadb.first import FIRST_FILE
from loadstone.targets.mariadb.statistics import StatisticsProbe
from loadstone.targets.mariadb.waits import WaitsProbe
from loadstone.targets.schema import Table
from loadstone.targets.served import ServedDatabase

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


class MariaDB(ServedDatabase):
    """MariaDB 10.6 or newer: `local`, `local:10.11`, or an address."""

    engine = "mariadb"
    first_file = FIRST_FILE
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {
            "sql",
            "transactions",
            "procedures",
            "bulk",
            "files",
            "changes",
            "table-compression",
            STATEMENTS,
        }
    )
    dialect = Dialect("mariadb")
    storage_roles = ("data", "log")
    risks = settings.RISKS
    client: Client

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """By whether it names an address."""
        from loadstone.targets.mariadb.owned import OwnedMariaDB
        from loadstone.targets.mariadb.remote import RemoteMariaDB

        return RemoteMariaDB if address.is_address(spec.server) else OwnedMariaDB

    @classmethod
    def plain_name(cls, name: str) -> str:
        """Neither case nor dashes matter, and options have names of their own."""
        return catalog.plain_name(name)

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """`ER_CON_COUNT_ERROR` and `ER_TOO_MANY_USER_CONNECTIONS`."""
        return {"1040": SESSIONS, "1203": SESSIONS}

    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        state.analyse(self.client)

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
        return fingerprint.take(self.client, tables)

    def size_bytes(self) -> int:
        """Size of the work database."""
        return fingerprint.size_bytes(self.client)

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
        connection = self.connection()
        return [StatisticsProbe(connection), WaitsProbe(connection, self.server_pid)]

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What its probes tell."""
        from loadstone.targets.mariadb.happenings import happenings

        return happenings(samples)

    def inventory(self) -> dict[str, Any]:
        """Version, settings that are not the default, plugins, size."""
        client = self.client
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
        }

    def _warm(self) -> str:
        count = state.warm(self.connection())
        return f"{count} indexes and tables read into the buffer pool"
