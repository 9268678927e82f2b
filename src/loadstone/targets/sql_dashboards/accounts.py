"""The accounts and the list of dashboards: tables of the warehouse, and a file for the load."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from loadstone.cache import cache_folder, locked
from loadstone.spec.dashboards import Account, Content
from loadstone.spec.dashboards_sql import literal
from loadstone.targets.database import Database
from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.targets.sql_dashboards.statements import CONDITION

_TEXT = ColumnType("varchar", 80)
ACCOUNTS = Table(
    "accounts", (Column("username", _TEXT), Column("region", _TEXT)), primary_key=("username",)
)
DASHBOARDS = Table(
    "dashboards",
    (Column("slug", _TEXT), Column("title", _TEXT), Column("charts", ColumnType("integer"))),
    primary_key=("slug",),
)
_ROWS_AT_ONCE = 1000


def store(database: Database, content: Content) -> None:
    """Makes both tables and fills them.

    Raises:
        TargetError: If the database refuses it.
    """
    tables = [ACCOUNTS, DASHBOARDS]
    database.create_tables(tables)
    for begin in range(0, len(content.accounts), _ROWS_AT_ONCE):
        some = content.accounts[begin : begin + _ROWS_AT_ONCE]
        rows = (f"({literal(each.name)}, {literal(each.region)})" for each in some)
        database.execute(f"INSERT INTO accounts (username, region) VALUES {', '.join(rows)};")
    listed = (
        f"({literal(each.slug)}, {literal(each.title)}, {len(each.charts)})"
        for each in content.dashboards
    )
    database.execute(f"INSERT INTO dashboards (slug, title, charts) VALUES {', '.join(listed)};")
    database.finish_tables(tables)
    database.analyse()


def file_of(content: Content, *, cache: Path | None = None) -> Path:
    """The file of the accounts, made if it is not there.

    Args:
        content: Whose accounts they are.
        cache: Folder of all data; default: that of the user.
    """
    folder = (cache or cache_folder()) / "bi" / "accounts"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{content.digest}.csv"
    with locked(folder / "lock"):
        if not path.is_file():
            rough = path.with_suffix(".rough")
            with rough.open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(("username", "region", CONDITION))
                writer.writerows(_rows(content))
            rough.replace(path)
    return path


def _rows(content: Content) -> Iterator[tuple[str, str, str]]:
    for account in content.accounts:
        yield account.name, account.region, _condition(content, account)


def _condition(content: Content, account: Account) -> str:
    """Which rows the person may see, as a BI tool writes it into each query."""
    if not account.region:
        return "1 = 1"
    return f"{content.dataset.restricted_by} = {literal(account.region)}"
