"""SET GLOBAL on somebody else's server, each change journalled with the value it replaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import Entry, Journal, undoes
from loadstone.spec.base import Level
from loadstone.targets.address import Address
from loadstone.targets.mariadb import settings, values, work_database
from loadstone.targets.mariadb.catalog import plain_name
from loadstone.targets.mariadb.client import Client


class GlobalVariables:
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
            TargetError: If the server refuses one.
        """
        plain = {plain_name(name) for name in wanted}
        for name in reversed([each for each in self._entries if each not in plain]):
            self._journal.undo(self._entries.pop(name))
        if not wanted:
            return {}
        with work_database.server(self._address) as client:
            return {name: self._set(client, name, level) for name, level in wanted.items()}

    def reset(self) -> None:
        """Puts every setting back."""
        self.apply({})

    @contextmanager
    def held(self, wanted: Mapping[str, Level]) -> Iterator[None]:
        """Further settings for the length of a block."""
        entries = []
        try:
            with work_database.server(self._address) as client:
                for name, level in wanted.items():
                    entries.append(self._change(client, name, level))
            yield
        finally:
            for entry in reversed(entries):
                self._journal.undo(entry)

    def _set(self, client: Client, name: str, level: Level) -> str:
        found = settings.row(client, name)
        if found is None:
            raise TargetError(f"the server has no setting {name!r}")
        variable, value, _ = found
        if variable.same(variable.text(level), value):
            return value
        refused = settings.why_refused_at_address(variable)
        if refused:
            raise TargetError(
                f"{name} cannot be changed at an address: {refused}",
                advice="use a server that Loadstone starts: local",
            )
        if variable.name in self._entries:
            client.query(_statement(variable.name, variable.text(level), variable.kind))
        else:
            self._entries[variable.name] = self._change(client, name, level)
        return value

    def _change(self, client: Client, name: str, level: Level) -> Entry:
        found = settings.row(client, name)
        if found is None:
            raise TargetError(f"the server has no setting {name!r}")
        variable, value, _ = found
        text = variable.text(level)
        entry = self._journal.before(
            f"SET GLOBAL {variable.name} = {text} at {self._address.shown}",
            "mariadb-variable",
            address=self._address.to_journal(),
            name=variable.name,
            type=variable.kind,
            old=value,
        )
        client.query(_statement(variable.name, text, variable.kind))
        return entry


def _statement(name: str, value: str, kind: str) -> str:
    return f"SET GLOBAL {name} = {values.literal(value, kind)}"


@undoes("mariadb-variable")
def _put_back(data: dict[str, Any]) -> None:
    """Sets the value that was there before."""
    with work_database.server(Address(**data["address"])) as client:
        client.query(_statement(plain_name(data["name"]), data["old"], data["type"]))
