"""Values of settings are read as PostgreSQL reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.targets.postgresql import values

BASE_UNITS = {"B": 1, "kB": 1024, "8kB": 8192, "MB": 1024**2, "16MB": 16 * 1024**2}
WRITTEN = {"B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}


@pytest.mark.parametrize(
    ("one", "other", "kind", "unit"),
    [
        ("128MB", "16384", "integer", "8kB"),
        ("1GB", "1024", "integer", "MB"),
        ("1.5MB", "1536", "integer", "kB"),
        ("10min", "600", "integer", "s"),
        ("1d", "86400000", "integer", "ms"),
        ("0x10", "16", "integer", None),
        ("0.9", "0.9", "real", None),
        ("1e-2", "0.01", "real", None),
        ("2ms", "2", "real", "ms"),
        ("t", "on", "bool", None),
        ("NO", "off", "bool", None),
        ("of", "off", "bool", None),
        ("Remote_Write", "remote_write", "enum", None),
        ("false", "off", "enum", None),
        ("it's", "it's", "string", None),
        ("2.5", "2", "integer", None),
        ("3.5", "4", "integer", None),
    ],
)
def test_same(one: str, other: str, kind: str, unit: str | None) -> None:
    assert values.same(one, other, kind, unit)


@pytest.mark.parametrize(
    ("value", "kind", "unit"),
    [
        ("1 zebra", "integer", "kB"),
        ("1min", "integer", "kB"),
        ("1MB", "integer", None),
        ("1mb", "integer", "kB"),
        ("", "integer", None),
        ("o", "bool", None),
        ("2", "bool", None),
        ("", "bool", None),
    ],
)
def test_not_a_value(value: str, kind: str, unit: str | None) -> None:
    with pytest.raises(ValueError, match=r"."):
        values.normalised(value, kind, unit)
    assert not values.same(value, value, kind, unit)


@given(st.integers(1, 10**6), st.sampled_from(sorted(WRITTEN)), st.sampled_from(sorted(BASE_UNITS)))
def test_sizes_in_any_unit(count: int, unit: str, base: str) -> None:
    exact = count * WRITTEN[unit] / BASE_UNITS[base]
    read = int(values.normalised(f"{count}{unit}", "integer", base))
    assert abs(read - exact) <= 0.5 + exact * 1e-15
    spaced = values.normalised(f"  {count} {unit} ", "integer", base)
    assert int(spaced) == read


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8")))
def test_quoting_can_be_undone(value: str) -> None:
    """By the rules of a configuration file: doubled quotes, and backslashes that escape."""
    inside = values.quoted(value)[1:-1]
    assert "'" not in inside.replace("''", "")
    assert inside.replace("''", "'").replace("\\\\", "\\") == value
