"""Scripts are cut at semicolons that end a statement, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.targets.postgresql.script import statements


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ; ;\n", []),
        ("SELECT 1", ["SELECT 1"]),
        ("a; b;", ["a", "b"]),
        ("a 'x;y'; b", ["a 'x;y'", "b"]),
        ("a 'it''s;'; b", ["a 'it''s;'", "b"]),
        (r"a E'\';'; b", [r"a E'\';'", "b"]),
        (r"a '\'; b", [r"a '\'", "b"]),
        ('a "odd;name"; b', ['a "odd;name"', "b"]),
        ("a -- no; end\n; b", ["a -- no; end", "b"]),
        ("a /* no; /* nested; */ ; */ ; b", ["a /* no; /* nested; */ ; */", "b"]),
        ("-- only a comment;\n", []),
        ("/* only; */ ;", []),
        ("a $$ x; $tag$ y; $$; b", ["a $$ x; $tag$ y; $$", "b"]),
        ("a $f$ x; $$ ; $f$; b", ["a $f$ x; $$ ; $f$", "b"]),
        ("a $1; b $2", ["a $1", "b $2"]),
        ("price$x$; b", ["price$x$", "b"]),
    ],
)
def test_statements(script: str, expected: list[str]) -> None:
    assert list(statements(script)) == expected


PIECES = st.sampled_from(
    ["SELECT 1", "x 'a;b'", '"c;d"', "/* ; */ y", "$q$ ; $q$", "z -- ;\n", "E'\\';'"]
)


@given(st.lists(st.lists(PIECES, min_size=1, max_size=4).map(" ".join), max_size=6))
def test_joined_statements_come_apart(parts: list[str]) -> None:
    assert list(statements(";\n".join(parts))) == [each.strip() for each in parts]


@given(st.text(alphabet="ab;'\"$-/*\\\nE ", max_size=60))
def test_nothing_is_lost_on_any_text(script: str) -> None:
    joined = "".join(statements(script))
    wanted = [each for each in script if each in "ab"]
    found = [each for each in joined if each in "ab"]
    assert len(found) <= len(wanted)
    assert all(each in script for each in statements(script))
