"""Passwords among the fields of an experiment: who judges what."""

from __future__ import annotations

from typing import Any

import pytest

from loadstone.experiments.secret_fields import secret_problems
from loadstone.spec.problems import dotted
from loadstone.workloads.registry import WORKLOADS

SECRET = "s3cret-word"
HELD = {"scenario": {"form": {"password": SECRET}, "url": f"https://u:{SECRET}@h/"}}


def found(workload: Any, **rest: Any) -> list[str]:
    problems = secret_problems({"workload": workload, **rest})
    assert not any(SECRET in each.message for each in problems)
    return [dotted(each.path) for each in problems]


def test_a_workload_judges_the_parameters_that_it_names_itself():
    assert found({"name": "http", "parameters": HELD}) == []
    assert found({"name": "http", "parameters": {"other": HELD["scenario"]}}) == [
        "workload.parameters.other.form.password",
        "workload.parameters.other.url",
    ]


@pytest.mark.parametrize("name", ["oltp", "nix", None, 3, ["http"]])
def test_nobody_else_does(name: Any):
    assert found({"name": name, "parameters": HELD}) == [
        "workload.parameters.scenario.form.password",
        "workload.parameters.scenario.url",
    ]


def test_only_where_the_parameter_stands():
    rest = {"target": {"scenario": HELD["scenario"]}}
    assert len(found({"name": "http", "parameters": HELD}, **rest)) == 2
    assert found("http") == []


@pytest.mark.parametrize("name", [*WORKLOADS])
def test_what_is_judged_is_a_parameter(name: str):
    assert WORKLOADS[name].judges_secrets <= set(WORKLOADS[name].Parameters.model_fields)


def test_fields_that_hold_themselves():
    inner: dict[str, Any] = {"password": SECRET}
    inner["again"] = inner
    assert found({"name": "oltp", "parameters": {"a": inner}}) == ["workload.parameters.a.password"]
