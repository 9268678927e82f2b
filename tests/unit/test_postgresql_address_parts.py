"""Addresses are read, and never hold a password."""

from pathlib import Path

import pytest

from loadstone.errors import WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import password
from loadstone.targets.postgresql.address import is_address, parse


def spec(server: str) -> TargetSpec:
    return TargetSpec(engine="postgresql", server=server)


@pytest.mark.parametrize(
    ("server", "host", "port", "user", "database"),
    [
        ("postgresql://u@db.example:6432/d", "db.example", 6432, "u", "d"),
        ("postgres://u@db.example/d", "db.example", 5432, "u", "d"),
        ("postgresql://u@/d?host=/run/postgresql", "/run/postgresql", 5432, "u", "d"),
        ("postgresql://u@%2Frun%2Fpg:5433/d", "/run/pg", 5433, "u", "d"),
        ("postgresql://u@[::1]:5432/d", "::1", 5432, "u", "d"),
        ("postgresql://a%40b@h/d%2Fe", "h", 5432, "a@b", "d/e"),
    ],
)
def test_parse(server: str, host: str, port: int, user: str, database: str) -> None:
    found = parse(spec(server))
    assert (found.host, found.port, found.user, found.database) == (host, port, user, database)
    assert parse(spec(found.shown)) == found


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("postgresql://u:hidden@h/d", "holds a password"),
        ("postgresql://u@h/d?password=hidden", "holds a password"),
        ("postgresql://h/d", "lacks the user"),
        ("postgresql://u@h", "lacks the database"),
        ("postgresql://u@h1,h2/d", "several hosts"),
        ("postgresql://u@h:x/d", "that is no number"),
        ("postgresql://u@h/d?sslmode=require", "not supported: 'sslmode'"),
        ("postgresql://u:hidden@[h/d", "cannot be read"),
    ],
)
def test_refused(server: str, message: str) -> None:
    with pytest.raises(WrongInputError, match=message) as caught:
        parse(spec(server))
    assert "hidden" not in f"{caught.value.message} {caught.value.advice}"


def test_passwords_are_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert password(None) is None
    monkeypatch.setenv("SOME_PASSWORD", "a b:c")
    assert password("env:SOME_PASSWORD") == "a b:c"
    (tmp_path / "secret").write_text("from a file \n")
    assert password(f"file:{tmp_path / 'secret'}") == "from a file "
    with pytest.raises(WrongInputError, match="is not set"):
        password("env:NO_SUCH_PASSWORD")
    with pytest.raises(WrongInputError, match="cannot be read"):
        password(f"file:{tmp_path / 'missing'}")


def test_words_that_are_no_addresses() -> None:
    assert not is_address("embedded")
    assert not is_address("local:15")
    assert is_address("postgres://u@h/d")
