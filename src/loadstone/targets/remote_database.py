"""A database on a server that somebody else runs: Loadstone borrows it, and settings."""

from __future__ import annotations

import secrets
import time
from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import Entry
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address
from loadstone.targets.base import TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.served import ServedDatabase, SqlClient

LEAVING_S = 1.0
"""So long the server may take to end a session whose client has gone."""
_POLL_S = 0.02
_CACHES = "the caches of a server at an address cannot be emptied from here"


class RemoteDatabase(ServedDatabase):
    """The database that an address names; what its owner has in it is set aside.

    Whether the server lives is its owner's business. The generator counts errors.
    """

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self.address = self.address_of(spec)
        self._aside: Entry | None = None
        """What puts the owner's data back."""
        self._snapshots: dict[str, tuple[str, Entry]] = {}
        """By key: the name of each in the server, and what drops it."""

    @classmethod
    @abstractmethod
    def address_of(cls, spec: TargetSpec) -> Address:
        """The address that `spec` names.

        Raises:
            WrongInputError: If it cannot be read.
        """

    @abstractmethod
    def _copy(self, to: str, note: str) -> None:
        """Makes a database with this comment, and copies what is in the work database into it."""

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The address; nothing is reached."""
        return {"engine": cls.engine, "address": cls.address_of(spec).shown}

    @classmethod
    def reached(cls, spec: TargetSpec) -> ServerConnection:
        """By the address."""
        return replace(cls.address_of(spec), password_reference=None).connection()

    # -- life ----------------------------------------------------------------------------------
    def start(self) -> None:
        """Cannot be."""
        raise self._not_ours("started")

    def stop(self) -> None:
        """Cannot be."""
        raise self._not_ours("stopped")

    def crash(self, failure: Failure) -> None:
        """Cannot be."""
        raise self._not_ours("crashed")

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Cannot be."""
        raise self._not_ours("put out of service")

    # -- state ---------------------------------------------------------------------------------
    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str:
        """They are those of a server that is not ours."""
        return _CACHES

    def snapshot(self, key: str) -> None:
        """Copies what is in the work database into a snapshot database."""
        self.analyse()
        name = f"loadstone_snapshot_{secrets.token_hex(6)}"
        entry = self.context.journal.before(
            f"make database {name} at {self.address.shown}",
            f"{self.engine}-drop-database",
            address=self.address.to_journal(),
            name=name,
        )
        self._copy(name, f"Snapshot of Loadstone for {self.context.owner}; safe to drop")
        self._snapshots[key] = (name, entry)

    def settle(self, cache: str) -> None:
        """Reads everything; caches of a server that is not ours cannot be emptied."""
        if cache != "warm":
            raise TargetError(
                _CACHES,
                advice="use cache: warm, or a server that Loadstone starts",
            )
        self._warm()
        self._calm()

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> ServerConnection:
        """To the database that the address names."""
        return self.address.connection()

    def inventory(self) -> dict[str, Any]:
        """That of its engine, and the address."""
        return {**super().inventory(), "address": self.address.shown}

    # -- inside --------------------------------------------------------------------------------
    def _snapshot(self, key: str) -> str:
        if key not in self._snapshots:
            raise WrongInputError(f"there is no snapshot {key!r} to restore")
        return self._snapshots[key][0]

    def _give_back(self) -> None:
        """Puts the owner's data back and drops the snapshots."""
        if self._aside is not None:
            self.context.journal.undo(self._aside)
            self._aside = None
        for key in list(self._snapshots):
            self.context.journal.undo(self._snapshots[key][1])
            del self._snapshots[key]

    def _not_ours(self, done: str) -> TargetError:
        return TargetError(
            f"the server at {self.address.shown} cannot be {done} from here",
            advice="use a server that Loadstone starts: embedded or local",
        )


def refuse_others(client: SqlClient, database: str, count: str) -> None:
    """Refuses a database that others are connected to; sessions that just ended may need a moment.

    Args:
        client: Connected to it.
        database: Its name.
        count: The query for how many they are.

    Raises:
        TargetError: If they stay.
    """
    deadline = time.monotonic() + LEAVING_S
    while others := client.value(count):
        if time.monotonic() > deadline:
            raise TargetError(
                f"{others} other sessions use database {database!r}",
                advice="disconnect them, or name a database of its own",
            )
        time.sleep(_POLL_S)


def no_setting(name: str) -> WrongInputError:
    """For a setting that the server at an address does not have."""
    return WrongInputError(f"the server at the address has no setting {name!r}")


def check_range(
    name: str, text: str, number: float, bounds: tuple[str | None, str | None], unit: str = ""
) -> None:
    """Raises a WrongInputError if a number is not within the bounds that the server told."""
    least, greatest = bounds
    if not float(least or "-inf") <= number <= float(greatest or "inf"):
        raise WrongInputError(
            f"{name} cannot be {text!r}",
            advice=f"choose from {least} to {greatest}{' of ' + unit if unit else ''}",
        )
