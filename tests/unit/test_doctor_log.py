"""Logs in all formats and languages: a fault is found by its words or code, or the log is called
unreadable; its healthy twin, in which the same words are part of a statement, has no finding."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from loadstone.doctor.collect.log import collate, find_log, read_log
from loadstone.doctor.collect.log_files import earlier_files
from loadstone.doctor.collect.log_mariadb import MariaDBLog
from loadstone.doctor.collect.log_postgresql import PostgreSQLLog
from loadstone.doctor.facts import LogFacts
from loadstone.doctor.log_entry import LogKind
from loadstone.doctor.rules.messages import messages_of

STAMP = "2026-11-26 12:00:00"
DEADLOCK = "UPDATE item SET name = 'deadlock detected' WHERE id = 1"
FAULT = ("40P01", "ERROR", "deadlock detected", DEADLOCK)
GERMAN = ("40P01", "FEHLER", "Verklemmung (Deadlock) entdeckt", DEADLOCK)
WORDS = [
    ("42P01", "ERROR", 'relation "deadlock detected" does not exist', DEADLOCK),
    ("00000", "LOG", f"duration: 1.2 ms  statement: {DEADLOCK}", ""),
    ("00000", "LOG", f"statement: SELECT $$\nERROR:  deadlock detected\n$$, '{DEADLOCK}'", ""),
    ("28000", "FATAL", 'role "out of memory" does not exist', ""),
]
"""Records of PostgreSQL in which nothing is wrong with the server: code, level, text, statement."""
Record = tuple[str, str, str, str]


def stderr(prefix: str, verbose: bool = False) -> Callable[[Record], str]:
    def write(record: Record) -> str:
        code, level, text, statement = record
        statement_label = {"FEHLER": "ANWEISUNG"}.get(level, "STATEMENT")
        head = prefix.replace("%m", f"{STAMP}.123 UTC").replace("%e", code).replace("%p", "53100")
        head = head.replace("%a", "my app").replace("%u", "me").replace("%l", "1")
        head = head.replace("%q", "").replace("%%", "%")
        shown = f"{code}: {text}" if verbose else text
        shown = shown.replace("\n", "\n\t")
        lines = f"{head}{level}:  {shown}\n{head}DETAIL:  out of memory\n"
        return lines + (f"{head}{statement_label}:  {statement}\n" if statement else "")

    return write


def csv(record: Record) -> str:
    code, level, text, statement = record
    row = [f"{STAMP}.123 UTC", *map(quoted, ("me", "shop")), "7", quoted("[local]"), "67.7", "1"]
    row += [quoted("UPDATE"), STAMP, "1/1", "0", level, code, quoted(text), quoted("out of memory")]
    row += ["", "", "", "", quoted(statement) if statement else "", "", "", quoted("psql")]
    return ",".join([*row, quoted("client backend"), "", "0"]) + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def as_json(record: Record) -> str:
    code, level, text, statement = record
    fields = {"timestamp": f"{STAMP}.123 UTC", "pid": 7, "error_severity": level}
    fields |= {"state_code": code, "message": text, "detail": "out of memory"}
    fields |= {"statement": statement, "backend_type": "client backend"}
    return json.dumps(fields, ensure_ascii=False) + "\n"


def in_operator(record: Record) -> str:
    fields = json.loads(as_json(record))
    fields["sql_state_code"] = fields.pop("state_code")
    return json.dumps({"level": "info", "logger": "postgres", "record": fields}) + "\n"


def each_line(shape: str, write: Callable[[Record], str]) -> Callable[[Record], str]:
    """As a collector of lines wraps them."""

    def wrap(record: Record) -> str:
        lines = write(record).splitlines()
        if shape == "docker":
            return "".join(
                json.dumps({"log": f"{line}\n", "stream": "stderr"}) + "\n" for line in lines
            )
        if shape == "syslog":
            parts = enumerate((line.replace("\t", "#011") for line in lines), start=1)
            return "".join(
                f"Nov 26 12:00:00 db1 postgres[7]: [5-{part}] {line}\n" for part, line in parts
            )
        return "".join(f"{shape}{line}\n" for line in lines)

    return wrap


PLAIN, CODED = stderr("%m [%p] "), stderr("%m [%p] %e ")
SHAPES: dict[str, tuple[str, Callable[[Record], str]]] = {
    "plain": ("%m [%p] ", PLAIN),
    "empty prefix": ("", stderr("")),
    "of sessions": ("%m %q%u@%a [%l] ", stderr("%m %q%u@%a [%l] ")),
    "percent": ("100%% %p: ", stderr("100%% %p: ")),
    "under another prefix before": ("%t:%r:%u@%d:[%p]: ", PLAIN),
    "coded": ("%m [%p] %e ", CODED),
    "coded, no time": ("%e ", stderr("%e ")),
    "verbose": ("%m [%p] ", stderr("%m [%p] ", verbose=True)),
    "csv": ("%m [%p] ", csv),
    "json": ("%m [%p] ", as_json),
    "operator": ("%m [%p] ", in_operator),
    "docker": ("%m [%p] ", each_line("docker", PLAIN)),
    "kubernetes": ("%m [%p] ", each_line(f"{STAMP.replace(' ', 'T')}.1Z stderr F ", PLAIN)),
    "journal": ("%m [%p] ", each_line("Nov 26 12:00:00 db1 postgres[7]: ", PLAIN)),
    "journal, iso": ("%m [%p] ", each_line("2026-11-26T12:00:00+0000 db1 postgres[7]: ", PLAIN)),
    "syslog": ("[%p] ", each_line("syslog", stderr("[%p] "))),
}
READ_BY_CODE = {"coded", "coded, no time", "verbose", "csv", "json", "operator"}


def told(kind: LogKind, text: str) -> LogFacts:
    subject = "postgresql" if isinstance(kind, PostgreSQLLog) else "mariadb"
    return collate(kind.entries(text.split("\n")), messages_of(subject), translated=kind.translated)


def counts(found: LogFacts) -> Mapping[str, int]:
    return {key: message.count for key, message in found.messages.items()}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_fault_is_found_in_every_format_and_its_words_elsewhere_are_none(shape: str):
    prefix, write = SHAPES[shape]
    kind = PostgreSQLLog(prefix)
    sick = "".join(write(each) for each in [*WORDS, FAULT, *WORDS, FAULT])
    well = "".join(write(each) for each in WORDS)
    assert counts(told(kind, sick)) == {"deadlocks": 2}
    found = told(kind, well)
    assert counts(found) == {}
    assert found.entries == len(WORDS)
    assert found.readable


@pytest.mark.parametrize("shape", SHAPES)
def test_another_language_is_read_by_its_codes_or_called_unreadable(shape: str):
    prefix, write = SHAPES[shape]
    calm = ("00000", "LOG", "Checkpoint abgeschlossen", "")
    found = told(PostgreSQLLog(prefix, "de_DE.UTF-8"), "".join(map(write, [calm, GERMAN, calm])))
    if shape in READ_BY_CODE:
        assert (found.entries, counts(found)) == (3, {"deadlocks": 1})
        assert (found.unreadable, found.by_code) == (0, True)
    else:
        assert counts(found) == {}
        assert found.unreadable >= 3


@pytest.mark.parametrize(
    ("locale", "lines"),
    [
        (None, "40P01 ERREUR:  interblocage (deadlock) détecté\n40P01 DÉTAIL :  Le processus 1\n"
               "40P01 INSTRUCTION :  SELECT 1\n"),
        ("ja_JP.UTF-8", "40P01 ERROR:  デッドロックを検出しました\n40P01 詳細:  プロセス\n"
                        "40P01 文:  SELECT 1\n"),
        ("es_ES", "40P01 ERROR:  se ha detectado un deadlock\n40P01 DETALLE:  x\n"
                  "40P01 SENTENCIA:  SELECT 1\n"),
    ],
)  # fmt: skip
def test_a_statement_of_another_language_is_no_entry(locale: str | None, lines: str):
    found = told(PostgreSQLLog("%e ", locale), lines)
    assert (found.entries, counts(found)) == (1, {"deadlocks": 1})
    bare = told(PostgreSQLLog("", locale), lines.replace("40P01 ", ""))
    assert bare.unreadable >= 1


def test_a_server_without_the_texts_of_its_language_writes_english():
    text = PLAIN(FAULT) + PLAIN(("00000", "LOG", "database system is ready to accept", ""))
    found = told(PostgreSQLLog(locale="de_DE.UTF-8"), text)
    assert (counts(found), found.unreadable) == ({"deadlocks": 1}, 0)


@pytest.mark.parametrize(
    ("code", "text", "key"),
    [
        ("53100", 'could not write to file "base/1/2": No space left on device', "no-space"),
        ("53100", 'konnte nicht in Datei "base/1/2" schreiben', "no-space"),
        ("53100", 'could not resize shared memory segment "/PostgreSQL.7" to 8 bytes: No space '
                  "left on device", "shared-memory"),
        ("53100", "konnte Shared-Memory-Segment »/PostgreSQL.7« nicht auf 8 Bytes ändern",
         "shared-memory"),
        ("53200", "out of shared memory", "locks-used-up"),
        ("53200", "Speicher aufgebraucht", "out-of-memory"),
        ("58030", 'konnte Datei "pg_wal/1" nicht fsyncen', "could-not-fsync"),
        ("42501", 'could not write to file "base/1/2": Permission denied', None),
        ("53300", "sorry, too many clients already", "connections-refused"),
        ("53300", "zu viele Verbindungen", "connections-refused"),
        ("57014", "canceling statement due to user request", None),
        ("57014", "canceling autovacuum task", "autovacuum-cancelled"),
        ("P0001", "deadlock detected", None),
        ("00000", "server process (PID 7) was terminated by signal 9: Killed", "out-of-memory"),
        ("00000", "server process (PID 7) was terminated by signal 15", None),
    ],
)  # fmt: skip
def test_a_code_says_which_fault_it_is(code: str, text: str, key: str | None):
    for write, prefix in ((CODED, "%m [%p] %e "), (as_json, ""), (csv, "")):
        found = told(PostgreSQLLog(prefix), write((code, "ERROR", text, "")))
        assert counts(found) == ({key: 1} if key else {})


def test_a_cancelled_vacuum_is_told_from_a_cancelled_query_by_its_process():
    line = as_json(("57014", "ERROR", "storniere Autovacuum-Aufgabe", ""))
    assert counts(told(PostgreSQLLog(), line)) == {}
    line = line.replace("client backend", "autovacuum worker")
    assert counts(told(PostgreSQLLog(), line)) == {"autovacuum-cancelled": 1}


# -- MariaDB and MySQL ----------------------------------------------------------------------------

HEAD = f"{STAMP} 8 "
MYSQL = "2026-11-26T12:00:00.123456Z 8 "


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (HEAD + "[Warning] Aborted connection 8 to db: 'shop'", "aborted-connections"),
        ("2026-11-26  1:02:03 8 [Warning] Too many connections", "too-many-connections"),
        (HEAD + "[ERROR] mariadbd: Table './shop/old' is marked as crashed", "table-damaged"),
        (HEAD + "[ERROR] InnoDB: Database page corruption on disk or a failed file read of "
         "tablespace shop/item page [page id: space=5, page number=3]", "table-damaged"),
        (HEAD + '[ERROR] mariadbd: Platte voll (Fehler: 28 "Kein Platz mehr")', "no-space"),
        (HEAD + '[ERROR] mariadbd: Disk is full writing ./b (Errcode: 28 "No space")', "no-space"),
        (HEAD + "[ERROR] Slave SQL: Error 'x' on query. Query: 'UPDATE t', Internal MariaDB error "
         "code: 1213", "deadlocks"),
        (HEAD + "[Warning] Aborted connection 8 to db: 'unconnected' user: 'unauthenticated' "
         "(Too many connections)", "too-many-connections"),
        (MYSQL + "[Note] [MY-010914] [Server] Abgebrochene Verbindung 8", "aborted-connections"),
        (MYSQL + "[Note] [MY-012468] [InnoDB] Transactions deadlock detected", "deadlocks"),
        (MYSQL + "[Warning] [MY-011953] [InnoDB] Page cleaner took 5012ms", "page-cleaner-late"),
        (json.dumps({"err_code": 10914, "msg": "x", "time": MYSQL, "label": "Note"}),
         "aborted-connections"),
        (json.dumps({"log": HEAD + "[Warning] Too many connections\n"}), "too-many-connections"),
        ("Nov 26 12:00:00 db1 mariadbd[7]: " + HEAD + "[Warning] Too many connections",
         "too-many-connections"),
        (HEAD + "[ERROR] Slave SQL: Error 'x' on query. Query: 'SELECT \"Disk is full: No space "
         "left on device\"', Internal MariaDB error code: 1062", None),
        (HEAD + "[Warning] Access denied for user 'Too many connections'@'x is corrupted'", None),
        ("UPDATE item SET name = '[Warning] Too many connections'", None),
        ("Query (0x7f): SELECT 'is marked as crashed'", None),
        (HEAD + "[Note] mariadbd: ready for connections.", None),
    ],
)  # fmt: skip
def test_the_error_log_of_mariadb_and_mysql_is_read(line: str, key: str | None):
    found = told(MariaDBLog(), line)
    assert counts(found) == ({key: 1} if key else {})
    assert found.unreadable == 0


def test_translated_messages_of_mariadb_are_called_unreadable():
    lines = [
        HEAD + "[Note] mariadbd: ready for connections.",
        HEAD + "[Warning] Abbruch der Verbindung 8 zur Datenbank 'shop'. Benutzer: 'root'",
    ]
    found = told(MariaDBLog("de_DE"), "\n".join(lines))
    assert (found.entries, found.unreadable, found.readable) == (2, 1, False)
    assert told(MariaDBLog("en_US"), "\n".join(lines)).readable


# -- files ----------------------------------------------------------------------------------------


def test_what_is_another_log_is_not_called_healthy(tmp_path: Path):
    slow = tmp_path / "slow.log"
    slow.write_text(f"# Time: {STAMP}\n# User@Host: root[root]\nSELECT 'Too many connections';\n")
    found = read_log(slow, messages_of("mariadb"), MariaDBLog())
    assert (found.readable, found.strange) == (False, "it is the log of slow queries")
    found = read_log(slow, messages_of("postgresql"), PostgreSQLLog())
    assert found.strange == "no line of it is of a log of PostgreSQL"


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_packed_logs_are_read(tmp_path: Path, suffix: str, encoding: str):
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    path = tmp_path / f"postgresql.log.1{suffix}"
    path.write_bytes(pack(PLAIN(FAULT).encode(encoding)))
    found = read_log(path, messages_of("postgresql"), PostgreSQLLog())
    assert counts(found) == {"deadlocks": 1}


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_damaged_archive_is_an_error_in_a_line(tmp_path: Path, suffix: str):
    from loadstone.errors import WrongInputError

    path = tmp_path / f"x{suffix}"
    path.write_bytes(gzip.compress(b"x" * 1000)[:20] if suffix == ".gz" else b"BZh9nothing")
    with pytest.raises(WrongInputError, match="cannot be read"):
        read_log(path, messages_of("postgresql"), PostgreSQLLog())


def test_files_that_were_rotated_away_are_read_before_the_present_one(tmp_path: Path):
    names = ["pg-15.log.2.gz", "pg-15.log.1", "pg-15.log", "pg-16.log", "pg-15.log.bak"]
    for age, name in enumerate(names):
        path = tmp_path / name
        text = PLAIN(FAULT).replace("11-26", f"11-{20 + age}").encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        os.utime(path, (1000 + age, 1000 + age))
    present = tmp_path / "pg-15.log"
    found = find_log(present, messages_of("postgresql"), PostgreSQLLog())
    assert found is not None
    assert (found.files, counts(found), found.span_s) == (3, {"deadlocks": 3}, 2 * 86400)
    assert found.path == str(present)


@pytest.mark.parametrize(
    ("pattern", "now", "before", "others"),
    [
        ("postgresql-%a.log", "postgresql-Tue.log", "postgresql-Mon.log", "postgresql-Mon.csv"),
        ("pg-%Y-%m-%d_%H%M%S.log", "pg-2026-11-26_000000.json", "pg-2026-11-25_000000.json",
         "pg-2026-11-25_000000.log"),
        (None, "error.log", "error.log-20261125.gz", "error.log.old"),
    ],
)  # fmt: skip
def test_the_names_of_rotated_files(
    tmp_path: Path, pattern: str | None, now: str, before: str, others: str
):
    for age, name in enumerate((before, others, now)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    assert [each.name for each in earlier_files(tmp_path / now, pattern)] == [before]
