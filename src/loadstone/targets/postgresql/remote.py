"""A server at an address, which Loadstone does not own."""

from __future__ import annotations

import secrets

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address
from loadstone.targets.base import SettingInfo, TargetContext
from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.postgresql import rights, safety, settings, values, work_database
from loadstone.targets.postgresql.address import parse
from loadstone.targets.postgresql.binaries import OLDEST_MAJOR
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.system import SystemSettings
from loadstone.targets.postgresql.target import EMPTY, PostgreSQL
from loadstone.targets.remote_database import (
    RemoteDatabase,
    check_range,
    no_setting,
    refuse_others,
)
from loadstone.targets.risks import is_unsafe

_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)


class RemotePostgreSQL(RemoteDatabase, PostgreSQL):
    """A work database in the place of the one that the address names."""

    capabilities = PostgreSQL.capabilities - {SECOND_PLACE}
    """The folder of a second place would be made on the server's machine."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._system = SystemSettings(self.address, context.journal)
        self.client = Client(self.connection())

    @classmethod
    def address_of(cls, spec: TargetSpec) -> Address:
        """As `psql` takes it."""
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
        finally:
            client.close()
        if found is None:
            raise no_setting(name)
        value = values.text(level)
        refused = settings.why_refused(found.name, found.context)
        made = None if refused else _made_of(found, value)
        needs = "restart" if found.context == "internal" else settings.needs(found.context)
        already = values.same(value, found.setting, found.kind, found.unit)
        if refused is None and needs == "restart" and not already:
            refused = (
                "it needs a restart, and a server at an address is not restarted "
                f"(it is {found.shown})"
            )
        return SettingInfo(
            name=found.name,
            needs=needs,
            unsafe=refused is None and is_unsafe(settings.RISKS, found.name, made),
            default=found.boot or "",
            unit=found.unit or "",
            refused=refused,
        )

    # -- life ----------------------------------------------------------------------------------
    def check_access(self) -> None:
        """Looks at the server, the database, and the rights on both."""
        self.major = int(self.client.value("SHOW server_version_num")) // 10_000
        if self.major < OLDEST_MAJOR:
            raise TargetError(
                f"the server at {self.address.shown} is PostgreSQL {self.major}",
                advice=f"Loadstone needs {OLDEST_MAJOR} or newer",
            )
        self._refuse()
        rights.refuse_lacking(self.client, self.address)
        self.client.close()
        work_database.maintenance(self.address).close()

    def open(self) -> None:
        """Checks the server and the database, sets it aside and makes an empty one in its place."""
        self.check_access()
        client = work_database.maintenance(self.address)
        try:
            self._set_aside(client)
        finally:
            client.close()
        safety.mark(self.client, self.context.owner)
        self._system.apply(self.spec.settings)
        self.snapshot(EMPTY)

    def close(self) -> None:
        """Puts settings and database back and drops the snapshots."""
        self.client.close()
        self._system.reset()
        self._give_back()

    # -- state ---------------------------------------------------------------------------------
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Makes the work database again from the snapshot."""
        kept = self._snapshot(key)
        wanted = spec.settings
        self.client.close()
        client = work_database.maintenance(self.address)
        try:
            work_database.drop(client, self.address.database)
            work_database.copy(client, kept, self.address.database, self.major)
            self._comment(client)
        finally:
            client.close()
        before = self._system.apply(wanted)
        return settings.read_back(self.client, wanted, before, "reload")

    # -- inside --------------------------------------------------------------------------------
    def _copy(self, to: str, note: str) -> None:
        self.client.close()
        client = work_database.maintenance(self.address)
        try:
            work_database.copy(client, self.address.database, to, self.major)
            work_database.comment(client, to, note)
        finally:
            client.close()

    def _refuse(self) -> None:
        """Refuses a database with foreign contents, or in use."""
        safety.refuse_foreign(self.client, self.address.database, force=self.context.force)
        refuse_others(self.client, self.address.database, _OTHERS)

    def _set_aside(self, client: Client) -> None:
        kept = f"loadstone_kept_{secrets.token_hex(6)}"
        self._aside = self.context.journal.before(
            f"set database {self.address.database} aside as {kept} at {self.address.shown}",
            "postgresql-set-aside",
            address=self.address.to_journal(),
            kept=kept,
        )
        work_database.rename(client, self.address.database, kept)
        work_database.create_like(client, self.address.database, kept)
        self._comment(client)

    def _comment(self, client: Client) -> None:
        work_database.comment(
            client,
            self.address.database,
            f"Work database of Loadstone for {self.context.owner}; loadstone recover puts the "
            "original back",
        )


def _made_of(found: settings.Row, value: str) -> str:
    """What the server makes of a value.

    Raises:
        WrongInputError: If it would not take it.
    """
    try:
        read = values.normalised(value, found.kind, found.unit)
    except ValueError as error:
        raise WrongInputError(f"{found.name} cannot be {value!r}: {error}") from error
    if found.kind == "enum":
        choices = found.choices or []
        read = next((each for each in choices if values.same(value, each, "enum", None)), "")
        if not read:
            raise WrongInputError(
                f"{found.name} cannot be {value!r}", advice=f"choose one of {', '.join(choices)}"
            )
    if found.kind in ("integer", "real"):
        bounds = (found.least, found.greatest)
        check_range(found.name, value, float(read), bounds, found.unit or "")
    return read
