"""The target `sql-dashboards`: the dashboards of a BI tool that asks its database itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import ClassVar, cast

from loadstone.errors import TargetError, WrongInputError
from loadstone.results.answers import KeptAnswer
from loadstone.spec.dashboards import Content
from loadstone.spec.target import TargetSpec
from loadstone.targets.bi import Actions, BiServer, Shown
from loadstone.targets.capabilities import BI, MANY_ACCOUNTS, STATEMENTS, explained
from loadstone.targets.database import Database
from loadstone.targets.sql_dashboards.accounts import file_of, store
from loadstone.targets.sql_dashboards.first import FIRST_FILE
from loadstone.targets.sql_dashboards.statements import actions_of
from loadstone.targets.system import SystemOfParts

DATABASE = "database"
_NEEDED = frozenset({"sql", "files", STATEMENTS})


class SqlDashboards(SystemOfParts, BiServer):
    """One part: a database that each person's BI tool has a session of, and asks live.

    There is no BI server between, and no cache but the database's own.
    """

    engine = "sql-dashboards"
    first_file = FIRST_FILE
    capabilities: ClassVar[frozenset[str]] = frozenset({BI, MANY_ACCOUNTS})
    part_names = (DATABASE,)
    part_engines: ClassVar[Mapping[str, str]] = {DATABASE: "postgresql"}
    front = DATABASE

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """What would be used of the database.

        Raises:
            WrongInputError: If it is none that dashboards can be on.
        """
        kind = cls.part_class(spec, DATABASE)
        if lacking := _NEEDED - kind.capabilities:
            raise WrongInputError(
                f"target {cls.engine} cannot have {kind.engine} as its database, which does not "
                f"offer {explained(lacking)}",
                advice="name another one: parts.database.engine",
            )
        return super().describe(spec)

    def warehouse(self) -> Database:
        """The database."""
        return cast(Database, self.part(DATABASE))

    def provision(self, content: Content) -> dict[str, float]:
        """Stores the accounts and the list of dashboards beside the star."""
        began = monotonic()
        store(self.warehouse(), content)
        return {"provision_s": monotonic() - began, "accounts": float(len(content.accounts))}

    def accounts_file(self, content: Content) -> Path:
        """Kept in Loadstone's cache."""
        return file_of(content)

    def actions(self, content: Content) -> Actions:
        """A statement for each chart."""
        return actions_of(content)

    def shown(self, content: Content, kept: KeptAnswer) -> Shown | None:
        """The rows of a chart's statement, and what was picked for it."""
        slug, slash, chart = kept.request.partition("/")
        if not slash or chart not in {each.name for each in content.charts}:
            return None
        answer = kept.answer
        if not isinstance(answer, Mapping):
            raise TargetError(f"the answer of {slug}/{chart} has no rows that can be read")
        rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
        columns = content.dataset.columns
        where = {name: value for name, value in kept.values.items() if name in columns}
        return Shown(chart=chart, where=where, rows=rows)
