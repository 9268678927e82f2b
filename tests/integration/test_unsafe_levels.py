"""Every spelling that an engine takes for an unsafe level is known as one, asked of the engine.

The spellings are not listed: beginnings of words, numbers, other cases and blanks are made of all
words that the engines know, and the engine says which of them it takes, and for what.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from lengths import LONG

from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.chdb import ChDB
from loadstone.targets.duckdb import DuckDB
from loadstone.targets.mariadb import OwnedMariaDB, RemoteMariaDB
from loadstone.targets.postgresql import OwnedPostgreSQL, RemotePostgreSQL
from loadstone.targets.registry import TARGETS
from loadstone.targets.spark import Spark
from loadstone.targets.sqlite import SQLite

COVERED = (OwnedPostgreSQL, OwnedMariaDB, SQLite, DuckDB, ChDB, Spark)
TRUTH = ("on", "off", "true", "false", "yes", "no")
NUMBERS = ("0", "1", "2", "3", "00", "01", "2.0", "0.0", "+2", "0x2")

Asked = Callable[[str, str], str]
"""What an engine makes of a setting and a word; raises an error if it refuses it."""


def spellings(kind: type[Target], name: str) -> list[str]:
    """Everything that might be a level of a setting."""
    risk = kind.risks[name]
    words = {*TRUTH, *risk.safe, *(risk.unsafe or ())}
    texts = {word[:length] for word in words for length in range(1, len(word) + 1)}
    texts |= {word.upper() for word in words} | {f" {word} " for word in words}
    return sorted({*texts, *NUMBERS})


def compared(
    kind: type[Target], spec: TargetSpec, name: str, asked: Asked, words: list[str] | None = None
) -> Iterator[tuple[str, str]]:
    """The spellings that Loadstone lets through, with what the engine makes of them."""
    risk = kind.risks[name]
    for word in words or spellings(kind, name):
        try:
            made = asked(name, word.strip()).lower()
        except (LoadstoneError, duckdb.Error, sqlite3.Error):
            made = None
        try:
            unsafe = kind.setting(spec, name, word).unsafe
        except WrongInputError:
            continue
        assert made is not None, f"{name} = {word!r} is refused by {spec.engine}"
        assert unsafe is (made not in risk.safe), f"{name} = {word!r} is {made!r}"
        yield word, made


def unsafe_words(found: Iterator[tuple[str, str]], kind: type[Target], name: str) -> set[str]:
    return {word for word, made in found if made not in kind.risks[name].safe}


def test_every_engine_with_unsafe_levels_is_asked() -> None:
    with_risks = {name for name, kind in TARGETS.items() if kind.risks}
    assert with_risks == {kind.engine for kind in COVERED}


def test_postgresql(owned_target: OwnedPostgreSQL) -> None:
    client = owned_target.client

    def asked(name: str, word: str) -> str:
        # One parser reads all Boolean settings; not all of them may be set in a session.
        like = name if name == "synchronous_commit" else "zero_damaged_pages"
        value = str(client.value("SELECT set_config(%s, %s, false)", (like, word)))
        client.query(f"RESET {like}")
        return value

    spec, kind = owned_target.spec, OwnedPostgreSQL
    assert unsafe_words(compared(kind, spec, "fsync", asked), kind, "fsync") >= {"f", "n", "OFF"}
    levels = compared(kind, spec, "synchronous_commit", asked)
    assert unsafe_words(levels, kind, "synchronous_commit") >= {"off", "0", "no"}
    for name in sorted(kind.risks):
        assert len(list(compared(kind, spec, name, asked, ["f", "t", "0", "ON"]))) >= 2

    to = owned_target.connection()
    address = f"postgresql://{to.user}@/{to.database}?host={to.host}&port={to.port}"
    at = TargetSpec(engine="postgresql", server=address)
    words = ["f", "fa", "OF", "0", "no", "n", "t", "1"]
    found = compared(RemotePostgreSQL, at, "fsync", asked, words)
    assert unsafe_words(found, RemotePostgreSQL, "fsync") == {"f", "fa", "OF", "0", "no", "n"}


@pytest.mark.xdist_group("mariadb")
def test_mariadb(mariadb_target: OwnedMariaDB) -> None:
    client, spec = mariadb_target.client, mariadb_target.spec.with_settings({"log_bin": True})

    def asked_at_start(name: str, word: str) -> str:
        """Of the program that reads the option file, which takes more than SET does."""
        from loadstone.targets.mariadb import binaries, catalog

        programs = binaries.find("local")
        variable = catalog.variables(programs)[name]
        if catalog.objection(programs, variable, word) is not None:
            raise TargetError("refused")
        made = catalog.made_of(programs, variable, word)
        return {"true": "on", "false": "off"}.get(str(made).lower(), str(made))

    known = {row[0].lower() for row in client.query("SHOW GLOBAL VARIABLES")}
    wanted = {
        "innodb_flush_log_at_trx_commit": ["2", "2.0", "02", " 2 ", "+2", "0", "1", "0x2", "off"],
        "innodb_doublewrite": ["0", "off", "OFF", "false", "f", "no", "00", "2", "on", "1"],
        "innodb_flush_method": ["n", "NOS", "nosync", "2", "little", "O_DIRECT_N", "fsync", "0"],
        "innodb_force_recovery": ["0", "1", "6.0"],
        "sync_binlog": ["0", "1", "100"],
    }
    assert set(wanted) <= set(OwnedMariaDB.risks) & known
    for name in sorted(set(OwnedMariaDB.risks) & known):
        found = compared(OwnedMariaDB, spec, name, asked_at_start, wanted.get(name, ["0", "1"]))
        assert list(found), name
    name = "innodb_flush_method"
    found = compared(OwnedMariaDB, spec, name, asked_at_start, wanted[name])
    assert {"n", "NOS", "2", "little"} <= unsafe_words(found, OwnedMariaDB, name)

    def asked_running(name: str, word: str) -> str:
        before = client.value(f"SELECT @@GLOBAL.{name}")
        client.query(f"SET GLOBAL {name} = {word}")
        value = client.value(f"SELECT @@GLOBAL.{name}")
        client.query(f"SET GLOBAL {name} = {before}")
        return str(value)

    to = mariadb_target.connection()
    address = f"mysql://{to.user}@/{to.database}?socket={to.host}"
    at = TargetSpec(engine="mariadb", server=address)
    name = "innodb_flush_log_at_trx_commit"
    found = compared(RemoteMariaDB, at, name, asked_running, ["0", "2", "02", "1", "3"])
    assert unsafe_words(found, RemoteMariaDB, name) == {"0", "2", "02"}


@pytest.mark.parametrize("name", sorted(SQLite.risks))
def test_sqlite(name: str, tmp_path: Path) -> None:
    words = ["off", "normal", "full", "extra"]

    def asked(name: str, word: str) -> str:
        connection = sqlite3.connect(tmp_path / "asked.db")
        try:
            connection.execute(f"PRAGMA {name} = '{word}'")
            (value,) = connection.execute(f"PRAGMA {name}").fetchone()
        finally:
            connection.close()
        return words[value] if name == "synchronous" else str(value)

    found = compared(SQLite, TargetSpec(engine="sqlite"), name, asked)
    expected = {"synchronous": {"off", "0", "1", "00", "01", "no"}, "journal_mode": {"off", "OFF"}}
    assert unsafe_words(found, SQLite, name) >= expected[name]


@pytest.mark.parametrize("name", sorted(DuckDB.risks))
def test_duckdb(name: str) -> None:
    def asked(name: str, word: str) -> str:
        with duckdb.connect() as connection:
            connection.execute(f"SET GLOBAL {name} = '{word}'")
            rows = connection.execute(f"SELECT current_setting('{name}')").fetchall()
        return str(rows[0][0])

    found = compared(DuckDB, TargetSpec(engine="duckdb"), name, asked)
    assert unsafe_words(found, DuckDB, name) >= {"none", "NONE"}


@pytest.mark.parametrize("name", sorted(ChDB.risks))
@pytest.mark.parametrize(
    ("word", "made"),
    [("0", "0"), *(pytest.param(*each, marks=LONG) for each in [("false", "0"), ("True", "1")])],
)
def test_chdb(name: str, word: str, made: str) -> None:
    pytest.importorskip("chdb")
    assert ChDB.setting(TargetSpec(engine="chdb"), name, word).unsafe is (made == "0")


@LONG
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", sorted(Spark.risks))
@pytest.mark.parametrize(("word", "unsafe"), [("TRUE", True), (" true", True), ("False", False)])
def test_spark(name: str, word: str, unsafe: bool) -> None:
    assert Spark.setting(TargetSpec(engine="spark"), name, word).unsafe is unsafe


def test_the_documents_name_every_setting_with_unsafe_levels() -> None:
    pages = Path(__file__).parents[2] / "docs"
    text = " ".join(page.read_text() for page in pages.rglob("*.md"))
    assert [
        name
        for kind in COVERED
        for name in kind.risks
        if not re.search(rf"\b{re.escape(name)}\b", text)
    ] == []
