"""Settings of SQLite: names, values and what they risk."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import TargetError, WrongInputError
from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.targets.sqlite import database, ddl, pragmas
from loadstone.targets.sqlite.database import statements
from loadstone.workloads.oltp.tables import TABLES

CHANGES_NOTHING = {"journal_mode", "mmap_size"}
"""A database in memory keeps its own journal and maps nothing."""


def canonical(name, level):
    return pragmas.canonical(pragmas.CATALOGUE[name], level)


@pytest.mark.parametrize(
    ("name", "level", "value"),
    [
        ("journal_mode", "WAL", "wal"),
        ("journal_mode", False, "off"),
        ("synchronous", "normal", "1"),
        ("synchronous", False, "0"),
        ("synchronous", 3, "3"),
        ("cache_size", "64MB", "-65536"),
        ("cache_size", -2000, "-2000"),
        ("cache_size", 500, "500"),
        ("mmap_size", "1GB", str(2**30)),
        ("page_size", "16kB", "16384"),
        ("busy_timeout", "5s", "5000"),
        ("busy_timeout", 250, "250"),
        ("foreign_keys", True, "1"),
        ("foreign_keys", "yes", "1"),
        ("auto_vacuum", "incremental", "2"),
        ("encoding", "utf-16LE", "UTF-16le"),
        ("journal_size_limit", -1, "-1"),
    ],
)
def test_a_level_is_spelled_as_sqlite_gives_it_back(name, level, value):
    assert canonical(name, level) == value


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("journal_mode", "fast", "delete, truncate"),
        ("synchronous", True, "off, normal, full, extra"),
        ("synchronous", 4, "off, normal, full, extra"),
        ("page_size", 5000, "power of two"),
        ("page_size", "1MB", "from 512 to 65536"),
        ("threads", "9", "from 0 to 8"),
        ("threads", "1kB", "whole number"),
        ("cache_size", "much", "64MB"),
        ("busy_timeout", "soon", "5s"),
        ("mmap_size", "4GB", "from 0 to"),
    ],
)
def test_a_wrong_level_is_refused_with_what_is_right(name, level, said):
    with pytest.raises(WrongInputError) as error:
        canonical(name, level)
    assert said in f"{error.value.message} {error.value.advice}"


def test_an_unknown_setting_is_refused_with_the_nearest():
    with pytest.raises(WrongInputError, match="did you mean 'cache_size'"):
        pragmas.info("cachesize", 1)


def test_a_pragma_that_is_no_setting_cannot_be_a_factor():
    assert pragmas.info("integrity_check", 1).refused
    assert pragmas.info("locking_mode", "exclusive").refused
    assert pragmas.info("locking_mode", "normal").refused is None


def test_what_needs_new_data_says_so():
    assert pragmas.info("page_size", 8192).needs == "new data"
    assert pragmas.info("cache_size", 8192).needs == "reload"


def test_sqlite_gives_back_what_is_written_here():
    connection = sqlite3.connect(":memory:")
    for name, pragma in pragmas.CATALOGUE.items():
        if pragma.layout or name in CHANGES_NOTHING:
            continue
        words = pragma.words if pragma.kind in ("word", "code") else ("7",)
        for word in words:
            value = pragmas.canonical(pragma, word)
            connection.execute(f"PRAGMA {name} = '{pragmas.written(pragma, value)}'")
            found = str(connection.execute(f"PRAGMA {name}").fetchone()[0])
            assert pragmas.same(pragma, value, found), (name, value, found)


@given(st.sampled_from(sorted(pragmas.CATALOGUE)), st.integers(-(2**31), 2**31))
def test_what_is_shown_can_be_written(name, number):
    pragma = pragmas.CATALOGUE[name]
    try:
        value = pragmas.canonical(pragma, number)
    except WrongInputError:
        return
    assert pragmas.canonical(pragma, pragmas.shown(pragma, value)) == value


@pytest.mark.parametrize("name", pragmas.CATALOGUE)
def test_defaults_and_unsafe_levels_are_levels(name):
    pragma = pragmas.CATALOGUE[name]
    assert canonical(name, pragmas.shown(pragma, pragma.default)) == pragma.default
    for level in pragma.unsafe:
        canonical(name, level)


def test_narrow_rows_lie_in_the_tree_of_their_key():
    kept_with_key = {table.name for table in TABLES if ddl.clustered(table)}
    assert kept_with_key == {"district", "orders", "new_order", "order_line"}


def test_a_key_that_is_one_integer_is_the_number_of_the_row():
    table = Table("t", (Column("id", ColumnType("bigint")),), primary_key=("id",))
    assert ddl.create([table]) == "CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT;"


@given(st.lists(st.sampled_from(["SELECT 1", "SELECT ';'", "SELECT 2 -- a; b\n", "BEGIN"])))
def test_a_script_is_cut_where_statements_end(parts):
    assert [each.strip() for each in statements(";\n".join(parts))] == [
        part.strip() for part in parts
    ]


def test_a_pragma_that_this_database_does_not_take_is_noticed() -> None:
    """One in memory keeps no log of its own."""
    with closing(sqlite3.connect(":memory:")) as connection:
        database._set(connection, "journal_mode", "wal")
        with pytest.raises(
            TargetError, match=r"journal_mode was set to 'wal', but SQLite .*memory"
        ):
            database._expect(connection, "journal_mode", "wal")
