"""Loadstone's mark in a database, and the refusal of a database that holds other people's data."""

from __future__ import annotations

from loadstone.errors import RefusedError
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.values import quoted

SCHEMA = "loadstone"
_COMMENT = "Made by Loadstone for "

_FOREIGN = """
SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
UNION ALL
SELECT n.nspname || '.' || p.proname || '()' FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL
SELECT 'schema ' || nspname FROM pg_namespace
WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_namespace.oid AND d.deptype = 'e')
LIMIT 4
"""


def mark(client: Client, owner: str) -> None:
    """Marks the connected database as Loadstone's."""
    client.query(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    client.query(f"COMMENT ON SCHEMA {SCHEMA} IS E{quoted(_COMMENT + owner)}")


def marked_for(client: Client) -> str | None:
    """Whom the connected database was marked for, or None if it carries no mark."""
    rows = client.query(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s",
        (SCHEMA,),
    )
    comment = rows[0][0] if rows else None
    if comment is None or not comment.startswith(_COMMENT):
        return None
    return str(comment).removeprefix(_COMMENT)


def content(client: Client) -> list[str]:
    """A few of the objects in the connected database that are not PostgreSQL's own."""
    return [row[0] for row in client.query(_FOREIGN)]


def refuse_foreign(client: Client, database: str, *, force: bool) -> None:
    """Refuses a database that holds something and is not marked as Loadstone's.

    Raises:
        RefusedError: Unless `force`.
    """
    found = content(client)
    if not found or force or marked_for(client) is not None:
        return
    raise RefusedError(
        f"database {database!r} is not empty and was not made by Loadstone "
        f"(it holds {', '.join(found[:3])}{', …' if len(found) > 3 else ''})",
        advice="name an empty database, or use --force: it is then set aside until the end",
    )
