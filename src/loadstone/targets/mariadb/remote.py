"""A MariaDB server at an address, which Loadstone does not own."""

from __future__ import annotations

import re
import secrets

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import Entry
from loadstone.results.record import FactorReading
from loadstone.spec.model import Level, TargetSpec
from loadstone.targets import served
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.mariadb import aside, safety, settings, state, values
from loadstone.targets.mariadb.address import parse
from loadstone.targets.mariadb.binaries import OLDEST
from loadstone.targets.mariadb.catalog import Variable
from loadstone.targets.mariadb.client import Client, identifier
from loadstone.targets.mariadb.server import Server
from loadstone.targets.mariadb.variables import GlobalVariables

_FLUSH_S = 60.0


class AddressServer(served.AddressServer, Server):
    """The database that the address names, with its own tables set aside."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self._spec = spec
        self._context = context
        self._address = parse(spec)
        self._variables = GlobalVariables(self._address, context.journal)
        self._aside: Entry | None = None
        self._snapshots: dict[str, tuple[str, Entry]] = {}
        self.client = Client(self._address.connection())

    # -- life ----------------------------------------------------------------------------------
    def open(self) -> None:
        """Checks the server and the database, and sets its tables aside."""
        try:
            self._check_version(str(self.client.value("SELECT version()")))
            safety.refuse_foreign(self.client, self._address.database, force=self._context.force)
            safety.refuse_in_use(self.client, self._address.database)
        finally:
            self.client.close()
        with aside.server(self._address) as client:
            self._set_aside(client)
        self._variables.apply(self._spec.settings)

    def close(self) -> None:
        """Puts settings and tables back and drops the snapshots."""
        self.client.close()
        self._variables.reset()
        self._give_back()

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Drops everything in the work database."""
        with aside.server(self._address) as client:
            aside.clear(client, self._address.database)
        return self._apply(spec)

    def analyse(self) -> None:
        """Makes the planner's statistics of all tables."""
        state.analyse(self.client)

    def snapshot(self, key: str) -> None:
        """Copies the tables of the work database into a snapshot database."""
        state.analyse(self.client)
        name = f"loadstone_snapshot_{secrets.token_hex(6)}"
        entry = self._context.journal.before(
            f"make database {name} at {self._address.shown}",
            "mariadb-drop-database",
            address=self._address.to_journal(),
            name=name,
        )
        with aside.server(self._address) as client:
            note = f"Snapshot of Loadstone for {self._context.owner}; safe to drop"
            client.query(f"CREATE DATABASE {identifier(name)} COMMENT {values.quoted(note)}")
            aside.copy(client, self._address.database, name)
        self._snapshots[key] = (name, entry)

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Makes the tables of the work database again from the snapshot."""
        kept = self._snapshot(key)
        with aside.server(self._address) as client:
            aside.clear(client, self._address.database)
            aside.copy(client, kept, self._address.database)
        state.analyse(self.client)
        return self._apply(spec)

    def settle(self, cache: str) -> None:
        """Reads everything; caches of a server that is not ours cannot be emptied."""
        self.refuse_cold(cache)
        state.warm(self.connection())
        state.purge(self.client)
        with self._variables.held(dict.fromkeys(state.FLUSHING, 0)):
            state.wait_clean(self.client, _FLUSH_S)
        state.checkpoint(self.client)
        state.reset_statistics(self.client)

    # -- inside --------------------------------------------------------------------------------
    def _apply(self, spec: TargetSpec) -> list[FactorReading]:
        before = self._variables.apply(spec.settings)
        self.client.close()
        return settings.read_back(self.client, spec.settings, before, "reload")

    def _check_version(self, version: str) -> None:
        match = re.match(r"(?:5\.5\.5-)?(\d+)\.(\d+)", version)
        if "mariadb" not in version.lower() or match is None:
            raise TargetError(
                f"the server at {self._address.shown} is not MariaDB but {version}",
                advice="name the address of a MariaDB server",
            )
        if (int(match[1]), int(match[2])) < OLDEST:
            raise TargetError(
                f"the server at {self._address.shown} is MariaDB {version}",
                advice=f"Loadstone needs {'.'.join(map(str, OLDEST))} or newer",
            )

    def _set_aside(self, client: Client) -> None:
        token, work = secrets.token_hex(6), self._address.database
        kept = f"loadstone_kept_{token}"
        self._aside = self._context.journal.before(
            f"set tables of database {work} aside in {kept} at {self._address.shown}",
            "mariadb-set-aside",
            address=self._address.to_journal(),
            kept=kept,
            token=token,
            comment=aside.comment_of(client, work) or "",
        )
        note = f"Tables of {work}, set aside by Loadstone; loadstone recover puts them back"
        client.query(f"CREATE DATABASE {identifier(kept)} COMMENT {values.quoted(note)}")
        aside.move(client, work, kept)
        aside.comment(
            client,
            work,
            f"{aside.MARK} ({token}) for {self._context.owner}; loadstone recover puts the "
            "original tables back",
        )


def setting(spec: TargetSpec, name: str, level: Level) -> SettingInfo:
    """Asks the server what setting `name` to `level` would need.

    Raises:
        WrongInputError: If it has no such setting, or the level is not one of its values.
        TargetError: If it cannot be reached.
    """
    client = Client(parse(spec).connection())
    try:
        found = settings.row(client, name)
    finally:
        client.close()
    if found is None:
        raise served.no_setting(name)
    variable, value, _ = found
    text = variable.text(level)
    refused = settings.why_refused_at_address(variable)
    _check_value(variable, text)
    if variable.same(text, value):
        refused = settings.why_refused(variable)
    return SettingInfo(
        name=variable.name,
        needs=settings.needs(variable),
        unsafe_levels=settings.unsafe_levels(variable, level, spec.settings),
        default=variable.default,
        unit="",
        refused=f"{refused} (it is {value})" if refused else None,
    )


def _check_value(variable: Variable, text: str) -> None:
    try:
        read = values.normalised(text, variable.kind, variable.choices)
    except ValueError as error:
        raise WrongInputError(f"{variable.name} cannot be {text!r}: {error}") from error
    if variable.kind in (*values.INTEGERS, "DOUBLE"):
        bounds = (variable.least, variable.greatest)
        served.check_range(variable.name, text, float(read), bounds)
