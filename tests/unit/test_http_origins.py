"""Which servers the users of a scenario connect to, and with how many connections each."""

from __future__ import annotations

from typing import Any

import pytest
from sample_web import PAGE, of_steps, scenario

from loadstone.targets.connection import Reach
from loadstone.workloads.http.origins import reaches_of
from loadstone.workloads.http.scenario import Scenario

URL = "https://app.example"
BASE = "app.example", 443


def reached(given: dict[str, Any], url: str = URL) -> dict[tuple[str, int], int]:
    found = reaches_of(Scenario.model_validate(given), url)
    assert len({(each.host, each.port) for each in found}) == len(found)
    return {(each.host, each.port): each.each for each in found}


def side_by_side(*urls: str, **fields: Any) -> dict[str, Any]:
    together = [{"request": str(number), "get": url} for number, url in enumerate(urls)]
    return of_steps({"parallel": together}, **fields)


def test_one_request_after_the_other_takes_one_connection():
    assert reached(of_steps({"get": "/a"}, {"get": "/b"}, {"pause_s": 1})) == {BASE: 1}
    assert reaches_of(Scenario.model_validate(scenario()), "http://[::1]:8080/x") == (
        Reach("::1", 8080),
    )


def test_as_many_as_are_asked_at_the_same_time_up_to_the_limit():
    assert reached(side_by_side("/a", "/b", "/c")) == {BASE: 3}
    assert reached(side_by_side("/a", "/b", "/c", connections=2)) == {BASE: 2}
    steps = side_by_side("/a", "/b")["transactions"][0]["steps"]
    for part in ("log_in", "first_visit"):
        assert reached(scenario(**{part: {"steps": steps}})) == {BASE: 2}


def test_each_server_has_those_of_its_own_requests():
    hosts = ["static.example:8443", "http://cdn.example"]
    given = side_by_side(
        "/a",
        "https://static.example:8443/b",
        "https://static.example:8443/c?d=${user}",
        "http://CDN.example/e",
        hosts=hosts,
    )
    assert reached(given) == {BASE: 1, ("static.example", 8443): 2, ("cdn.example", 80): 1}


def test_an_absolute_address_of_the_application_is_the_application():
    assert reached(side_by_side("/a", f"{URL}:443/b", "${base}/c")) == {BASE: 3}


def test_an_address_that_begins_with_a_value_may_lead_anywhere():
    given = side_by_side(
        "/a", "${next}", "https://${host}/c", hosts=["https://b.example"], redirects=0
    )
    given["values"] = {"next": "x", "host": "y"}
    assert reached(given) == {BASE: 3, ("b.example", 443): 2}


@pytest.mark.parametrize(
    ("step", "redirects", "to_host"),
    [
        ({"get": "/a"}, 10, 1),
        ({"get": "/a", "redirects": "keep"}, 10, None),
        ({"get": "/a"}, 0, None),
        ({"parallel": [{"get": "/a"}, {"get": "/b"}]}, 10, 2),
        ({"parallel": [{"get": "/a"}, {"get": "/b"}, {"get": "http://c.example/d"}]}, 10, 2),
    ],
)
def test_a_host_that_nobody_names_is_there_for_redirects(
    step: dict[str, Any], redirects: int, to_host: int | None
):
    found = reached(of_steps(step, hosts=["sso.example"], redirects=redirects))
    assert found.get(("sso.example", 443)) == to_host


def test_a_host_without_a_scheme_is_that_which_is_asked():
    named = side_by_side("/a", "http://b.example/c", hosts=["b.example"])
    assert reached(named) == {BASE: 1, ("b.example", 80): 1}
    assert reached(scenario(hosts=["b.example"]), "http://app.example") == {
        ("app.example", 80): 1,
        ("b.example", 80): 1,
    }


def test_an_application_that_is_never_asked_takes_nothing():
    assert reached(of_steps({"get": "https://b.example/"}, hosts=["b.example"])) == {
        ("b.example", 443): 1
    }
    assert reached({"transactions": [{**PAGE, "steps": [{"pause_s": 1}]}]}) == {}


@pytest.mark.parametrize("url", ["http://a:x/", "http://a:99999/", "https:///a", "http://[::1/"])
def test_an_address_that_cannot_be_asked_is_left_to_the_driver(url: str):
    assert reached(of_steps({"get": "/"}, {"get": url})) == {BASE: 1}
