"""The refusal of a database that holds other people's data, or that cannot be put aside."""

from __future__ import annotations

from loadstone.errors import RefusedError
from loadstone.targets.mariadb import work_database
from loadstone.targets.mariadb.client import Client


def refuse_foreign(client: Client, database: str, *, force: bool) -> None:
    """Refuses a database that holds something and is not marked as Loadstone's.

    Raises:
        RefusedError: Unless `force`; and whenever it holds what cannot be put aside.
    """
    found = work_database.content(client, database)
    marked = work_database.MARK in (work_database.comment_of(client, database) or "")
    if found and not force and not marked:
        raise RefusedError(
            f"database {database!r} is not empty and was not made by Loadstone "
            f"(it holds {', '.join(found[:3])}{', …' if len(found) > 3 else ''})",
            advice="name an empty database, or use --force: it is then set aside until the end",
        )
    fixed = work_database.other_objects(client, database)
    if fixed:
        kind, name = fixed[0]
        raise RefusedError(
            f"database {database!r} holds {kind} {name}, which MariaDB cannot move to another "
            "database",
            advice="name a database that holds nothing but tables",
        )
