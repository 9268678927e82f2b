"""ALTER SYSTEM on somebody else's server, each change journalled with the value it replaces."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import Entry, Journal, undoes
from loadstone.spec.base import Level
from loadstone.targets.address import Address
from loadstone.targets.postgresql import settings, values
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.work_database import identifier, maintenance

_RELOAD_S = 10.0
_POLL_S = 0.02


class SystemSettings:
    """The settings that Loadstone has in force at an address."""

    def __init__(self, address: Address, journal: Journal) -> None:
        self._address = address
        self._journal = journal
        self._entries: dict[str, Entry] = {}

    def apply(self, wanted: Mapping[str, Level]) -> dict[str, str]:
        """Brings exactly these settings into force; earlier ones go back.

        Returns:
            Setting: its value before Loadstone touched it.

        Raises:
            TargetError: If the server refuses one, or does not take it.
        """
        for name in [each for each in self._entries if each not in wanted]:
            self._journal.undo(self._entries.pop(name))
        if not wanted:
            return {}
        client = maintenance(self._address)
        try:
            before = {name: self._alter(client, name, level) for name, level in wanted.items()}
        finally:
            client.close()
        return before

    def reset(self) -> None:
        """Puts every setting back."""
        self.apply({})

    def _alter(self, client: Client, name: str, level: Level) -> str:
        found = settings.row(client, name)
        if found is None:
            raise TargetError(f"the server has no setting {name!r}")
        value = values.text(level)
        if values.same(value, found.setting, found.kind, found.unit):
            return found.shown
        refused = settings.why_refused(found.name, found.context)
        if refused or settings.needs(found.context) == "restart":
            raise TargetError(
                f"{name} cannot be changed at an address: {refused or 'it needs a restart'}",
                advice="use a server that Loadstone starts: embedded or local",
            )
        if name not in self._entries:
            self._entries[name] = self._journal.before(
                f"ALTER SYSTEM SET {name} = {value} at {self._address.shown}",
                "postgresql-setting",
                address=self._address.to_journal(),
                name=found.name,
                old=_set_by_alter_system(client, found.name),
            )
        client.query(f"ALTER SYSTEM SET {identifier(found.name)} = E{values.quoted(value)}")
        _reload(self._address)
        self._check(name, value)
        return found.shown

    def _check(self, name: str, value: str) -> None:
        client = maintenance(self._address)
        try:
            found = settings.row(client, name)
        finally:
            client.close()
        if found is None or not values.same(value, found.setting, found.kind, found.unit):
            says = f"{found.shown!r} (from: {found.source})" if found else "nothing"
            raise TargetError(
                f"{name} was set to {value!r} by ALTER SYSTEM, but the server says {says}",
                advice="a command-line option or ALTER ROLE ... SET may override it",
            )


def _set_by_alter_system(client: Client, name: str) -> str | None:
    rows = client.query(
        "SELECT setting FROM pg_file_settings WHERE lower(name) = lower(%s) "
        "AND sourcefile LIKE '%%postgresql.auto.conf' ORDER BY seqno DESC LIMIT 1",
        (name,),
    )
    return rows[0][0] if rows else None


def _reload(address: Address) -> None:
    """Has the server read its files again, and waits until new sessions have what it read."""
    client = maintenance(address)
    try:
        asked_at = client.query("SELECT clock_timestamp(), pg_reload_conf()")[0][0]
    finally:
        client.close()
    deadline = time.monotonic() + _RELOAD_S
    while time.monotonic() < deadline:
        fresh = maintenance(address)
        try:
            if fresh.value("SELECT pg_conf_load_time()") >= asked_at:
                return
        finally:
            fresh.close()
        time.sleep(_POLL_S)
    raise TargetError(
        f"the server at {address.shown} did not read its configuration within {_RELOAD_S:g} s",
        advice="see its log",
    )


@undoes("postgresql-setting")
def _put_back(data: dict[str, Any]) -> None:
    """Puts back what ALTER SYSTEM had set before, or nothing."""
    address = Address(**data["address"])
    client = maintenance(address)
    try:
        name = identifier(data["name"])
        if data["old"] is None:
            client.query(f"ALTER SYSTEM RESET {name}")
        else:
            client.query(f"ALTER SYSTEM SET {name} = E{values.quoted(data['old'])}")
    finally:
        client.close()
    _reload(address)
