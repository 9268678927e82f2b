"""A MariaDB server at an address, which Loadstone does not own."""

from __future__ import annotations

import re
import secrets

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.mariadb import rights, safety, settings, state, values, work_database
from loadstone.targets.mariadb.address import parse
from loadstone.targets.mariadb.binaries import OLDEST
from loadstone.targets.mariadb.catalog import Variable
from loadstone.targets.mariadb.client import Client, identifier
from loadstone.targets.mariadb.target import MariaDB
from loadstone.targets.mariadb.variables import GlobalVariables
from loadstone.targets.remote_database import (
    RemoteDatabase,
    check_range,
    no_setting,
    refuse_others,
)

_FLUSH_S = 60.0
_OTHERS = (
    "SELECT count(*) FROM information_schema.PROCESSLIST "
    "WHERE db = database() AND id <> connection_id()"
)


class RemoteMariaDB(RemoteDatabase, MariaDB):
    """The database that the address names, with its own tables set aside."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._variables = GlobalVariables(self.address, context.journal)
        self.client = Client(self.connection())

    @classmethod
    def address_of(cls, spec: TargetSpec) -> Address:
        """With `mysql://` or `mariadb://`."""
        return parse(spec)

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """Asks the server what setting `name` to `level` would need.

        Raises:
            WrongInputError: If it has no such setting, or the level is not one of its values.
            TargetError: If it cannot be reached.
        """
        client = Client(parse(spec).connection())
        try:
            found = settings.row(client, name)
            has_binlog = bool(client.value("SELECT @@log_bin"))
        finally:
            client.close()
        if found is None:
            raise no_setting(name)
        variable, value, _ = found
        text = variable.text(level)
        refused = settings.why_refused_at_address(variable)
        _check_value(variable, text)
        if variable.same(text, value):
            refused = settings.why_refused(variable)
        return SettingInfo(
            name=variable.name,
            needs=settings.needs(variable),
            unsafe=settings.at_risk(variable, text, has_binlog=has_binlog),
            default=variable.default,
            unit="",
            refused=f"{refused} (it is {value})" if refused else None,
        )

    # -- life ----------------------------------------------------------------------------------
    def check_access(self) -> None:
        """Looks at the server, the database, and the rights on both."""
        try:
            self._check_version(str(self.client.value("SELECT version()")))
            safety.refuse_foreign(self.client, self.address.database, force=self.context.force)
            refuse_others(self.client, self.address.database, _OTHERS)
            rights.refuse_lacking(self.client, self.address)
        finally:
            self.client.close()

    def open(self) -> None:
        """Checks the server and the database, and sets its tables aside."""
        self.check_access()
        with work_database.server(self.address) as client:
            self._set_aside(client)
        self._variables.apply(self.spec.settings)

    def close(self) -> None:
        """Puts settings and tables back and drops the snapshots."""
        self.client.close()
        self._variables.reset()
        self._give_back()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Drops everything in the work database."""
        with work_database.server(self.address) as client:
            work_database.clear(client, self.address.database)
        return self._apply(spec)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Makes the tables of the work database again from the snapshot."""
        kept = self._snapshot(key)
        with work_database.server(self.address) as client:
            work_database.clear(client, self.address.database)
            work_database.copy(client, kept, self.address.database)
        self.analyse()
        return self._apply(spec)

    def _calm(self) -> None:
        state.purge(self.client)
        with self._variables.held(dict.fromkeys(state.FLUSHING, 0)):
            state.wait_clean(self.client, _FLUSH_S)
        state.checkpoint(self.client)
        state.reset_statistics(self.client)

    # -- inside --------------------------------------------------------------------------------
    def _copy(self, to: str, note: str) -> None:
        with work_database.server(self.address) as client:
            client.query(f"CREATE DATABASE {identifier(to)} COMMENT {values.quoted(note)}")
            work_database.copy(client, self.address.database, to)

    def _apply(self, spec: TargetSpec) -> list[FactorReading]:
        before = self._variables.apply(spec.settings)
        self.client.close()
        return settings.read_back(self.client, spec.settings, before, "reload")

    def _check_version(self, version: str) -> None:
        match = re.match(r"(?:5\.5\.5-)?(\d+)\.(\d+)", version)
        if "mariadb" not in version.lower() or match is None:
            raise TargetError(
                f"the server at {self.address.shown} is not MariaDB but {version}",
                advice="name the address of a MariaDB server",
            )
        if (int(match[1]), int(match[2])) < OLDEST:
            raise TargetError(
                f"the server at {self.address.shown} is MariaDB {version}",
                advice=f"Loadstone needs {'.'.join(map(str, OLDEST))} or newer",
            )

    def _set_aside(self, client: Client) -> None:
        token, work = secrets.token_hex(6), self.address.database
        kept = f"loadstone_kept_{token}"
        self._aside = self.context.journal.before(
            f"set tables of database {work} aside in {kept} at {self.address.shown}",
            "mariadb-set-aside",
            address=self.address.to_journal(),
            kept=kept,
            token=token,
            comment=work_database.comment_of(client, work) or "",
        )
        note = f"Tables of {work}, set aside by Loadstone; loadstone recover puts them back"
        client.query(f"CREATE DATABASE {identifier(kept)} COMMENT {values.quoted(note)}")
        work_database.move(client, work, kept)
        work_database.comment(
            client,
            work,
            f"{work_database.MARK} ({token}) for {self.context.owner}; loadstone recover puts the "
            "original tables back",
        )


def _check_value(variable: Variable, text: str) -> None:
    try:
        read = values.normalised(text, variable.kind, variable.choices)
    except ValueError as error:
        raise WrongInputError(f"{variable.name} cannot be {text!r}: {error}") from error
    if variable.kind in (*values.INTEGERS, "DOUBLE"):
        bounds = (variable.least, variable.greatest)
        check_range(variable.name, text, float(read), bounds)
