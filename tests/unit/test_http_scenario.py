"""Scenarios: what is right, what is wrong and where, and what the driver is told."""

from __future__ import annotations

from typing import Any

import pytest
from sample_web import PAGE, driver, of_steps, problems, scenario

from loadstone.workloads.http.scenario import Scenario
from loadstone.workloads.http.waits import ThinkTime

STEPS = {"steps": [{"get": "/"}]}


def step(given: dict[str, Any]) -> dict[str, Any]:
    (found,) = driver(of_steps(given))["transactions"][0]["steps"]
    return dict(found)


def test_every_default_is_filled_in_for_the_driver():
    assert driver(scenario()) == {
        "people": None,
        "values": {},
        "secrets": {},
        "headers": {},
        "hosts": [],
        "order": "drawn",
        "first": None,
        "classes": [],
        "log_in_again": None,
        "connections": 6,
        "redirects": 10,
        "timeouts_s": {
            "resolve": 5.0,
            "connect": 10.0,
            "tls": 10.0,
            "first_byte": 60.0,
            "whole": 120.0,
        },
        "limits": {
            "header_bytes": 65_536,
            "body_bytes": 67_108_864,
            "inflated_bytes": 67_108_864,
            "interim": 100,
        },
        "resolve_every_s": 60.0,
        "log_in": None,
        "first_visit": None,
        "log_out": None,
        "transactions": [
            {
                "name": "page",
                "weight": 1.0,
                "next": None,
                "pick": {},
                "steps": [
                    {
                        "request": {
                            "name": "GET /",
                            "method": "GET",
                            "url": "/",
                            "headers": {},
                            "query": [],
                            "body": None,
                            "expect": {
                                "status": None,
                                "text": [],
                                "no_text": [],
                                "json": {},
                                "header": {},
                            },
                            "redirects": "follow",
                            "extract": {},
                            "cache": False,
                            "retry": None,
                            "marks": {},
                            "keep": None,
                        }
                    }
                ],
            }
        ],
    }


def test_a_user_who_is_not_let_in_holds_off_and_its_browser_keeps_files():
    steps = [{"get": "/style.css", "cache": True, "expect": {"status": 200}}]
    given = Scenario.model_validate(scenario(log_in=STEPS, first_visit={"steps": steps}))
    told = given.driver(None, {})
    assert told["log_in"]["back_off_s"] == {"first": 1.0, "longest": 30.0}
    (visit,) = told["first_visit"]["steps"]
    assert visit["request"]["cache"] is True
    assert given.operations == ("log-in", "first-visit", "page")
    assert given.names == ("page",)
    other = {**STEPS, "back_off_s": {"first": 0, "longest": 0}}
    told = Scenario.model_validate(scenario(log_in=other)).driver(None, {})
    assert told["log_in"]["back_off_s"] == {"first": 0.0, "longest": 0.0}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"form": {"a": 1, "b": True}}, {"form": [["a", "1"], ["b", "true"]]}),
        ({"form": [["a", "1"], ["a", "2"]]}, {"form": [["a", "1"], ["a", "2"]]}),
        ({"json": {"item": "${id}", "n": [1, None]}}, {"json": {"item": "${id}", "n": [1, None]}}),
        ({"json": None}, {"json": None}),
        ({"body": "raw"}, {"raw": "raw"}),
        ({}, None),
    ],
)
def test_bodies(body: dict[str, Any], told: Any):
    assert step({"post": "/x", **body})["request"]["body"] == told


def test_what_an_answer_must_be_is_a_list_whether_one_or_several_are_written():
    expect = {"status": 201, "text": "a", "no_text": ["b", "c"], "json": {"$.ok": True}}
    told = step({"get": "/", "expect": {**expect, "header": {"X": "y"}}})["request"]["expect"]
    assert told == {
        "status": [201],
        "text": ["a"],
        "no_text": ["b", "c"],
        "json": {"$.ok": True},
        "header": {"X": "y"},
    }


def test_a_default_of_null_is_not_the_same_as_none():
    extract = {
        "a": {"form": "token"},
        "b": {"json": "$.x", "pick": "all", "default": None},
        "c": {"regex": "k=(.)", "default": ""},
    }
    told = step({"get": "/", "extract": extract})["request"]["extract"]
    assert told == {
        "a": {
            "from": "form",
            "what": "token",
            "pick": "first",
            "default": None,
            "has_default": False,
        },
        "b": {"from": "json", "what": "$.x", "pick": "all", "default": None, "has_default": True},
        "c": {
            "from": "regex",
            "what": "k=(.)",
            "pick": "first",
            "default": "",
            "has_default": True,
        },
    }


def test_steps_side_by_side_and_waits():
    steps = [{"parallel": [{"get": "/a"}, {"get": "/b"}]}, {"pause_s": 1.5}]
    told = driver(of_steps(*steps))["transactions"][0]["steps"]
    assert [each["name"] for each in told[0]["parallel"]] == ["GET /a", "GET /b"]
    assert told[1] == {"pause_s": 1.5}


def test_operations_are_those_of_the_driver_in_its_order():
    steps = {"steps": [{"get": "/"}]}
    assert Scenario.model_validate(scenario()).operations == ("page",)
    both = Scenario.model_validate(scenario(log_in=steps, log_out=steps))
    assert both.operations == ("log-in", "page", "log-out")


def test_think_times():
    assert ThinkTime.model_validate("none").driver() == {"distribution": "none"}
    assert ThinkTime(mean_s=2).driver() == {
        "distribution": "negative-exponential",
        "mean_s": 2.0,
        "cap": 10.0,
    }
    uniform = ThinkTime(distribution="uniform", from_s=1, to_s=3)
    assert uniform.driver() == {"distribution": "uniform", "from_s": 1.0, "to_s": 3.0}
    slow = {**PAGE, "think_time": {"distribution": "constant", "mean_s": 3}}
    assert not Scenario.model_validate(scenario()).thinks
    assert Scenario.model_validate({"transactions": [slow]}).thinks


FIRST = "transactions[0].steps[0]"


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        ({}, "transactions", "is missing"),
        (scenario(nix=1), "nix", "no such field"),
        (of_steps({"get": "/", "nix": 1}), f"{FIRST}.nix", "no such field"),
        (of_steps({"get": "/", "post": "/"}), FIRST, "given get and post"),
        (of_steps({"request": "a"}), FIRST, "given none"),
        (of_steps({"get": "page"}), FIRST, "begins with /"),
        (of_steps({"post": "/", "form": {}, "body": ""}), FIRST, "form or body"),
        (of_steps({"post": "/", "json": {"a": float("nan")}}), f"{FIRST}.json", "null"),
        (of_steps({"get": "/", "headers": {"Host": "x"}}), f"{FIRST}.headers", "leave it out"),
        (of_steps({"get": "/", "headers": {"a b": "x"}}), f"{FIRST}.headers", "no name"),
        (of_steps({"get": "/", "headers": {"a": "x\ny"}}), f"{FIRST}.headers", "several lines"),
        (of_steps({"get": "/", "expect": {"status": 99}}), f"{FIRST}.expect.status", "200"),
        (of_steps({"get": "/", "expect": {"text": "Hi ${a}"}}), f"{FIRST}.expect.text", "plain"),
        (
            of_steps({"get": "/", "expect": {"json": {"$": "${a}"}}}),
            f"{FIRST}.expect.json",
            "plain",
        ),
        (of_steps({"get": "/", "extract": {"a": {}}}), f"{FIRST}.extract.a", "given none"),
        (
            of_steps({"get": "/", "extract": {"a": {"form": "a", "json": "$"}}}),
            f"{FIRST}.extract.a",
            "given form and json",
        ),
        (
            of_steps({"get": "/", "extract": {"user": {"form": "a"}}}),
            f"{FIRST}.extract",
            "built in",
        ),
        (of_steps({"get": "/"}, {"get": "/"}), "transactions[0].steps", "called 'GET /'"),
        (of_steps({"pause_s": -1}), f"{FIRST}.pause_s", "0"),
        (of_steps({"parallel": []}), f"{FIRST}.parallel", "at least 1"),
        ({"transactions": [PAGE, PAGE]}, "", "two transactions are called 'page'"),
        ({"transactions": [{**PAGE, "name": "log-in"}]}, "transactions[0].name", "another name"),
        ({"transactions": [{**PAGE, "name": " a"}]}, "transactions[0].name", "blanks"),
        ({"transactions": [{**PAGE, "weight": 0}]}, "", "weight"),
        (scenario(log_out={"steps": [{"get": "/"}]}), "", "log_in too"),
        (
            scenario(log_in={"steps": [{"get": "/"}], "back_off_s": {"first": 2, "longest": 1}}),
            "log_in.back_off_s",
            "first (2) is more than longest (1)",
        ),
        (
            scenario(log_out={"steps": [{"get": "/"}], "back_off_s": {}}),
            "log_out.back_off_s",
            "no such field",
        ),
        (
            {
                "transactions": [{**PAGE, "name": "first-visit"}],
                "first_visit": {"steps": [{"get": "/"}]},
            },
            "",
            "first-visit is what first_visit is called in figures",
        ),
        (of_steps({"post": "/", "cache": True}), FIRST, "for a get"),
        (of_steps({"get": "/", "body": "x", "cache": True}), FIRST, "without a body"),
        (of_steps({"get": "/", "cache": True, "expect": {"text": "x"}}), FIRST, "all of expect"),
        (
            of_steps({"get": "/", "cache": True, "extract": {"a": {"header": "ETag"}}}),
            FIRST,
            "leave out extract",
        ),
        (scenario(hosts=["http://a/b"]), "hosts", "host:port"),
        (scenario(secrets={"a": "word"}), "secrets", "env:NAME or file:PATH"),
        (scenario(values={"unique": 1}), "values", "built in"),
        (scenario(values={"a b": 1}), "values", "no name"),
        (scenario(think_time={"distribution": "constant"}), "think_time", "needs mean_s"),
        (
            scenario(think_time={"distribution": "uniform", "from_s": 2, "to_s": 1}),
            "think_time",
            "more than",
        ),
        (scenario(think_time={"distribution": "none", "mean_s": 1}), "think_time", "no effect"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(given: dict[str, Any], path: str, words: str):
    found = problems(given)
    assert list(found) == [path]
    assert words in found[path]


SECRET = "s3cret-word"


@pytest.mark.parametrize(
    "given",
    [
        of_steps({"post": "/", "form": {"password": SECRET}}),
        of_steps({"post": "/", "form": [["Password", SECRET]]}),
        of_steps({"post": "/", "json": {"login": {"passwd": SECRET}}}),
        of_steps({"post": "/", "body": f"user=a&password={SECRET}"}),
        of_steps({"get": f"https://a:{SECRET}@host/"}),
        of_steps({"get": f"/?password={SECRET}"}),
        of_steps({"get": "/", "headers": {"Authorization": f"Basic {SECRET}"}}),
        scenario(headers={"Authorization": SECRET}),
        scenario(values={"password": SECRET}),
        scenario(secrets={"password": SECRET}),
        {**of_steps({"post": "/", "form": {"password": SECRET}}), "nix": 1},
    ],
)
def test_a_password_itself_is_refused_and_never_repeated(given: dict[str, Any]):
    found = problems(given)
    assert found
    assert SECRET not in str(found)


def test_references_and_tokens_are_no_passwords():
    steps = [
        {
            "post": "/",
            "headers": {"X-CSRFToken": "${csrf}", "Authorization": "Bearer ${token}"},
            "form": [["password", "${password}"], ["csrf_token", "${csrf}"]],
            "expect": {"no_text": "password: wrong", "json": {"$.password": "changed"}},
            "extract": {"password_field": {"form": "password"}},
        }
    ]
    assert problems(of_steps(*steps, secrets={"password": "env:APP_PASSWORD"})) == {}
