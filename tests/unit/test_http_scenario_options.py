"""What a scenario says besides steps: tries, classes of errors, marks, choices, chains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sample_web import driver, of_steps, problems, scenario, workload

from loadstone.workloads.base import LoadContext
from loadstone.workloads.http.checks import is_wrong
from loadstone.workloads.http.classes import FAULTS
from loadstone.workloads.http.options import ErrorClass
from loadstone.workloads.http.origins import reaches_of
from loadstone.workloads.http.scenario import LOG_IN, LOG_OUT, Scenario

IN = {"steps": [{"request": "in", "get": "/in"}]}
OUT = {"steps": [{"request": "out", "get": "/out"}]}
FAULT_FILE = Path(__file__).parents[2] / "driver" / "src" / "http" / "fault.rs"
DEFAULTS = {
    "status": [502, 503, 504],
    "classes": [],
    "times": 3,
    "wait_s": 1.0,
    "factor": 2.0,
    "longest_s": 10.0,
    "jitter": True,
}


def request(**fields: Any) -> dict[str, Any]:
    """What the driver is told of a request, in a scenario with retries."""
    given = of_steps({"get": "/", **fields}, retry={}, classes=[{"name": "late", "status": 202}])
    (step,) = driver(given)["transactions"][0]["steps"]
    return dict(step["request"])


def page(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "steps": [{"get": f"/{name}"}], **fields}


def test_a_request_is_tried_again_as_the_scenario_says_unless_it_says_it():
    assert request()["retry"] == DEFAULTS
    assert request(retry={"times": 1, "classes": ["reset", "late"]})["retry"] == {
        **DEFAULTS,
        "times": 1,
        "classes": ["reset", "late"],
    }
    assert request(retry="none")["retry"] is None
    (step,) = driver(of_steps({"get": "/"}))["transactions"][0]["steps"]
    assert step["request"]["retry"] is None, "off by default"


def test_marks_are_what_is_expected_of_an_answer_that_has_them():
    marks = {
        "cached": {"json": "$.result[0].is_cached"},
        "hit": {"header": "X-Cache", "is": "HIT"},
    }
    assert request(marks=marks)["marks"] == {
        "cached": {"json": {"$.result[0].is_cached": True}},
        "hit": {"header": {"X-Cache": "HIT"}},
    }


def test_a_class_is_told_with_what_must_hold():
    given = {
        "name": "session_expired",
        "status": 200,
        "text": "log in",
        "location": "/login",
        "operations": ["page"],
    }
    (told,) = driver(scenario(classes=[given]))["classes"]
    expected = {"status": [200], "text": ["log in"], "no_text": [], "json": {}, "header": {}}
    assert told == {
        "name": "session_expired",
        "answer": expected,
        "location": "/login",
        "operations": ["page"],
    }


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"status": [429, 503]}, False),
        ({"status": 429, "text": "a"}, False),
        ({"status": [429, 400]}, True),
        ({"text": "no such column"}, True),
        ({"location": "/login"}, True),
    ],
)
def test_a_class_of_overload_is_no_wrong_answer(given: dict[str, Any], wrong: bool):
    own = ErrorClass.model_validate({"name": "mine", **given})
    assert own.is_wrong is wrong
    assert is_wrong("mine", {own.name: own.is_wrong}) is wrong


def test_choices_and_picks_are_told_whichever_way_they_are_written():
    plain = [{"request": "a", "get": "/a"}]
    way = {"pick": {"colour": {"of": ["red"]}}, "steps": [{"request": "b", "get": "/b"}]}
    given = page("open", pick={"year": {"of": [1994, 1995], "hold": True}})
    given["steps"] = [{"one_of": "dashboard", "draw": True, "of": [plain, way]}]
    (told,) = driver({"transactions": [given]})["transactions"]
    assert told["pick"] == {"year": {"of": [1994, 1995], "hold": True}}
    (part,) = told["steps"]
    one_of = part["one_of"]
    assert (one_of["name"], one_of["draw"]) == ("dashboard", True)
    assert [each["pick"] for each in one_of["of"]] == [
        {},
        {"colour": {"of": ["red"], "hold": False}},
    ]
    assert [each["steps"][0]["request"]["name"] for each in one_of["of"]] == ["a", "b"]


def test_users_who_leave_and_come_again_think_in_between():
    chain = [page("list", next={"log-out": 1, "list": 2})]
    think = {"distribution": "constant", "mean_s": 3}
    given = {"log_in": IN, "log_out": OUT, "transactions": chain, "think_time": think}
    assert driver(given)["transactions"][0]["next"] == {"log-out": 1.0, "list": 2.0}
    waits = workload(given).pacing()["operations"]
    assert waits[LOG_OUT] == waits[LOG_IN] == waits["list"]
    stays = {**given, "transactions": [page("list")]}
    assert LOG_OUT not in workload(stays).pacing()["operations"]


def test_connections_count_the_requests_of_all_ways():
    together = {"parallel": [{"request": "a", "get": "/a"}, {"request": "b", "get": "/b"}]}
    given = page("open")
    given["steps"] = [{"one_of": "x", "of": [[{"get": "/"}], [together]]}]
    (reach,) = reaches_of(Scenario.model_validate({"transactions": [given]}), "http://app.example")
    assert reach.each == 2


def test_answers_that_are_kept_go_into_the_folder_of_the_trial(tmp_path: Path):
    context: LoadContext[Any] = LoadContext(seed=1, target=None, folder=tmp_path)
    keeping = workload(of_steps({"get": "/", "keep": {"answers": 5}}))
    parameters = keeping.plan(context)["parameters"]
    assert parameters["answers"] == str(tmp_path / "answers.jsonl")
    assert "answers" not in workload(scenario()).plan(context)["parameters"]


TWO = [page("list"), page("open")]


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        (of_steps({"get": "/", "retry": {"times": 101}}), "transactions[0].steps[0].retry", "100"),
        (of_steps({"get": "/", "retry": {"classes": ["dance"]}}), "", "no class 'dance'"),
        (scenario(retry={"classes": ["dance"]}), "", "no class 'dance'"),
        (scenario(classes=[{"name": "A", "status": 429}]), "classes[0].name", "small letters"),
        (scenario(classes=[{"name": "reset", "status": 429}]), "classes[0].name", "load driver"),
        (scenario(classes=[{"name": "a"}]), "classes[0]", "says nothing"),
        (scenario(classes=[{"name": "a", "location": "login"}]), "classes[0]", "begins with /"),
        (scenario(classes=[{"name": "a", "status": 429}] * 2), "", "two are called 'a'"),
        (
            scenario(classes=[{"name": "a", "status": 429, "operations": ["x"]}]),
            "",
            "no operation 'x'",
        ),
        (scenario(log_in_again={"classes": ["status_401"]}), "", "write log_in too"),
        (scenario(log_in=IN, log_in_again={"classes": ["x"]}), "", "no class 'x'"),
        ({"transactions": TWO, "first": {"x": 1}}, "", "'x' is no transaction"),
        ({"transactions": TWO, "first": {"list": 0}}, "", "no weight is above 0"),
        ({"transactions": TWO, "first": {"list": 1}, "order": "in-turn"}, "", "no effect"),
        ({"transactions": [page("a", next={"log-out": 1})]}, "", "'log-out' is no transaction"),
        ({"transactions": [page("a", next={"a": -1})]}, "transactions[0].next.a", "0"),
        (of_steps({"get": "/", "marks": {"x": {}}}), "transactions[0].steps[0].marks.x", "json"),
        (
            of_steps({"get": "/", "marks": {"x": {"header": "A"}}}),
            "transactions[0].steps[0].marks.x",
            "is:",
        ),
        (
            scenario(log_in={"steps": [{"get": "/", "keep": {"answers": 1}}]}),
            "log_in.steps",
            "may be a secret",
        ),
        (
            of_steps({"one_of": "x", "of": [[{"one_of": "y", "of": [[]]}]]}),
            "transactions[0].steps[0].of[0][0]",
            "needs a kind",
        ),
        (
            {
                "transactions": [
                    {"name": "a", "steps": [{"one_of": "x", "of": [[{"get": "/a"}]]}]},
                    {"name": "b", "steps": [{"one_of": "x", "of": [[{"get": "/a"}], []]}]},
                ]
            },
            "",
            "give both as many",
        ),
        (
            {
                "transactions": [
                    page("a", pick={"v": {"of": [1], "hold": True}}),
                    page("b", pick={"v": {"of": [1]}}),
                ]
            },
            "",
            "held in one place",
        ),
        (
            {"transactions": [page("a", pick={"user": {"of": [1]}})]},
            "transactions[0].pick",
            "built in",
        ),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], path: str, words: str):
    found = problems(given)
    assert len(found) == 1, found
    ((field, message),) = found.items()
    assert field.startswith(path), found
    assert words in message, found


def test_the_classes_of_the_driver_are_known():
    in_driver = re.findall(r"Self::\w+ => \"(\w+)\"", FAULT_FILE.read_text())
    assert tuple(in_driver) == FAULTS
