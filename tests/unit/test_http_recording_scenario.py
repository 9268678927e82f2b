"""Requests of a scenario: their values are those of live answers, their checks can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import ORIGIN, TOKEN, Recorded, logged_in

from loadstone.workloads.http.har.choosing import choose
from loadstone.workloads.http.har.composing import Composed, compose
from loadstone.workloads.http.har.reading import read_har
from loadstone.workloads.http.scenario import Scenario

KEY = "kT9x2Lm4Qz8w7Rp1"
OTHER = "Zb3Yc5Xd7We9Vf1u"
MULTIPART = (
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\none\ntwo\r\n'
    '--x\r\nContent-Disposition: form-data; name="b"\r\n\r\n\r\n--x--\r\n'
)


def composed(recorded: Recorded, folder: Path, *hosts: str) -> Composed:
    recording = read_har(recorded.write(folder / "r.har"))
    found = compose(choose(recording, hosts, keep_static=False), recording.entries, 1.0)
    Scenario.model_validate(found.scenario)
    return found


def requests(found: Composed) -> list[dict[str, Any]]:
    """All requests in their order."""
    scenario = found.scenario
    parts = [scenario.get("log_in"), *scenario["transactions"], scenario.get("log_out")]
    steps = [step for part in parts if part for step in part["steps"]]
    return [each for step in steps for each in step.get("parallel", [step])]


def pair(first: dict[str, Any], second: dict[str, Any], folder: Path) -> tuple[Any, Any]:
    """The requests of two entries of which the second uses what the first answered."""
    recorded = Recorded().add(**{"method": "GET", "path": "/first", **first})
    recorded.add(**{"method": "GET", "path": "/second", **second})
    one, two = requests(composed(recorded, folder))
    return one, two


# -- where values come from ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "taken"),
    [
        (
            {"answer": f'<input name="csrf" value="{KEY}">'},
            {"method": "POST", "form": {"csrf": KEY, "a": "1"}},
            ({"form": "csrf"}, "form", {"csrf": "${csrf}", "a": "1"}),
        ),
        (
            {"answer": f"<meta name='csrf-token' content='{KEY}'>"},
            {"headers": {"X-CSRF-Token": KEY}},
            ({"form": "csrf-token"}, "headers", {"x-csrf-token": "${csrf_token}"}),
        ),
        (
            {"answer": {"data": [{"a b": KEY}]}},
            {"path": f"/second?key={KEY}"},
            ({"json": "$.data[0]['a b']"}, "get", "/second?key=${second_key}"),
        ),
        (
            {"answer": {"result": [{"id": 3}, {"id": 42}]}, "path": "/api/items"},
            {"path": "/api/items/42/notes"},
            ({"json": "$.result[1].id"}, "get", "/api/items/${item_id}/notes"),
        ),
        (
            {"answer": {"item_id": 42}},
            {"method": "POST", "data": {"item_id": 42, "deep": [{"item_id": "42"}]}},
            ({"json": "$.item_id"}, "json", {"item_id": "${item_id}", "deep": [{"item_id": "42"}]}),
        ),
        (
            {"answer_headers": {"X-Key": KEY}},
            {"headers": {"X-Key": KEY}},
            ({"header": "x-key"}, "headers", {"x-key": "${second_key}"}),
        ),
        (
            {"answer_headers": {"Set-Cookie": f"xsrf={KEY}; Path=/"}},
            {"headers": {"X-Xsrf": KEY}},
            ({"cookie": "xsrf"}, "headers", {"x-xsrf": "${xsrf}"}),
        ),
        (
            {"answer": f"<script>window.boot = {{key: '{KEY}', a: 1}}</script>"},
            {"path": f"/second/{KEY}"},
            ({"regex": "window\\.boot = \\{key: '([^']+)"}, "get", "/second/${second_value}"),
        ),
        (
            {"answer": {"token": KEY}},
            {"path": f"/second?state=%7B%22t%22%3A%22{KEY}%22%7D"},
            ({"json": "$.token"}, "get", "/second?state=%7B%22t%22%3A%22${state}%22%7D"),
        ),
        (
            {"answer": {"token": KEY}},
            {"method": "POST", "body": ("text/xml", f"<a>{KEY}</a>")},
            ({"json": "$.token"}, "body", "<a>${second_token}</a>"),
        ),
    ],
)
def test_a_value_is_extracted_from_the_answer_that_holds_it(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], taken: tuple[Any, str, Any]
) -> None:
    rule, field, expected = taken
    one, two = pair(first, second, tmp_path)
    assert list(one["extract"].values()) == [rule]
    assert two[field] == expected


def test_the_newest_earlier_answer_wins_and_one_at_the_same_time_does_not(tmp_path: Path) -> None:
    recorded = Recorded()
    for path in ("/a", "/b"):
        recorded.add("GET", path, answer={"key": KEY})
    recorded.add("GET", f"/c?key={KEY}").add("GET", "/d", answer={"key": KEY}, at_once=True)
    found = requests(composed(recorded, tmp_path))
    assert ["extract" in each for each in found] == [False, True, False, False]


def test_what_the_log_in_tells_is_kept_for_those_who_leave_early(tmp_path: Path) -> None:
    page = f'<input name="csrf_token" value="{KEY}">'
    recorded = logged_in()
    recorded.entries[2]["response"]["content"]["text"] = page
    recorded.page("/items", page).add("POST", "/logout", form={"csrf_token": KEY})
    found = composed(recorded, tmp_path)
    log_in, log_out = found.scenario["log_in"], found.scenario["log_out"]
    rule = {"csrf_token_2": {"form": "csrf_token"}}
    assert log_in["steps"][1]["extract"] == rule
    assert found.scenario["transactions"][0]["steps"][0]["extract"] == rule
    assert log_out["steps"][0]["form"] == {"csrf_token": "${csrf_token_2}"}


def test_a_small_number_is_only_an_id_of_the_same_kind_of_thing(tmp_path: Path) -> None:
    answer = {"roles": [{"id": 2}], "charts": [{"id": 2}]}
    one, two = pair({"answer": answer}, {"path": "/charts/2?page=2"}, tmp_path)
    assert one["extract"] == {"chart_id": {"json": "$.charts[0].id"}}
    assert two["get"] == "/charts/${chart_id}?page=2"
    one, two = pair({"answer": {"roles": [{"id": 2}]}}, {"path": "/charts/2"}, tmp_path)
    assert "extract" not in one
    assert two["get"] == "/charts/2"


def test_values_with_meaning_of_their_own_stay(tmp_path: Path) -> None:
    answer = {"id": "created", "key": "2026-01-05", "token": "default", "total": 100000}
    path = "/second?sort_id=created&key=2026-01-05&token=default&n=100000"
    one, two = pair({"answer": answer}, {"path": path}, tmp_path)
    assert "extract" not in one
    assert two["get"] == path


def test_a_regular_expression_holds_no_name_and_no_other_token(tmp_path: Path) -> None:
    recorded = logged_in()
    page = f"<p data-user='alice' data-other='{OTHER}' data-key='{KEY}'></p>"
    recorded.page("/home2", page).pause(3).add("GET", f"/x/{KEY}")
    found = requests(composed(recorded, tmp_path))
    assert [each["extract"] for each in found[2:] if "extract" in each] == [
        {"x_value": {"regex": "' data-key='([^']+)"}}
    ]


def test_a_cookie_that_a_script_copies_is_taken_from_the_user(tmp_path: Path) -> None:
    recorded = (
        Recorded()
        .page("/")
        .add("POST", "/api", headers={"X-CSRFToken": KEY, "Cookie": f"csrftoken={KEY}"})
    )
    found = composed(recorded, tmp_path)
    one, two = requests(found)
    assert one["extract"] == {"csrftoken": {"cookie": "csrftoken"}}
    assert two["headers"] == {"x-csrftoken": "${csrftoken}"}
    assert found.untraced == ()


def test_without_cookies_the_usual_one_is_taken_and_told(tmp_path: Path) -> None:
    recorded = Recorded().page("/").add("POST", "/api", headers={"X-CSRFToken": KEY})
    found = composed(recorded, tmp_path)
    one, _ = requests(found)
    assert one["extract"] == {"csrftoken": {"cookie": "csrftoken", "default": ""}}
    (untraced,) = found.untraced
    assert untraced.where == "header x-csrftoken"
    assert "taken from the cookie csrftoken" in untraced.becomes


def test_what_comes_from_nowhere_is_listed_and_a_token_is_not_kept(tmp_path: Path) -> None:
    recorded = Recorded().page(f"/?api_key={KEY}").add("GET", f"/page/{OTHER}")
    found = composed(recorded, tmp_path)
    one, two = requests(found)
    assert one["get"] == "/?api_key=${api_key}"
    assert two["get"] == f"/page/{OTHER}"
    assert found.scenario["secrets"] == {"api_key": "env:LOADSTONE_API_KEY"}
    assert [(each.number, each.where, each.becomes) for each in found.untraced] == [
        (1, "query api_key", "it is the secret api_key, env:LOADSTONE_API_KEY"),
        (2, "path", "it stays as it was recorded"),
    ]


def test_ids_of_requests_are_new_in_each(tmp_path: Path) -> None:
    (one,) = requests(
        composed(Recorded().add("POST", "/pay", headers={"Idempotency-Key": KEY}), tmp_path)
    )
    assert one["headers"] == {"idempotency-key": "${unique}"}


# -- requests --------------------------------------------------------------------------------------


def test_headers_are_those_of_the_page_not_those_of_the_browser(tmp_path: Path) -> None:
    headers = {
        "Accept": "application/json, */*",
        "Accept-Encoding": "gzip",
        "Content-Type": "application/json",
        "Cookie": "a=b",
        "If-None-Match": "x",
        "Origin": ORIGIN,
        "Referer": f"{ORIGIN}/",
        "Sec-Fetch-Mode": "cors",
        "User-Agent": "Mozilla/5.0",
        "X-Requested-With": "XMLHttpRequest",
        "HX-Current-URL": f"{ORIGIN}/list?a=1",
        "X-Lines": "a\nb",
    }
    recorded = Recorded().add("POST", "/x", headers=headers, data={"a": 1})
    (one,) = requests(composed(recorded, tmp_path))
    assert one["headers"] == {
        "accept": "application/json, */*",
        "x-requested-with": "XMLHttpRequest",
        "hx-current-url": "${base}/list?a=1",
        "x-lines": "a, b",
    }


def test_a_token_against_forgery_travels_with_where_it_comes_from(tmp_path: Path) -> None:
    recorded = logged_in()
    sent = {"Referer": f"{ORIGIN}/login?next=%2Fa", "Origin": ORIGIN}
    recorded.entries[1]["request"]["headers"] += [
        {"name": name, "value": value} for name, value in sent.items()
    ]
    recorded.page("/items")
    found = requests(composed(recorded, tmp_path))
    assert found[1]["headers"] == {"referer": "${base}/login?next=%2Fa", "origin": "${base}"}
    assert found[1]["form"]["csrf_token"] == "${csrf_token}"
    assert TOKEN not in str(found)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"form": {"a": "", "b": "ü &"}}, {"form": {"a": "", "b": "ü &"}}),
        (
            {"body": ("application/x-www-form-urlencoded", "a=1&a=2&b=")},
            {"form": [["a", "1"], ["a", "2"], ["b", ""]]},
        ),
        (
            {"body": ("application/x-www-form-urlencoded", "plain")},
            {
                "headers": {"content-type": "application/x-www-form-urlencoded"},
                "body": "plain",
            },
        ),
        (
            {"data": {"a": [1, 1.5, True, None, "${x}"], "b": {}}},
            {"json": {"a": [1, 1.5, True, None, "$${x}"], "b": {}}},
        ),
        (
            {"body": ("application/vnd.api+json; v=1", '{"a": 1}')},
            {"headers": {"content-type": "application/vnd.api+json; v=1"}, "json": {"a": 1}},
        ),
        (
            {"body": ("application/json", "{broken")},
            {"headers": {"content-type": "application/json"}, "body": "{broken"},
        ),
        (
            {
                "body": (
                    "multipart/form-data; boundary=x",
                    MULTIPART,
                )
            },
            {
                "headers": {"content-type": "multipart/form-data; boundary=x"},
                "body": MULTIPART,
            },
        ),
    ],
)
def test_bodies_keep_their_form(
    tmp_path: Path, sent: dict[str, Any], expected: dict[str, Any]
) -> None:
    (one,) = requests(composed(Recorded().add("POST", "/x", **sent), tmp_path))
    assert {name: each for name, each in one.items() if name not in ("request", "post")} == expected


def test_addresses_are_kept_as_they_are_spelt(tmp_path: Path) -> None:
    path = "/a%20b/c+d;v=1/${x}?q=a+b%20c&empty&e=&%24top=1"
    (one,) = requests(composed(Recorded().add("GET", path), tmp_path))
    assert one["get"] == path.replace("${x}", "$${x}")


def test_another_host_is_asked_by_its_whole_address(tmp_path: Path) -> None:
    recorded = Recorded().page("/").add("GET", "https://api.example:8443/items")
    found = composed(recorded, tmp_path, "api.example")
    assert requests(found)[1]["get"] == "https://api.example:8443/items"
    assert found.scenario["hosts"] == ["https://api.example:8443"]


def test_what_is_expected_can_fail(tmp_path: Path) -> None:
    recorded = logged_in().page("/items").add("GET", "/api", answer={"a": 1})
    recorded.add("GET", "/gone", status=404, answer="no").add("GET", "/text", answer="a")
    found = requests(composed(recorded, tmp_path))
    mark = {"no_text": ["type='password'"]}
    assert [each.get("expect") for each in found] == [
        None,
        mark,
        mark,
        {"header": {"content-type": "json"}},
        {"status": [404]},
        mark,
    ]


def test_a_redirect_to_a_foreign_host_is_kept_and_told(tmp_path: Path) -> None:
    to = {"Location": "https://sso.example/"}
    found = composed(Recorded().page("/", status=302, answer_headers=to), tmp_path)
    assert requests(found)[0]["redirects"] == "keep"
    assert "redirects to another host" in found.notes[0]


def test_requests_of_one_operation_have_names_of_their_own(tmp_path: Path) -> None:
    recorded = Recorded().page("/items").add("GET", "/api/items").add("GET", "/items/42")
    assert [each["request"] for each in requests(composed(recorded, tmp_path))] == [
        *("get items", "get items 2", "get item"),
    ]


def test_a_token_that_exports_leave_out_is_told(tmp_path: Path) -> None:
    recorded = Recorded().add("POST", "/api/session", answer={"access_token": KEY})
    recorded.add("GET", "/api/items")
    assert any("answers access_token" in note for note in composed(recorded, tmp_path).notes)
    recorded.add("GET", "/api/more", headers={"Authorization": f"Bearer {KEY}"})
    found = composed(recorded, tmp_path)
    assert not any("answers access_token" in note for note in found.notes)
    assert requests(found)[2]["headers"] == {"authorization": "Bearer ${authorization}"}
    assert "secrets" not in found.scenario


def test_users_do_not_wait_where_nobody_did_and_it_is_told(tmp_path: Path) -> None:
    found = composed(Recorded().page("/"), tmp_path)
    assert "think_time" not in found.scenario
    assert "has no pause" in found.notes[0]
    found = composed(Recorded().page("/a").pause(4).page("/b"), tmp_path)
    assert found.scenario["think_time"] == {
        "distribution": "negative-exponential",
        "mean_s": 4.0,
    }
    assert found.scenario["order"] == "in-turn"
