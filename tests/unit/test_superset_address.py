"""A Superset of somebody else's: its address, what is looked at, and what is taken away."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from loadstone.errors import LoadstoneError, RefusedError, TargetError, WrongInputError
from loadstone.spec.dashboards import LOG_IN, default_content
from loadstone.spec.target import PartSpec, TargetSpec
from loadstone.targets.connection import ServerConnection
from loadstone.targets.registry import target_for
from loadstone.targets.superset import RemoteSuperset, Superset, accounts_file, people, removal
from loadstone.targets.superset.actions import actions_of
from loadstone.targets.superset.address import SupersetAddress, parse
from loadstone.targets.superset.configuration import address as database_address
from loadstone.targets.superset.examination import examine
from loadstone.targets.superset.names import Names, is_mark
from loadstone.targets.superset.people import Person, read_people
from loadstone.targets.superset.provision import Provisioned
from loadstone.targets.superset.rest import Rest

MARK = "loadstone-0123456789ab"
CONTENT = default_content(6)


# -- an application ----------------------------------------------------------------------------
@dataclass
class Application:
    """What a stand-in for Superset has, and how it behaves."""

    things: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Path of the list: its rows, each with an `id`."""
    answers: dict[tuple[str, str], int] = field(default_factory=dict)
    """Method and path: the status that it answers with."""
    told: dict[str, Any] = field(default_factory=dict)
    """What its log-in page hands over."""
    page: str = "csrf_token"
    headers: dict[str, str] = field(default_factory=dict)
    """Of its log-in page."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    came_from: list[str | None] = field(default_factory=list)
    """The addresses that requests say they come from."""
    url: str = ""

    def answer(self, method: str, target: str, body: Any) -> tuple[int, str]:
        path = urlsplit(target).path
        self.asked.append((method, path, body))
        if (method, path) in self.answers:
            return self.answers[method, path], "{}"
        if path == "/login/":
            told = html.escape(json.dumps({"common": self.told}))
            return 200, f'<div data-bootstrap="{told}"></div>{self.page}'
        if path == "/api/v1/security/login":
            return 200, json.dumps({"access_token": "t"})
        if path == "/api/v1/security/csrf_token/":
            return 200, json.dumps({"result": "c"})
        if method == "GET":
            return 200, json.dumps(self.listed(path, target))
        if method == "DELETE":
            folder, _, number = path.rpartition("/")
            rows = self.things[f"{folder}/"]
            self.things[f"{folder}/"] = [each for each in rows if each["id"] != int(number)]
        return 200, "{}"

    def listed(self, path: str, target: str) -> dict[str, Any]:
        """Two rows at a time, whatever is asked for."""
        rows = self.things.get(path, [])
        words = parse_qs(urlsplit(target).query).get("q", ["{}"])[0]
        page = json.loads(unquote(words)).get("page", 0)
        return {"count": len(rows), "result": rows[2 * page : 2 * page + 2]}


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setenv("ADMIN_WORD", "hunter2")
    found = Application(
        things={
            "/api/v1/security/roles/": [{"id": 1, "name": "Admin"}, {"id": 2, "name": "Alpha"}],
        },
        told={"menu_data": {"navbar_right": {"version_string": "6.1.0"}}},
    )
    found.things["/api/v1/security/roles/"].append({"id": 3, "name": "Gamma"})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16

        def handle_any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            found.came_from.append(self.headers.get("X-Forwarded-For"))
            status, said = found.answer(self.command, self.path, body)
            self.send_response(status)
            for name, value in found.headers.items() if "/login/" in self.path else ():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        do_GET = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def at(application: Application) -> SupersetAddress:
    return SupersetAddress(application.url, "admin", "env:ADMIN_WORD")


# -- the address -------------------------------------------------------------------------------
def spec_of(server: str = "http://admin@127.0.0.1:8088", **fields: Any) -> TargetSpec:
    return TargetSpec(engine="superset", server=server, password="env:ADMIN_WORD", **fields)


def test_the_address_has_the_user_and_no_password() -> None:
    found = parse(spec_of("https://a%40b@bi.example/insights/"))
    assert (found.url, found.user) == ("https://bi.example/insights", "a@b")
    assert found.shown == "https://a%40b@bi.example/insights"
    assert "hunter2" not in json.dumps(found.to_journal())
    assert target_for(spec_of()) is RemoteSuperset
    assert target_for(TargetSpec(engine="superset")) is Superset


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (spec_of("http://127.0.0.1:8088"), "lacks the user"),
        (spec_of("ftp://admin@127.0.0.1"), "cannot be read"),
        (spec_of("http://admin@"), "cannot be read"),
        (spec_of("http://admin:hunter2@127.0.0.1"), "holds a password"),
        (spec_of().model_copy(update={"password": None}), "password is not named"),
        (spec_of("http://admin@192.0.2.1"), "does not reach a warehouse that Loadstone starts"),
        (spec_of(parts={"database": PartSpec(engine="mariadb")}), "is PostgreSQL, not mariadb"),
        (spec_of(parts={"nodes": PartSpec()}), "no part 'nodes'"),
        (spec_of("https://admin@127.0.0.1", ca="/none"), "/none cannot be read"),
        (spec_of(accounts="/none.csv"), "/none.csv cannot be read"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_reached(spec: TargetSpec, told: str) -> None:
    with pytest.raises(WrongInputError, match=told) as raised:
        RemoteSuperset.describe(spec)
    assert "hunter2" not in str(raised.value)


def test_a_warehouse_at_an_address_may_be_anywhere() -> None:
    part = PartSpec(server="postgresql://bi@db.example/star")
    described = RemoteSuperset.describe(
        spec_of("http://admin@bi.example", parts={"database": part})
    )
    assert described["address"] == "http://admin@bi.example"


@pytest.mark.parametrize("name", ["nodes", "workers", "query_cache", "cache.maxmemory"])
def test_what_only_its_owner_sets_is_refused(name: str) -> None:
    with pytest.raises(WrongInputError, match=f"{name} is set by the owner of Superset"):
        RemoteSuperset.setting(spec_of(), name, 1)


def test_accounts_of_a_file_are_as_many_as_there_are() -> None:
    made = target_for(spec_of()).capabilities
    given = target_for(spec_of(accounts="people.csv")).capabilities
    assert given - made == {"many-accounts"}


def test_the_warehouse_is_named_with_its_password() -> None:
    to = ServerConnection("postgresql", "db.example", "b i", "star", 5433, password="p@ss:w/rd")
    told = "postgresql+psycopg2://b%20i:p%40ss%3Aw%2Frd@db.example:5433/star"
    assert database_address(to) == told


# -- before anything is made -------------------------------------------------------------------
def test_an_administrator_of_version_six_may_go_on(application: Application) -> None:
    assert examine(at(application)) == "6.1.0"
    assert {method for method, _, _ in application.asked} == {"GET", "POST"}
    posted = [path for method, path, _ in application.asked if method == "POST"]
    assert posted == ["/api/v1/security/login"]  # nothing was made
    assert set(application.came_from) == {None}  # no limit of theirs is got round


def test_a_superset_of_our_own_is_asked_from_many_addresses(application: Application) -> None:
    with Rest(application.url, spread=True) as rest:
        for _ in range(3):
            rest.get("/api/v1/security/roles/")
    assert None not in application.came_from
    assert len(set(application.came_from)) == 3


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"told": {}}, "its log-in page is none of Superset's"),
        ({"told": {"menu_data": {"navbar_right": {"version_string": "5.0.0"}}}}, "version 5.0.0"),
        ({"told": {"menu_data": {}, "conf": {}}}, "does not say its version"),
        ({"conf": {"AUTH_TYPE": 4}}, "do not log in by a name and a password"),
        ({"feature_flags": {"GLOBAL_ASYNC_QUERIES": True}}, "answers charts later"),
        ({"page": ""}, "has no cross-site token"),
        ({"headers": {"Set-Cookie": "session=x; Secure; HttpOnly"}}, "for https alone"),
        ({"answers": {("GET", "/login/"): 404}}, "it is no Superset"),
        ({"answers": {("GET", "/login/"): 302}}, "sends people who log in elsewhere"),
        ({"answers": {("POST", "/api/v1/security/login"): 401}}, "the password is wrong"),
        ({"answers": {("POST", "/api/v1/security/login"): 429}}, "too many of late"),
        ({"answers": {("GET", "/api/v1/security/users/"): 403}}, "does not administer"),
        ({"answers": {("GET", "/api/v1/security/roles/"): 404}}, "cannot be made there"),
        ({"things": {}}, "no role Gamma"),
    ],
)
def test_each_thing_that_is_in_the_way_has_a_line(
    changed: dict[str, Any], told: str, application: Application
) -> None:
    for name, value in changed.items():
        if name in ("conf", "feature_flags"):
            application.told[name] = value
        else:
            setattr(application, name, value)
    with pytest.raises(TargetError, match=told) as raised:
        examine(at(application))
    assert "hunter2" not in str(raised.value)


def test_one_that_sends_on_to_https_is_named_so(application: Application) -> None:
    application.answers["GET", "/login/"] = 302
    application.headers["Location"] = "https://bi.example/login/?ticket=t0ken"
    with pytest.raises(TargetError, match="sends people on to https") as raised:
        examine(at(application))
    assert "t0ken" not in str(raised.value)


def test_one_that_does_not_answer_is_named() -> None:
    with pytest.raises(TargetError, match="does not answer: Connection refused"):
        examine(SupersetAddress("http://127.0.0.1:9", "admin", "env:ADMIN_WORD"))


# -- what is taken away ------------------------------------------------------------------------
def filled(application: Application) -> None:
    """Things of Loadstone's between those of others."""
    for kind in removal._KINDS:
        rows = application.things.setdefault(kind.path, [])
        number = len(rows) + 1
        names = ("theirs", f"{MARK} ours", "loadstone-theirs", f"of {MARK}", "more")
        rows += [{"id": number + place, kind.name: name} for place, name in enumerate(names)]


def names_in(application: Application) -> set[str]:
    return {each[kind.name] for kind in removal._KINDS for each in application.things[kind.path]}


def test_only_what_has_the_mark_is_taken_away(application: Application) -> None:
    filled(application)
    before = names_in(application)
    removal.remove({"address": at(application).to_journal(), "mark": MARK})
    assert names_in(application) == {name for name in before if MARK not in name}
    removal.remove({"address": at(application).to_journal(), "mark": MARK})  # nothing is left


def test_what_is_gone_meanwhile_is_no_fault(application: Application) -> None:
    filled(application)
    application.answers["DELETE", "/api/v1/chart/2"] = 404
    removal.remove({"address": at(application).to_journal(), "mark": MARK})


def test_an_account_that_has_to_stay_is_of_no_use_any_more(application: Application) -> None:
    filled(application)
    application.answers["DELETE", "/api/v1/security/users/2"] = 422
    with pytest.raises(TargetError, match="keeps 1 accounts of Loadstone's, which cannot log in"):
        removal.remove({"address": at(application).to_journal(), "mark": MARK})
    assert ("PUT", "/api/v1/security/users/2", {"active": False}) in application.asked
    roles = {each["name"] for each in application.things["/api/v1/security/roles/"]}
    assert not any(MARK in name for name in roles)  # the rest was taken away all the same


@pytest.mark.parametrize("mark", ["", "Admin", "loadstone-", "loadstone-0123456789ab "])
def test_a_mark_that_is_none_takes_nothing_away(mark: str, application: Application) -> None:
    with pytest.raises(RefusedError):
        removal.remove({"address": at(application).to_journal(), "mark": mark})
    assert application.asked == []


# -- names and people --------------------------------------------------------------------------
NUMBERS = Provisioned(
    dataset=1,
    dashboards={one.slug: number for number, one in enumerate(CONTENT.dashboards, 1)},
    charts={chart.name: number for number, chart in enumerate(CONTENT.charts, 1)},
    roles={"": 10, **{region: 11 + place for place, region in enumerate(CONTENT.regions)}},
    names=Names(MARK),
)


def test_every_name_has_the_mark() -> None:
    marked, one = Names.marked(), CONTENT.dashboards[0]
    assert is_mark(marked.mark)
    assert marked != Names.marked()
    told = [marked.warehouse, marked.reader, marked.region("ASIA"), marked.slug(one)]
    told += [marked.title(one), marked.title(one.charts[0]), marked.dataset(CONTENT.dataset)]
    told += [marked.login(CONTENT.accounts[0])]
    assert all(marked.mark in name for name in told)
    assert all(len(name) <= 64 for name in told)  # of a role


def test_people_of_a_shared_application_have_browsers_of_their_own() -> None:
    actions = actions_of(CONTENT, NUMBERS)
    assert "${login}" in actions.scenario["headers"]["User-Agent"]
    assert actions.steps[LOG_IN][1]["form"]["username"] == "${login}"
    told = json.dumps(actions.steps)
    assert f"/superset/dashboard/{MARK}-products/" in told
    assert "$.count" not in told  # others have dashboards there, too


def test_accounts_are_made_with_the_roles_of_each(application: Application) -> None:
    with Rest(application.url) as rest:
        assert people.make(rest, CONTENT, NUMBERS, "word")[0] == f"{MARK}-user000001"
    made = [body for method, path, body in application.asked if path == people.USERS]
    assert [each["roles"] for each in made[:2]] == [[10], [10, 11]]


def test_those_who_are_there_become_members_of_roles_of_ours(application: Application) -> None:
    application.things[people.USERS] = [
        {"id": number, "username": f"p{number}"} for number in range(1, 9)
    ]
    given = [Person(f"p{number}", "word") for number in range(1, 8)]
    with Rest(application.url) as rest:
        assert people.join(rest, CONTENT, NUMBERS, given) == given[:6]
        changed = {path: body for method, path, body in application.asked if method == "PUT"}
        assert changed["/api/v1/security/roles/10/users"] == {"user_ids": [1, 2, 3, 4, 5, 6]}
        assert changed["/api/v1/security/roles/11/users"] == {"user_ids": [2]}
        with pytest.raises(TargetError, match="has 2 people, and the load is of 6"):
            people.join(rest, CONTENT, NUMBERS, given[:2])
        with pytest.raises(TargetError, match="no account of the name in line 2"):
            people.join(rest, CONTENT, NUMBERS, [Person("hunter2", "word"), *given])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,password\na,hunter2\n", "lacks a column username or password"),
        ("username,password\n", "has no people"),
        ("username,password\na,hunter2\nb,\n", "lacks a name or a password in line 3"),
        ("username,password\nhunter2,x\nb,x\nhunter2,y\n", "one person in lines 2 and 4"),
    ],
)
def test_a_file_of_accounts_that_is_wrong_is_told_by_its_lines(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(LoadstoneError, match=told) as raised:
        read_people(path)
    assert "hunter2" not in str(raised.value)
    assert "hunter2" not in repr(Person("a", "hunter2"))


def test_their_passwords_are_in_a_file_of_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    words = [[f"p{place}", f"word{place}"] for place in range(6)]
    accounts_file.write(path, CONTENT, [accounts_file.LOGIN, accounts_file.PASSWORD], words)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().splitlines()[:2] == [
        "username,region,address,login,password",
        "user000001,,10.0.0.1,p0,word0",
    ]
