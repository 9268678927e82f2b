"""What looks like a token, an id, a password or the name of a user, and what does not."""

from __future__ import annotations

import pytest

from loadstone.workloads.http.har.markup import first_values, password_fields, password_mark
from loadstone.workloads.http.har.values import (
    is_password,
    looks_random,
    may_be_traced,
    names_csrf,
    names_id,
    names_token,
    stem,
    user_rank,
    words_of,
)


@pytest.mark.parametrize(
    "value",
    [
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "kT9x2Lm4Qz8w",
        "a1b2c3d4e5f6",
        "IjQ0YzNkZmI5Yzc4NTEyMzQi.Zx1y2w.3kq-9sQ_a",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
        "dGhpc0lzUmFuZG9t+/8xQ2==",
        '"33a64df551425fcc55e4d42a148795d9"',
        "xKqZpWvLmNTrYb",
    ],
)
def test_what_a_program_drew_looks_so(value: str) -> None:
    assert looks_random(value)


@pytest.mark.parametrize(
    "value",
    [
        *("", "short1", "dashboard", "showNativeFilters", "world_health", "DASHBOARD_VIZ"),
        *("2026-01-05T09:00:00.000Z", "2026-01-05", "12345678", "1,234,567.89", "10.5.3-beta2"),
        *("application/json", "text/html", "1500ms", "top-10-sales-2026", "dashboard2026"),
        *("a text with spaces 1a2b3c4d", "/superset/dashboard/6/", "en-US", "1fr 2fr"),
    ],
)
def test_what_people_write_does_not(value: str) -> None:
    assert not looks_random(value)


def test_names_say_what_a_value_is() -> None:
    assert words_of("X-CSRFToken") == ["x", "csrf", "token"]
    assert words_of("nativeFiltersKey2") == ["native", "filters", "key", "2"]
    tokens = ("csrf_token", "__RequestVerificationToken", "X-XSRF-TOKEN", "nonce", "state")
    assert all(map(names_token, (*tokens, "native_filters_key", "jsessionid", "sid", "apiKey")))
    assert not any(map(names_token, ("monkey", "page", "keyword", "status")))
    assert names_csrf("csrfmiddlewaretoken")
    assert not names_csrf("access_token")
    assert all(map(names_id, ("id", "item_id", "itemId", "pk", "user[id]")))
    assert not any(map(names_id, ("paid", "grid", "video")))
    assert [stem(each) for each in ("Items", "queries", "address", "bus")] == [
        *("item", "query", "addres", "bus"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("password", "passwd", "user[password]", "j_password", "pwd", "pass", "log_pass"),
        *("password_confirmation", "newPassword2", "client_secret", "Passwort", "pin"),
    ],
)
def test_a_field_for_passwords_is_known_by_its_name(name: str) -> None:
    assert is_password(name, "Tr0ub4dor")
    assert not is_password(name, "")
    assert not is_password(name, "on")


@pytest.mark.parametrize(
    "name",
    [
        *("bypass", "compass", "passenger", "secretary", "remember_password", "showPassword"),
        *("passwordStrength", "password_attempts", "opinion"),
    ],
)
def test_what_only_says_something_of_a_password_is_none(name: str) -> None:
    assert not is_password(name, "strong")


def test_the_field_of_the_user_is_the_surest_one() -> None:
    names = ["name", "email", "login", "username", "j_username", "user[login]", "accountEmail"]
    ranked = sorted((rank, name) for name in names if (rank := user_rank(name)) is not None)
    assert ranked[0][1] in {"username", "j_username"}
    assert len(ranked) == len(names)
    assert user_rank("remember") is None


def test_what_is_worth_a_look() -> None:
    assert may_be_traced("42", "item_id")
    assert may_be_traced("42", "", in_path=True)
    assert not may_be_traced("42", "page")
    assert may_be_traced("abcdef", "csrf_token")
    assert not may_be_traced("created", "sort_key")
    assert may_be_traced("ALFKI42", "customer_id")
    assert not may_be_traced("2026-01-05", "date_id")
    assert not may_be_traced("undefined", "token")
    assert not may_be_traced("dashboard", "")


def test_fields_of_a_page_are_those_that_the_driver_finds() -> None:
    html = """
      <!-- <input name="a" value="comment"> --><script>'<input name="a" value="script">'</script>
      <textarea name="t"><input name="a" value="area"></textarea><input name="t" value="late">
      <input type=checkbox name=c value=1><input type="radio" name="c" value="2" checked>
      <INPUT VALUE='a&amp;b' NAME=a /><input name="a" value="second"><meta name=m content="m > 1">
      <input name="empty"><select name="s"><option value=1></select><input name=s value=late>
    """
    assert first_values(html) == {"c": "2", "a": "a&b", "m": "m > 1", "empty": ""}


def test_fields_for_passwords_are_found_with_how_they_are_written() -> None:
    html = "<input name=u><input name=\"k\" TYPE='password'>"
    assert password_fields(html) == {"k"}
    assert password_mark(html) == "TYPE='password'"
    assert password_mark("<p>type: password</p>") == ""
