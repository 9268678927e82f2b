"""Databases that Loadstone makes on somebody else's server, and the one that it puts aside.

The database that the address names is renamed, not emptied: its contents, rights and settings come
back when the experiment ends. In its place a work database of the same name is made, and made again
from a snapshot database before each trial. Names carry a random token that the journal knows, so
that nothing else is ever dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from loadstone.errors import RefusedError, TargetError
from loadstone.journal import undoes
from loadstone.targets.address import Address
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.safety import content, marked_for
from loadstone.targets.postgresql.values import quoted

_OURS = re.compile(r"loadstone_(kept|snapshot)_[0-9a-f]{12}")
_MAINTENANCE = ("postgres", "template1")


def identifier(name: str) -> str:
    """A name in the quotes of SQL."""
    return '"' + name.replace('"', '""') + '"'


def maintenance(address: Address) -> Client:
    """A connection to another database of the server, from which databases are made and dropped.

    Raises:
        TargetError: If neither `postgres` nor `template1` can be reached.
    """
    problem: TargetError | None = None
    for name in _MAINTENANCE:
        if name == address.database:
            continue
        client = Client(address.connection(name))
        try:
            client.query("SELECT 1")
        except TargetError as error:
            problem = error
        else:
            return client
    raise TargetError(
        f"no database to work from: {problem}",
        advice="check that the server runs at that address, and that "
        f"{address.user} may connect to its database postgres",
    )


def exists(client: Client, database: str) -> bool:
    """Whether the server has that database."""
    return bool(client.query("SELECT 1 FROM pg_database WHERE datname = %s", (database,)))


def comment(client: Client, database: str, text: str) -> None:
    """Says in the catalogue whose database it is."""
    client.query(f"COMMENT ON DATABASE {identifier(database)} IS {_string(text)}")


def drop(client: Client, database: str) -> None:
    """Drops a database, also when sessions are connected to it."""
    client.query(f"DROP DATABASE IF EXISTS {identifier(database)} WITH (FORCE)")


def rename(client: Client, database: str, to: str) -> None:
    """Renames a database.

    Raises:
        TargetError: If somebody is connected to it.
    """
    try:
        client.query(f"ALTER DATABASE {identifier(database)} RENAME TO {identifier(to)}")
    except TargetError as error:
        raise TargetError(
            f"database {database!r} cannot be set aside: {error.message}",
            advice="disconnect all others; Loadstone's user must own it and have CREATEDB",
        ) from error


def create_like(client: Client, database: str, original: str) -> None:
    """Makes an empty database with the encoding, locale and tablespace of another."""
    found = client.query(
        "SELECT to_jsonb(d) || jsonb_build_object('encoding', pg_encoding_to_char(d.encoding), "
        "'tablespace', t.spcname) FROM pg_database d "
        "JOIN pg_tablespace t ON t.oid = d.dattablespace "
        "WHERE d.datname = %s",
        (original,),
    )[0][0]
    client.query(
        f"CREATE DATABASE {identifier(database)} TEMPLATE template0 "
        f"ENCODING {_string(found['encoding'])} TABLESPACE {identifier(found['tablespace'])} "
        f"LC_COLLATE {_string(found['datcollate'])} LC_CTYPE {_string(found['datctype'])} "
        + _provider(found)
    )


def _provider(found: Mapping[str, Any]) -> str:
    """The locale provider of a row of pg_database: known from 15 on, `builtin` from 17 on."""
    locale = found.get("datlocale") or found.get("daticulocale")
    match found.get("datlocprovider"):
        case "i":
            return f"LOCALE_PROVIDER icu ICU_LOCALE {_string(locale)}"
        case "b":
            return f"LOCALE_PROVIDER builtin BUILTIN_LOCALE {_string(locale)}"
        case "c":
            return "LOCALE_PROVIDER libc"
    return ""


def _string(value: Any) -> str:
    return "E" + quoted(str(value))


def copy(client: Client, source: str, database: str, major: int) -> None:
    """Makes a database as a copy of files of another, which nobody may be connected to.

    From version 15 on PostgreSQL would rather write the whole copy into the WAL; copied files leave
    the WAL and the caches alone.
    """
    strategy = " STRATEGY file_copy" if major >= 15 else ""
    client.query(f"CREATE DATABASE {identifier(database)} TEMPLATE {identifier(source)}{strategy}")


@undoes("postgresql-drop-database")
def _drop_database(data: dict[str, Any]) -> None:
    """Drops a snapshot database."""
    if not _OURS.fullmatch(data["name"]):
        raise RefusedError(f"{data['name']!r} is not a database that Loadstone made")
    client = maintenance(Address(**data["address"]))
    try:
        drop(client, data["name"])
    finally:
        client.close()


@undoes("postgresql-set-aside")
def _take_back(data: dict[str, Any]) -> None:
    """Drops the work database and gives the original its name back."""
    address, kept = Address(**data["address"]), data["kept"]
    client = maintenance(address)
    try:
        if not exists(client, kept):
            return
        if exists(client, address.database):
            _refuse_other(address)
            drop(client, address.database)
        rename(client, kept, address.database)
    finally:
        client.close()


def _refuse_other(address: Address) -> None:
    """Somebody may have made a database of that name after Loadstone was killed."""
    client = Client(address.connection())
    try:
        if marked_for(client) is None and content(client):
            raise RefusedError(
                f"database {address.database!r} is in the way and is not Loadstone's",
                advice="rename it, then run loadstone recover again",
            )
    finally:
        client.close()
