"""Values, scripts and addresses of MariaDB, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.mariadb import settings, values
from loadstone.targets.mariadb.address import is_address, parse
from loadstone.targets.mariadb.catalog import Variable, plain_name
from loadstone.targets.mariadb.ddl import create, finish, orphans
from loadstone.targets.mariadb.script import statements
from loadstone.targets.schema import Column, ColumnType, ForeignKey, Table

WORDS = ("fsync", "O_DSYNC", "nosync")


def variable(name: str, kind: str = "BIGINT UNSIGNED", choices: tuple[str, ...] = ()) -> Variable:
    return Variable(name, "GLOBAL", kind, "0", None, None, choices, False, True)


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "kind", "text"),
    [
        ("1GB", "BIGINT UNSIGNED", "1073741824"),
        ("64MB", "INT UNSIGNED", "67108864"),
        ("1.5 GiB", "BIGINT UNSIGNED", "1610612736"),
        ("16k", "BIGINT UNSIGNED", "16384"),
        ("-1", "BIGINT", "-1"),
        (1e3, "BIGINT UNSIGNED", "1000"),
        ("1 zebra", "BIGINT UNSIGNED", "1 zebra"),
        ("1.5", "BIGINT UNSIGNED", "1.5"),
        (True, "BOOLEAN", "ON"),
        (False, "ENUM", "OFF"),
        (75.5, "DOUBLE", "75.5"),
        ("ibdata1:12M:autoextend", "VARCHAR", "ibdata1:12M:autoextend"),
    ],
)
def test_levels_as_the_server_reads_them(level: object, kind: str, text: str) -> None:
    assert values.text(level, kind) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other", "kind", "choices", "same"),
    [
        ("1G", "1073741824", "BIGINT UNSIGNED", (), True),
        ("1G", "1000000000", "BIGINT UNSIGNED", (), False),
        ("on", "1", "BOOLEAN", (), True),
        ("OFF", "no", "BOOLEAN", (), True),
        ("1", "O_DSYNC", "ENUM", WORDS, True),
        ("o_dsync", "O_DSYNC", "ENUM", WORDS, True),
        ("FSYNC", "nosync", "ENUM", WORDS, False),
        ("true", "ON", "ENUM", ("OFF", "ON", "FORCE"), True),
        ("0", "OFF", "ENUM", ("OFF", "ON", "FORCE"), True),
        ("a,B", "b,A", "SET", (), True),
        ("a", "a,b", "SET", (), False),
        ("ANSI", "PIPES_AS_CONCAT,ANSI", "SET", (), True),
        ("mrr=on", "index_merge=on,mrr=on", "FLAGSET", (), True),
        ("mrr=on", "index_merge=on,mrr=off", "FLAGSET", (), False),
        ("75", "75.000000", "DOUBLE", (), True),
        ("Text", "text", "VARCHAR", (), False),
    ],
)
def test_values_that_mean_the_same(
    one: str, other: str, kind: str, choices: tuple[str, ...], same: bool
) -> None:
    assert values.same(one, other, kind, choices) is same
    assert values.same(other, one, kind, choices) is same


@given(st.integers(min_value=0, max_value=2**64 - 1))
def test_a_size_is_read_as_it_is_shown(size: int) -> None:
    assert values.normalised(values.size_text(size), "BIGINT UNSIGNED") == str(size)


@given(st.text())
def test_an_option_line_is_one_line(value: str) -> None:
    line = values.option_line("name", value)
    assert line.count("\n") == 1
    assert line.startswith('name = "')


# -- what is unsafe ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "has_binlog", "unsafe"),
    [
        ("innodb_flush_log_at_trx_commit", "1", False, False),
        ("innodb_flush_log_at_trx_commit", "3", False, False),
        ("innodb_flush_log_at_trx_commit", "2", False, True),
        ("innodb_flush_log_at_trx_commit", "0", False, True),
        ("sync_binlog", "0", False, False),
        ("sync_binlog", "0", True, True),
        ("sync_binlog", "100", True, True),
        ("sync_binlog", "1", True, False),
        ("innodb_force_recovery", "0", False, False),
        ("innodb_force_recovery", "6", False, True),
        ("innodb_io_capacity", "0", False, False),
    ],
)
def test_unsafe_levels(name: str, value: str, has_binlog: bool, unsafe: bool) -> None:
    assert settings.at_risk(variable(name), value, has_binlog=has_binlog) is unsafe


def test_unsafe_words() -> None:
    method = variable("innodb_flush_method", "ENUM", ("fsync", "O_DSYNC", "littlesync", "nosync"))
    found = [settings.at_risk(method, word, has_binlog=False) for word in method.choices]
    assert found == [False, False, True, True]
    doublewrite = variable("innodb_doublewrite", "BOOLEAN")
    assert settings.at_risk(doublewrite, "FALSE", has_binlog=False)
    assert not settings.at_risk(doublewrite, "ON", has_binlog=False)
    of_eleven = variable("innodb_doublewrite", "ENUM", ("OFF", "ON", "fast"))
    assert settings.at_risk(of_eleven, "fast", has_binlog=False)
    with pytest.raises(WrongInputError, match="not known"):
        settings.at_risk(method, None, has_binlog=False)


def test_names_of_settings() -> None:
    assert plain_name("InnoDB-Flush-Method") == "innodb_flush_method"
    assert plain_name("transaction-isolation") == "tx_isolation"


# -- scripts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ;; -- nothing\n # no\n /* ; */ ;", []),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        (
            "SELECT ';' , \";\", `;`, 'it''s;', 'a\\';'; x",
            [
                "SELECT ';' , \";\", `;`, 'it''s;', 'a\\';'",
                "x",
            ],
        ),
        ("SELECT 1 -- a; b\n; SELECT 5--2;", ["SELECT 1 -- a; b", "SELECT 5--2"]),
        ("/*!50000 SELECT 1 */; x", ["/*!50000 SELECT 1 */", "x"]),
        ("CREATE a BEGIN x; y; END\n//\n  //  \nb;\n//", ["CREATE a BEGIN x; y; END", "b;"]),
        ("SELECT 'a // b'; x", ["SELECT 'a // b'", "x"]),
    ],
)
def test_statements_of_a_script(script: str, expected: list[str]) -> None:
    assert list(statements(script)) == expected


@given(st.lists(st.sampled_from(["SELECT 1", "SELECT ';'", "INSERT INTO `a;b` VALUES (1)"])))
def test_what_is_joined_is_split(parts: list[str]) -> None:
    assert list(statements(";\n".join(parts))) == parts
    assert list(statements("\n//\n".join(["", *parts, ""]))) == parts


# -- addresses ---------------------------------------------------------------------------------


def address(text: str, password: str | None = None) -> TargetSpec:
    return TargetSpec(engine="mariadb", server=text, password=password)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mysql://me@db.example:3307/shop", "mysql://me@db.example:3307/shop"),
        ("mariadb://me@db/shop", "mysql://me@db:3306/shop"),
        ("mysql://me@[::1]/shop", "mysql://me@[::1]:3306/shop"),
        ("mysql://m%40e@/s%2Dp?socket=/run/m.sock", "mysql://m%40e@/s-p?socket=/run/m.sock"),
        ("mysql://me@localhost/shop?socket=/s", "mysql://me@/shop?socket=/s"),
    ],
)
def test_addresses(text: str, shown: str) -> None:
    assert is_address(text)
    found = parse(address(text))
    assert found.shown == shown
    assert parse(address(found.shown)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mysql://db/shop", "lacks the user"),
        ("mysql://me@db", "lacks the database"),
        ("mysql://me@db/", "lacks the database"),
        ("mysql://me:secret@db/shop", "holds a password"),
        ("mysql://me@db:x/shop", "cannot be read"),
        ("mysql://me@db/shop?ssl=1", "not supported: 'ssl'"),
        ("mysql://me@db/shop?socket=/s", "a socket is a path on this machine"),
    ],
)
def test_wrong_addresses(text: str, message: str) -> None:
    with pytest.raises(WrongInputError, match=message) as caught:
        parse(address(text))
    assert "secret" not in f"{caught.value} {caught.value.advice}"


# -- tables ------------------------------------------------------------------------------------


def test_keys_come_before_the_load_and_references_after_it() -> None:
    table = Table(
        "child",
        (Column("id", ColumnType("smallint")), Column("at", ColumnType("timestamp"), True)),
        primary_key=("id",),
        foreign_keys=(ForeignKey("fk", ("id",), "parent", ("key",)),),
    )
    assert "PRIMARY KEY (id)" in create([table])
    assert "at datetime(6) NULL" in create([table])
    assert "FOREIGN KEY (id) REFERENCES parent (key)" in finish([table])
    [(name, query)] = orphans([table])
    assert name == "child.fk"
    assert "LEFT JOIN parent p ON c.id = p.key" in query
