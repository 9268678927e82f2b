"""No secret of a recording gets into a file or onto the terminal, in whatever place it stood."""

from __future__ import annotations

import base64
import csv
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import pytest
from command_line import loadstone
from hypothesis import given
from hypothesis import strategies as st
from recordings import ORIGIN, PASSWORD, TOKEN, Recorded, logged_in
from ruamel.yaml import YAML

from loadstone.errors import ExitCode, RefusedError, WrongInputError
from loadstone.workloads.http.har.choosing import choose
from loadstone.workloads.http.har.composing import Composed, compose
from loadstone.workloads.http.har.hiding import Hidden
from loadstone.workloads.http.har.reading import read_har
from loadstone.workloads.http.har.writing import write
from loadstone.workloads.http.reading import parse_scenario

pytestmark = pytest.mark.usefixtures("own_places")

COOKIE = "qXw82kLmP0z.Rt5Yv9"
ENCODED = "s%3AmP4z8Kq.Lw7Xv2"
BEARER = "tok_9fK2mQ8xW4pZ7rT1"
BASIC = base64.b64encode(b"alice:B4sicSecret").decode()


def composed(recorded: Recorded, folder: Path) -> Composed:
    recording = read_har(recorded.write(folder / "r.har"))
    return compose(choose(recording, (), keep_static=False), recording.entries, 1.0)


def imported(recorded: Recorded, *options: str) -> tuple[str, dict[str, Any]]:
    """All that is written and said, and the scenario."""
    recorded.write(Path("r.har"))
    done = loadstone("import", "har", "r.har", "--output", "s.yaml", *options)
    assert done.returncode == ExitCode.OK, done.stderr
    files = [Path("s.yaml").read_text(), *(each.read_text() for each in Path().glob("s-*.csv"))]
    scenario: dict[str, Any] = YAML(typ="safe", pure=True).load(files[0])
    parse_scenario(files[0], "s.yaml")
    return "\n".join([*files, done.stdout, done.stderr]), scenario


def everywhere(user: str, password: str) -> Recorded:
    """A recording in which a person's name, password and cookies stand wherever they can."""
    cookie = {"Cookie": f"sid={COOKIE}"}
    recorded = logged_in(user, password)
    recorded.entries[1]["response"]["headers"].append(
        {"name": "Set-Cookie", "value": f"sid={COOKIE}; Path=/"}
    )
    recorded.page(f"/users/{quote(user, safe='')}/start", headers=cookie).pause(3)
    recorded.add("POST", "/api/profile", data={"owner": user, "old_password": password})
    recorded.add("POST", "/api/again", data={"text": f"I am {user}, {password}!"})
    recorded.add("GET", f"/find?q={quote_plus(user)}&p={quote_plus(password)}", headers=cookie)
    recorded.add("GET", f"/session/{COOKIE}?sid={COOKIE}", headers=cookie)
    encoded = {"Cookie": f"signed={ENCODED}", "X-Signed": unquote(ENCODED)}
    recorded.add("GET", f"/signed/{ENCODED}", headers=encoded)
    recorded.add("POST", "/raw", body=("text/plain", f"user={user};pass={password}"))
    recorded.add("GET", "/bearer", headers={"Authorization": f"Bearer {BEARER}"})
    recorded.add("GET", f"/bearer/{BEARER}")
    recorded.add("GET", f"https://me:In4Address@app.example/x?t={quote(password, safe='')}")
    recorded.add("GET", f"/static/{quote(password, safe='')}.js", kind="script")
    recorded.add("GET", f"https://other.example/{COOKIE}/{BEARER}", headers={"Cookie": "a=b"})
    return recorded


@pytest.mark.parametrize("user", ["alice", "alice@example.org", "Zoë Müller", "a+b%c"])
@pytest.mark.parametrize("password", [PASSWORD, "p&s=w?r/d %41", 'quo"te\\d', "pässwörd-9"])
def test_no_secret_is_written_or_said(user: str, password: str) -> None:
    told, scenario = imported(everywhere(user, password))
    for secret in (password, COOKIE, ENCODED, BEARER, "In4Address", TOKEN):
        assert Hidden([secret]).pattern_in(told.replace("${password}", "")) is None, secret
    log_in = scenario["log_in"]["steps"][1]
    assert log_in["form"] == {
        "csrf_token": "${csrf_token}",
        "username": "${username}",
        "password": "${password}",
    }
    assert scenario["secrets"]["password"] == "env:LOADSTONE_PASSWORD"
    rows = csv.reader(Path("s-people.csv").read_text().splitlines())
    assert list(rows) == [["username"], [user]]
    assert user not in Path("s.yaml").read_text()


def test_each_occurrence_becomes_a_reference(tmp_path: Path) -> None:
    found = composed(everywhere("alice", PASSWORD), tmp_path)
    steps = [
        own
        for each in found.scenario["transactions"]
        for step in each["steps"]
        for own in step.get("parallel", [step])
    ]
    texts = [each.get("get") or each.get("json") or each.get("body") for each in steps]
    assert texts == [
        "/users/${username}/start",
        {"owner": "${username}", "old_password": "${password}"},
        {"text": "I am ${username}, ${password}!"},
        "/find?q=${username}&p=${password}",
        "/session/${sid}?sid=${sid}",
        "/signed/${signed_value}",
        "user=${username};pass=${password}",
        "/bearer",
        "/bearer/${bearer_value}",
        "/x?t=${password}",
    ]
    assert steps[5]["headers"] == {"x-signed": "${signed_value}"}
    assert steps[7]["headers"] == {"authorization": "${authorization}"}


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        ({"form": {"user": "ann", "pwd": PASSWORD}}, "form"),
        ({"data": {"login": {"email": "ann", "passwd": PASSWORD}}}, "json"),
        ({"data": {"user": "ann", "pin": 48151623}}, "json"),
        (
            {
                "body": (
                    "multipart/form-data; boundary=x",
                    '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nann\r\n'
                    '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n'
                    f"{PASSWORD}\r\n--x--\r\n",
                )
            },
            "body",
        ),
    ],
)
def test_a_log_in_of_any_kind_is_found(tmp_path: Path, sent: dict[str, Any], where: str) -> None:
    recorded = Recorded().add("POST", "/in", **sent).pause(3).page("/items")
    found = composed(recorded, tmp_path)
    assert found.user_name == "ann"
    step = str(found.scenario["log_in"]["steps"][0][where])
    assert "${username}" in step
    assert "${password}" in step
    assert PASSWORD not in str(found.scenario)
    assert "48151623" not in str(found.scenario)


def test_a_field_is_a_password_where_the_page_hides_it(tmp_path: Path) -> None:
    page = '<input name="x1"><input name="x2" type="password">'
    recorded = Recorded().page("/in", page)
    recorded.add("POST", "/in", form={"x1": "ann", "x2": PASSWORD}).pause(3).page("/items")
    found = composed(recorded, tmp_path)
    assert found.scenario["log_in"]["steps"][1]["form"] == {
        "x1": "${username}",
        "x2": "${password}",
    }


def test_a_log_in_in_vain_is_left_out(tmp_path: Path) -> None:
    recorded = logged_in()
    again = logged_in().entries[1]
    again["request"]["postData"]["text"] = again["request"]["postData"]["text"].replace(
        PASSWORD, "mistyped-7"
    )
    again["response"] = logged_in().entries[0]["response"]
    again["startedDateTime"] = recorded.entries[0]["startedDateTime"]
    recorded.entries.insert(1, again)
    recorded.page("/items")
    found = composed(recorded, tmp_path)
    assert len(found.scenario["log_in"]["steps"]) == 2
    (left_out, _) = found.left_out
    assert left_out.reason.startswith("a log-in that was not let in")
    assert "mistyped-7" in found.hidden


def test_what_only_says_something_of_a_password_stays_as_it_was(tmp_path: Path) -> None:
    data = {"show_password": True, "passwordAge": 3, "remember_password": "on", "other": True}
    found = composed(logged_in().add("POST", "/api/x", data=data), tmp_path)
    parse_scenario(_written(found, tmp_path), "s.yaml")
    (step,) = found.scenario["transactions"][0]["steps"]
    assert step["json"] == {
        "show_password": "${plain}",
        "passwordAge": "${plain_2}",
        "remember_password": "${plain_3}",
        "other": True,
    }
    assert found.scenario["values"] == {"plain": True, "plain_2": 3, "plain_3": "on"}


def test_an_ordinary_word_is_only_the_user_where_users_stand(tmp_path: Path) -> None:
    recorded = logged_in("admin").page("/admin/list").page("/users/admin")
    recorded.add("POST", "/api", data={"owner": "x", "username": "admin", "tab": "admin"})
    found = composed(recorded, tmp_path)
    one, two, three = found.scenario["transactions"][0]["steps"]
    assert (one["get"], two["get"]) == ("/admin/list", "/users/${username}")
    assert three["json"] == {"owner": "x", "username": "${username}", "tab": "admin"}


def test_basic_credentials_are_a_secret_as_a_whole(tmp_path: Path) -> None:
    recorded = Recorded().page("/", headers={"Authorization": f"Basic {BASIC}"})
    found = composed(recorded, tmp_path)
    assert found.scenario["secrets"] == {"authorization": "env:LOADSTONE_AUTHORIZATION"}
    assert {BASIC, "B4sicSecret"} <= found.hidden
    assert "B4sicSecret" not in _written(found, tmp_path)


# -- the search that can fail ----------------------------------------------------------------------


def _written(found: Composed, folder: Path) -> str:
    output = folder / "written.yaml"
    write(found, Path("r.har"), output)
    return output.read_text(encoding="utf-8")


PLACES: list[dict[str, Any]] = [
    {"get": "/x/{secret}"},
    {"get": "/x", "headers": {"x-a": "{secret}"}},
    {"post": "/x", "json": {"a": ["{secret}"]}},
    {"post": "/x", "form": {"a": "{secret}"}},
    {"post": "/x", "body": "a\n{secret}"},
    {"get": "/x", "extract": {"a": {"regex": "b={secret}(.)"}}},
    {"get": "/x", "expect": {"no_text": ["{secret}"]}},
]


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("secret", [PASSWORD, COOKIE, "p&s=w?r/d %41", 'quo"te\\d', "pin9"])
def test_a_secret_that_is_planted_in_a_scenario_stops_the_writing(
    tmp_path: Path, place: dict[str, Any], secret: str
) -> None:
    def filled(data: Any) -> Any:
        if isinstance(data, dict):
            return {name: filled(each) for name, each in data.items()}
        if isinstance(data, list):
            return [filled(each) for each in data]
        return data.replace("{secret}", secret)

    found = composed(Recorded().page("/"), tmp_path)
    planted = {"transactions": [{"name": "x", "steps": [filled(place)]}]}
    leaking = replace(found, scenario=planted, hidden=frozenset({secret}))
    with pytest.raises(RefusedError) as caught:
        write(leaking, Path("r.har"), tmp_path / "s.yaml")
    assert secret not in caught.value.message
    assert "transactions[0].steps[0]" in caught.value.message
    assert list(tmp_path.glob("s*")) == []
    write(replace(leaking, hidden=frozenset({"another"})), Path("r.har"), tmp_path / "s.yaml")


@pytest.mark.parametrize("part", ["notes", "user_name", "name", "values"])
def test_so_does_one_in_a_note_in_a_name_or_among_the_users(tmp_path: Path, part: str) -> None:
    found = composed(logged_in().page("/items"), tmp_path)
    changed: dict[str, Any] = {
        "notes": {"notes": (f"it is {COOKIE}",)},
        "user_name": {"origin": f"https://{COOKIE}"},
        "name": {"scenario": {**found.scenario, "transactions": [{"name": COOKIE, "steps": []}]}},
        "values": {"scenario": {**found.scenario, "values": {"a": COOKIE}}},
    }[part]
    leaking = replace(found, hidden=frozenset({COOKIE}), **changed)
    with pytest.raises(RefusedError):
        write(leaking, Path("r.har"), tmp_path / "s.yaml")
    assert list(tmp_path.glob("s*")) == []


def test_a_password_that_is_an_ordinary_word_of_the_application_is_refused() -> None:
    recorded = logged_in("boss", "admin").page("/admin/list")
    recorded.add("POST", "/api", data={"text": "for the admin alone"}).write(Path("r.har"))
    done = loadstone("import", "har", "r.har", "--output", "s.yaml")
    assert done.returncode == ExitCode.REFUSED
    assert "would stand in transactions[0].steps[1].json.text" in done.stderr
    assert not Path("s.yaml").exists()


def test_a_value_that_is_the_password_and_an_ordinary_word_is_a_secret_of_its_own() -> None:
    _, scenario = imported(logged_in("boss", "admin").page("/admin/list").page("/administrator"))
    steps = scenario["transactions"][0]["steps"]
    assert [each["get"] for each in steps] == ["/${value}/list", "/administrator"]
    assert scenario["secrets"]["value"] == "env:LOADSTONE_VALUE"


def test_a_password_that_is_the_users_name_is_not_the_example_of_a_user() -> None:
    imported(logged_in("alice", "alice").page("/items"))
    assert Path("s-people.csv").read_text() == "username\nuser-1\n"


@pytest.mark.parametrize("secret", ["a b&c", "ä/ö", 'x"y', "100%", "<tag>&amp"])
def test_each_spelling_of_a_secret_is_seen(secret: str) -> None:
    hidden = Hidden([secret])
    for spelt in (secret, quote(secret), quote(secret, safe=""), quote_plus(secret)):
        assert hidden.pattern_in(f"see {spelt}.") is not None
    assert hidden.pattern_in("nothing") is None
    assert Hidden([]).pattern_in("nothing") is None


def test_a_short_secret_stands_by_itself_and_a_long_one_anywhere() -> None:
    assert Hidden(["admin"]).pattern_in("administrator") is None
    assert Hidden(["admin"]).pattern_in("/admin/") is not None
    assert Hidden(["abcdefghijkl"]).pattern_in("xabcdefghijklx") is not None


# -- what is written is what was meant -------------------------------------------------------------

TEXT = st.text(
    alphabet=st.characters(exclude_categories=["Cs"])
    | st.sampled_from("${}:#-'\"\n\r\t !%&*\x85\u2028\u2029\ufeff"),
    max_size=30,
)


@given(st.dictionaries(TEXT.filter(bool), TEXT, min_size=1, max_size=4), TEXT)
def test_any_text_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, str], body: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    steps = [
        {"post": "/x", "request": "a", "json": data},
        {"post": "/x", "request": "b", "body": body},
    ]
    scenario = {"transactions": [{"name": "x", "steps": steps}]}
    found = Composed(scenario, ORIGIN, "", {}, frozenset(), (), (), (body,))
    output = folder / "s.yaml"
    write(found, folder / "r.har", output)
    assert YAML(typ="safe", pure=True).load(output.read_text(encoding="utf-8")) == scenario


ANYTHING = (
    st.none() | st.integers() | TEXT | st.sampled_from(["http://[", "//", "a=b; c", "{", "%"])
)
FIELDS = (
    *("method", "url", "headers", "postData", "status", "text", "mimeType", "redirectURL"),
    *("_resourceType", "time", "pageref", "value", "name"),
)


def _changed(data: Any, field: str, value: Any) -> Any:
    """The same with each field of a name changed."""
    if isinstance(data, dict):
        return {
            name: value if name == field else _changed(each, field, value)
            for name, each in data.items()
        }
    return [_changed(each, field, value) for each in data] if isinstance(data, list) else data


@given(st.sampled_from(FIELDS), ANYTHING, st.integers(0, 17))
def test_whatever_a_recording_holds_it_is_imported_or_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, field: str, value: Any, at: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    recorded = everywhere("alice", PASSWORD)
    recorded.entries[at % len(recorded.entries)] = _changed(
        recorded.entries[at % len(recorded.entries)], field, value
    )
    try:
        found = composed(recorded, folder)
        write(found, folder / "r.har", folder / "s.yaml")
    except (WrongInputError, RefusedError) as error:
        assert PASSWORD not in error.message
        return
    text = (folder / "s.yaml").read_text(encoding="utf-8")
    assert Hidden(found.hidden).pattern_in(text.replace("${password}", "")) is None
    parse_scenario(text, "s.yaml")
