"""The engines that the doctor can look at: how each is asked, and what is most like it here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from loadstone.doctor.collect import mariadb, planned, postgresql, sqlite
from loadstone.doctor.facts import PostgreSQLFacts
from loadstone.doctor.server_facts import ServerFacts
from loadstone.errors import LoadstoneError
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec

_Facts = TypeVar("_Facts", bound=ServerFacts)


def _as_it_is(facts: _Facts, _given: Mapping[str, Level]) -> _Facts:
    return facts


@dataclass(frozen=True)
class Examined(Generic[_Facts]):
    """An engine that the doctor knows."""

    look: Callable[[TargetSpec, Path | None], _Facts]
    """Asks a running server; the path is of its log, if it is not to be looked for."""
    programs: Callable[[_Facts], str]
    """Whose programs experiments use: those that are most like the server's."""
    under: Callable[[_Facts, Mapping[str, Level]], _Facts] = _as_it_is
    """A running server as it would be under the settings of an experiment."""


def _like_postgresql(server: PostgreSQLFacts) -> str:
    """Of its major version, if it is here."""
    from loadstone.targets.postgresql import binaries

    wanted = f"local:{server.major}"
    try:
        if binaries.find("embedded").major == server.major:
            return "embedded"
        binaries.find(wanted)
    except LoadstoneError:
        return "embedded"
    return wanted


EXAMINED: Mapping[str, Examined[Any]] = {
    "postgresql": Examined(
        postgresql.postgresql_facts, _like_postgresql, under=planned.with_settings
    ),
    "mariadb": Examined(mariadb.mariadb_facts, lambda _server: "local"),
    "sqlite": Examined(
        lambda spec, _log: sqlite.sqlite_facts(Path(spec.server)), lambda _server: "embedded"
    ),
}
"""By engine."""
