"""What a running MariaDB tells of itself. Its session is read-only."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.doctor.collect.log import find_log, read_log
from loadstone.doctor.collect.log_mariadb import MariaDBLog
from loadstone.doctor.collect.process import process_facts, standard_error_file
from loadstone.doctor.facts import LogFacts, MariaDBFacts, ProcessFacts, Setting, Settings
from loadstone.doctor.rules.messages import messages_of
from loadstone.errors import TargetError
from loadstone.host.locality import is_here
from loadstone.secret import masked_data
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import Address
from loadstone.targets.library import calling, shortened
from loadstone.targets.mariadb import address
from loadstone.targets.mariadb.client import connect, said

if TYPE_CHECKING:
    from pymysql.connections import Connection

_PROGRAMS = ("mariadbd", "mysqld")
_SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys')"
_TABLES = f"""
SELECT coalesce(sum(data_length + index_length), 0),
       coalesce(sum(engine IN ('MyISAM', 'MRG_MYISAM')), 0)
FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN {_SYSTEM}
"""


def read_only_connection(spec: TargetSpec) -> Connection[Any]:
    """A session in which the server itself refuses every write.

    (In a single read-only transaction it would not refuse CREATE, which ends it first.)

    Raises:
        TargetError: If the server cannot be reached.
        WrongInputError: If the address is wrong.
    """
    connection = connect(address.parse(spec).connection())
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
    return connection


def mariadb_facts(spec: TargetSpec, log: Path | None) -> MariaDBFacts:
    """Looks at a running server.

    Args:
        spec: With its address.
        log: Its error log, if the user named one; else it is looked for.

    Raises:
        TargetError: If it cannot be reached.
        WrongInputError: If the address is wrong, or the named log cannot be read.
    """
    place = address.parse(spec)
    with read_only_connection(spec) as connection:
        variables = dict(_rows(connection, "SHOW GLOBAL VARIABLES"))
        status = dict(_rows(connection, "SHOW GLOBAL STATUS"))
        tables = _rows(connection, _TABLES)
        local = is_here(place.host)
        process = _process(connection, place, variables) if local else None
    settings = Settings(
        {name.lower(): setting(masked_data(value, name)) for name, value in variables.items()}
    )
    return MariaDBFacts(
        settings=settings,
        status=status,
        version=(settings.text("version") or "").partition("-")[0],
        local=local,
        data_bytes=int(tables[0][0]) if tables else None,
        crash_unsafe_tables=int(tables[0][1]) if tables else None,
        process=process,
        log=_log(settings, process, log),
    )


def setting(value: str) -> Setting:
    """A variable; MariaDB shows sizes in bytes and durations in seconds."""
    try:
        return Setting(value, float(value), "server")
    except ValueError:
        return Setting(value, None, "server")


def _process(
    connection: Connection[Any], place: Address, variables: dict[str, str]
) -> ProcessFacts | None:
    pid = _peer(connection) if place.host.startswith("/") else _pid_of_file(variables)
    found = (process_facts(pid, program) for program in _PROGRAMS)
    return next((each for each in found if each is not None), None)


def _peer(connection: Connection[Any]) -> int | None:
    """The process at the other end of a Unix socket (unix(7), SO_PEERCRED)."""
    stream: socket.socket | None = getattr(connection, "_sock", None)
    if stream is None:
        return None
    layout = "3i"
    told = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(layout))
    return int(struct.unpack(layout, told)[0])


def _pid_of_file(variables: dict[str, str]) -> int | None:
    path = Path(variables.get("datadir", "/")) / variables.get("pid_file", "")
    try:
        return int(path.read_text().strip())
    except (OSError, ValueError):
        return None


def _log(settings: Settings, process: ProcessFacts | None, named: Path | None) -> LogFacts | None:
    kind, messages = MariaDBLog(settings.text("lc_messages")), messages_of("mariadb")
    if named is not None:
        return read_log(named, messages, kind)
    if process is None:
        return None
    name = settings.text("log_error")
    if name and name != "stderr":
        path: Path | None = Path(settings.text("datadir") or "/") / name
    else:
        path = standard_error_file(process.pid)
    return find_log(path, messages, kind)


def _rows(connection: Connection[Any], sql: str) -> Sequence[tuple[Any, ...]]:
    def refused(error: Exception) -> TargetError:
        return TargetError(f"{said(error)}, in: {shortened(sql)}")

    with calling(refused), connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
