"""Statements that users of a database make, as the driver is told them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.workloads.statements import StatementScenario


def chart(name: str = "chart", **fields: Any) -> dict[str, Any]:
    return {"name": name, "sql": "SELECT ${year}", **fields}


def scenario(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"transactions": [{"name": "open", "steps": list(steps) or [chart()]}], **fields}


def test_every_default_is_filled_in():
    told = StatementScenario.model_validate(scenario()).driver(None)
    assert told == {
        "scenario": {
            "people": None,
            "values": {},
            "order": "drawn",
            "first": None,
            "log_in": None,
            "log_out": None,
            "transactions": [
                {
                    "name": "open",
                    "weight": 1.0,
                    "next": None,
                    "pick": {},
                    "steps": [
                        {
                            "statement": {
                                "name": "chart",
                                "sql": "SELECT ${year}",
                                "rows": {"min": 0, "max": None},
                                "keep": None,
                            }
                        }
                    ],
                }
            ],
        }
    }


def test_choices_log_ins_and_files_are_told():
    step = {"one_of": "board", "draw": True, "of": [[chart("a", keep={"answers": 5})], []]}
    sign = {"steps": [chart("account", rows={"min": 1, "max": 1})]}
    given = StatementScenario.model_validate(scenario(step, log_in=sign, log_out=sign))
    told = given.driver("/people.csv", "/answers.jsonl")
    assert told["answers"] == "/answers.jsonl"
    assert told["scenario"]["people"] == {"path": "/people.csv"}
    (part,) = told["scenario"]["transactions"][0]["steps"]
    (first, second) = part["one_of"]["of"]
    assert first["steps"][0]["statement"]["keep"] == {"answers": 5}
    assert second["steps"] == []
    assert given.operations == ("log-in", "open", "log-out")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (scenario(chart(), chart()), "two statements are called 'chart'"),
        (scenario(chart(rows={"min": 2, "max": 1})), "is less than min"),
        (scenario(log_in={"steps": [chart(keep={"answers": 1})]}), "keep is for transactions"),
        (scenario(log_out={"steps": [chart()]}), "write log_in too"),
        (scenario(values={"a b": 1}), "no name"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], words: str):
    with pytest.raises(ValidationError, match=words):
        StatementScenario.model_validate(given)
