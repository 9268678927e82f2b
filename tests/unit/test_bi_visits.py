"""What people do after what, and the scenario that a server's actions become."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.spec.dashboards import ACTIONS, default_content
from loadstone.targets.bi import Actions
from loadstone.targets.sql_dashboards.statements import actions_of
from loadstone.workloads.bi.load import told
from loadstone.workloads.bi.parameters import BiParameters
from loadstone.workloads.bi.visits import USUAL, chart_of, names_in, reached, scenario_of
from loadstone.workloads.http.scenario import Scenario

CONTENT = default_content(6)


def _get(name: str) -> dict[str, Any]:
    return {"request": name, "get": f"/{name}"}


def _actions(**steps: list[dict[str, Any]]) -> Actions:
    opened = {"parallel": [_get("sales-by-region/region-revenue"), _get("options")]}
    filtered = {"pick": {}, "steps": [_get("products/product-lines")]}
    all_steps: dict[str, list[dict[str, Any]]] = {
        "log-in": [_get("form")],
        "log-out": [_get("out")],
        "first-visit": [_get("logo")],
        "list": [_get("list")],
        "open": [{"one_of": "dashboard", "draw": True, "of": [[opened], {"steps": [_get("x")]}]}],
        "filter": [{"one_of": "dashboard", "of": [filtered, [_get("y")]]}],
        "drill": [_get("drill")],
        "back": [_get("back")],
    }
    scenario = {"retry": {"times": 3}, "headers": {"Accept": "text/html"}}
    return Actions("requests", {**all_steps, **steps}, scenario=scenario)


def _scenario(actions: Actions, **options: Any) -> dict[str, Any]:
    given = {"visit": False, "retries": True, "sample": 0, **options}
    return scenario_of(actions, CONTENT, BiParameters().ways, **given)


def test_people_come_to_every_action_by_the_usual_ways() -> None:
    assert reached(USUAL) == ACTIONS


def test_what_nobody_does_any_more_is_no_transaction() -> None:
    own = BiParameters(next={"open": {"list": 1}})
    assert reached(own.ways) == ("list", "open")


def test_classes_of_errors_are_of_what_people_do() -> None:
    classes = [
        {"name": "refused", "location": "/login", "operations": ["log-in"]},
        {"name": "expired", "location": "/login", "operations": list(ACTIONS)},
        {"name": "filter_failed", "status": [500], "operations": ["filter"]},
        {"name": "limited", "status": [429]},
    ]
    actions = replace(_actions(), scenario={"classes": classes})
    ways = BiParameters(next={"list": {"list": 1}}).ways
    scenario = scenario_of(actions, CONTENT, ways, visit=False, retries=True, sample=0)
    found = {each["name"]: each["operations"] for each in scenario["classes"]}
    assert found == {"refused": ["log-in"], "expired": ["list"], "limited": []}
    Scenario.model_validate(scenario)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"opne": {"list": 1}}, "opne"),
        ({"open": {"filtre": 1}}, "filtre"),
        ({"open": {"filter": 0}}, "nothing follows open"),
        ({"open": {"filter": -1}}, "greater than or equal"),
    ],
)
def test_ways_that_cannot_be_gone_are_refused(wrong: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        BiParameters(next=wrong)


def test_a_scenario_begins_with_the_list_and_goes_on_by_weights() -> None:
    scenario = _scenario(_actions())
    assert scenario["first"] == {"list": 1.0}
    following = {each["name"]: each["next"] for each in scenario["transactions"]}
    assert following["list"] == {"open": 1.0}
    assert following["drill"] == {"back": 1.0}
    assert scenario["log_in"] == {"steps": [_get("form")]}
    assert scenario["log_out"] == {"steps": [_get("out")]}
    assert scenario["headers"] == {"Accept": "text/html"}


def test_static_files_come_before_the_log_in_of_a_first_visit() -> None:
    scenario = _scenario(_actions(), visit=True)
    assert names_in(scenario["log_in"]["steps"]) == ["logo", "form"]


def test_retries_can_be_left_out() -> None:
    assert "retry" in _scenario(_actions())
    assert "retry" not in _scenario(_actions(), retries=False)


def test_answers_of_charts_alone_are_kept_wherever_they_stand() -> None:
    scenario = _scenario(_actions(), sample=5)
    steps = {each["name"]: each["steps"] for each in scenario["transactions"]}
    opened = steps["open"][0]["of"][0][0]["parallel"]
    assert opened == [
        {**_get("sales-by-region/region-revenue"), "keep": {"answers": 3}},
        _get("options"),
    ]
    assert steps["filter"][0]["of"][0]["steps"][0]["keep"] == {"answers": 3}
    assert "keep" not in steps["list"][0]
    assert "keep" not in str(_scenario(_actions(), sample=0))


def test_an_action_that_the_server_does_not_have_is_named() -> None:
    actions = _actions()
    known = {name: steps for name, steps in actions.steps.items() if name != "drill"}
    with pytest.raises(WrongInputError, match="would drill"):
        _scenario(Actions("requests", known))


def test_the_chart_of_a_request_stands_after_the_slash() -> None:
    assert chart_of("products/product-lines") == "product-lines"


def test_what_a_server_gives_becomes_a_scenario_that_the_driver_understands() -> None:
    scenario = Scenario.model_validate(_scenario(_actions(), sample=5))
    assert scenario.names == ACTIONS
    assert scenario.keeps
    assert scenario.retry is not None


def test_the_statements_of_a_database_become_what_the_driver_is_told() -> None:
    actions = actions_of(CONTENT)
    people, answers = Path("/people.csv"), Path("/trial/answers.jsonl")
    plan = told(actions, CONTENT, BiParameters(sample=1), people=people, answers=answers)
    assert plan["name"] == "statements"
    assert plan["parameters"]["answers"] == str(answers)
    scenario = plan["parameters"]["scenario"]
    assert scenario["people"] == {"path": str(people)}
    names = [each["name"] for each in scenario["transactions"]]
    assert tuple(names) == ACTIONS
    (opened,) = scenario["transactions"][1]["steps"]
    opened = opened["one_of"]
    assert opened["name"] == "dashboard"
    assert opened["draw"] is True
    assert [len(way["steps"]) for way in opened["of"]] == [7, 7, 7]
