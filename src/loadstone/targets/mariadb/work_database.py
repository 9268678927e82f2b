"""Databases that Loadstone makes on somebody else's server, and tables that it puts aside.

MariaDB cannot rename a database. The tables of the one that the address names are moved to a
database of Loadstone's by RENAME TABLE, which copies nothing, and moved back at the end; the
database itself, with its rights and its character set, stays. Meanwhile its comment says whose it
is, with a token that the journal knows: only then is anything in it dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from loadstone.errors import RefusedError
from loadstone.journal import undoes
from loadstone.targets.address import Address
from loadstone.targets.mariadb.client import Client, identifier
from loadstone.targets.mariadb.values import quoted

MARK = "Work database of Loadstone"
_OURS = re.compile(r"loadstone_(kept|snapshot)_[0-9a-f]{12}")
_OTHER_OBJECTS = (
    "SELECT 'view', table_name FROM information_schema.VIEWS WHERE table_schema = %s",
    "SELECT lower(routine_type), routine_name FROM information_schema.ROUTINES "
    "WHERE routine_schema = %s",
    "SELECT 'trigger', trigger_name FROM information_schema.TRIGGERS WHERE trigger_schema = %s",
    "SELECT 'event', event_name FROM information_schema.EVENTS WHERE event_schema = %s",
)


def tables_of(client: Client, database: str) -> list[str]:
    """Tables and sequences of a database."""
    rows = client.query(
        "SELECT table_name FROM information_schema.TABLES WHERE table_schema = %s "
        "AND table_type <> 'VIEW' ORDER BY table_name",
        (database,),
    )
    return [name for (name,) in rows]


def other_objects(client: Client, database: str) -> list[tuple[str, str]]:
    """Kind and name of what RENAME TABLE cannot move."""
    return [row for sql in _OTHER_OBJECTS for row in client.query(sql, (database,))]


def content(client: Client, database: str) -> list[str]:
    """Everything in a database."""
    return tables_of(client, database) + [
        f"{kind} {name}" for kind, name in other_objects(client, database)
    ]


def comment_of(client: Client, database: str) -> str | None:
    """The comment of a database, or None if there is no such database."""
    rows = client.query(
        "SELECT schema_comment FROM information_schema.SCHEMATA WHERE schema_name = %s",
        (database,),
    )
    return str(rows[0][0]) if rows else None


def comment(client: Client, database: str, text: str) -> None:
    """Says in the catalogue whose database it is."""
    client.query(f"ALTER DATABASE {identifier(database)} COMMENT {quoted(text)}")


def move(client: Client, source: str, database: str) -> None:
    """Moves all tables of a database to another, in one statement."""
    pairs = [
        f"{identifier(source)}.{identifier(name)} TO {identifier(database)}.{identifier(name)}"
        for name in tables_of(client, source)
    ]
    if pairs:
        client.query(f"RENAME TABLE {', '.join(pairs)}")


def clear(client: Client, database: str) -> None:
    """Drops everything in a database."""
    with _unchecked(client):
        for kind, name in other_objects(client, database):
            sql = f"DROP {kind.upper()} IF EXISTS {identifier(database)}.{identifier(name)}"
            client.query(sql)
        for name in tables_of(client, database):
            client.query(f"DROP TABLE IF EXISTS {identifier(database)}.{identifier(name)}")


def copy(client: Client, source: str, database: str) -> None:
    """Makes the tables of a database again in another, with their rows and keys."""
    with _unchecked(client):
        for name in tables_of(client, source):
            definition = client.query(f"SHOW CREATE TABLE {identifier(source)}.{identifier(name)}")[
                0
            ][1]
            client.query(f"USE {identifier(database)}")
            client.query(definition)
            client.query(
                f"INSERT INTO {identifier(database)}.{identifier(name)} "
                f"SELECT * FROM {identifier(source)}.{identifier(name)}"
            )


@contextmanager
def server(address: Address) -> Iterator[Client]:
    """A connection to the server, without a database that could be dropped under it."""
    client = Client(address.connection(""))
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _unchecked(client: Client) -> Iterator[None]:
    """The rows were checked when they came; the order of tables does not matter then."""
    for name in ("foreign_key_checks", "unique_checks"):
        client.query(f"SET SESSION {name} = 0")
    try:
        yield
    finally:
        for name in ("foreign_key_checks", "unique_checks"):
            client.query(f"SET SESSION {name} = 1")


@undoes("mariadb-drop-database")
def _drop_database(data: dict[str, Any]) -> None:
    """Drops a snapshot database."""
    if not _OURS.fullmatch(data["name"]):
        raise RefusedError(f"{data['name']!r} is not a database that Loadstone made")
    with server(Address(**data["address"])) as client:
        client.query(f"DROP DATABASE IF EXISTS {identifier(data['name'])}")


@undoes("mariadb-set-aside")
def _take_back(data: dict[str, Any]) -> None:
    """Empties the work database of what is Loadstone's and moves the original tables back.

    The comment with the token goes before the first table comes back: nothing is dropped after
    that, however often this is begun anew.
    """
    address, kept = Address(**data["address"]), data["kept"]
    work = address.database
    with server(address) as client:
        if comment_of(client, kept) is None:
            return
        present = comment_of(client, work)
        if present is None:
            client.query(f"CREATE DATABASE {identifier(work)}")
        elif data["token"] in present:
            clear(client, work)
        elif in_the_way := set(tables_of(client, work)) & set(tables_of(client, kept)):
            raise RefusedError(
                f"table {min(in_the_way)!r} is in the way in database {work!r} and is not "
                "Loadstone's",
                advice="rename it, then run loadstone recover again",
            )
        comment(client, work, data["comment"])
        move(client, kept, work)
        client.query(f"DROP DATABASE {identifier(kept)}")
