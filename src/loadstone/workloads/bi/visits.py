"""What people do after what, and the scenario that a BI server's actions become by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.spec.dashboards import ACTIONS, LOG_IN, LOG_OUT, Content
from loadstone.targets.bi import FIRST_VISIT, Actions

Ways = Mapping[str, Mapping[str, float]]
"""Action: how often each action follows it, against the others."""

FIRST = "list"
"""What people do when they have logged in."""
USUAL: Ways = {
    "list": {"open": 1.0},
    "open": {"filter": 5.0, "drill": 3.0, "list": 2.0},
    "filter": {"filter": 2.0, "drill": 3.0, "open": 2.0, "list": 3.0},
    "drill": {"back": 1.0},
    "back": {"filter": 3.0, "drill": 2.0, "open": 2.0, "list": 3.0},
}
"""Somebody looks for a dashboard, opens it, works with it for a while, and goes to another."""


def ways_given(given: Mapping[str, Mapping[str, float]]) -> Ways:
    """The usual ways, with others after the actions that are given.

    Raises:
        ValueError: If there is no such action, or nothing follows one.
    """
    for action, next_ones in given.items():
        unknown = [name for name in (action, *next_ones) if name not in ACTIONS]
        if unknown:
            raise ValueError(f"there is no action {unknown[0]!r}: {', '.join(ACTIONS)}")
        if not any(next_ones.values()):
            raise ValueError(f"nothing follows {action}: give one action a weight above 0")
    return {**USUAL, **given}


def reached(ways: Ways) -> tuple[str, ...]:
    """The actions that people come to, in the order of `ACTIONS`."""
    found = {FIRST}
    waiting = [FIRST]
    while waiting:
        for name, weight in ways[waiting.pop()].items():
            if weight and name not in found:
                found.add(name)
                waiting.append(name)
    return tuple(name for name in ACTIONS if name in found)


def scenario_of(
    actions: Actions, content: Content, ways: Ways, *, visit: bool, retries: bool, sample: int
) -> dict[str, Any]:
    """The scenario of people who do so, without their think times and their file.

    Args:
        actions: What each is on the server.
        content: Whose charts' answers are kept.
        ways: What follows what.
        visit: People come for the first time: their browsers ask for all static files.
        retries: What the front end tries again is tried again.
        sample: How many answers of charts are kept at least, as far as there are so many.

    Raises:
        WrongInputError: If people come to an action that the server does not have.
    """
    names = reached(ways)
    lacking = [name for name in names if name not in actions.steps]
    if lacking:
        raise WrongInputError(
            f"people would {lacking[0]}, and the server has nothing of that kind",
            advice=f"give {lacking[0]} the weight 0 in the parameter next, where it has one",
        )
    charts = {each.name for each in content.charts}
    asked = [name for action in names for name in names_in(actions.steps[action])]
    of_charts = [name for name in asked if chart_of(name) in charts]
    each = -(-sample // len(of_charts)) if of_charts else 0
    kept = dict.fromkeys(of_charts, each) if each else {}
    further = {
        name: value for name, value in actions.scenario.items() if retries or name != "retry"
    }
    if "classes" in further:
        present = {*names, LOG_IN, LOG_OUT} & actions.steps.keys()
        further["classes"] = list(_classes_among(present, further["classes"]))
    scenario: dict[str, Any] = {
        **further,
        "first": {FIRST: 1.0},
        "transactions": [
            {
                "name": name,
                "pick": dict(actions.pick.get(name, {})),
                "next": {other: weight for other, weight in ways[name].items() if weight},
                "steps": [_keeping(step, kept) for step in actions.steps[name]],
            }
            for name in names
        ],
    }
    before = actions.steps.get(FIRST_VISIT, ()) if visit else ()
    if log_in := [*before, *actions.steps.get(LOG_IN, ())]:
        scenario["log_in"] = {"steps": log_in}
    if log_out := actions.steps.get(LOG_OUT):
        scenario["log_out"] = {"steps": list(log_out)}
    return scenario


def _classes_among(
    present: Collection[str], classes: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Classes of errors without the operations that people do not come to.

    One that is of such operations only is left out: without any it would be of all.
    """
    for each in classes:
        named = each.get("operations", [])
        left = [name for name in named if name in present]
        if left or not named:
            yield {**each, "operations": left}


def chart_of(name: str) -> str:
    """The chart that a request or statement of this name asks for: what stands after the slash."""
    return name.rpartition("/")[2]


def names_in(steps: Iterable[Any]) -> list[str]:
    """The names of all requests and statements in steps, each once."""
    found: dict[str, None] = {}
    for step in steps:
        name = step.get("request") or step.get("name")
        if name:
            found[str(name)] = None
        for inner in _inner(step):
            found |= dict.fromkeys(names_in(inner))
    return list(found)


def _inner(step: Mapping[str, Any]) -> list[list[Any]]:
    """The lists of steps that a step consists of."""
    if "parallel" in step:
        return [list(step["parallel"])]
    return [_steps_of(alternative) for alternative in step.get("of", ())]


def _steps_of(alternative: Any) -> list[Any]:
    return list(alternative["steps"] if isinstance(alternative, Mapping) else alternative)


def _keeping(step: Mapping[str, Any], kept: Mapping[str, int]) -> dict[str, Any]:
    """A step that keeps some answers of the requests that are named."""
    name = step.get("request") or step.get("name")
    own = dict(step)
    if name in kept:
        own["keep"] = {"answers": kept[str(name)]}
    if "parallel" in step:
        own["parallel"] = [_keeping(each, kept) for each in step["parallel"]]
    if "of" in step:
        own["of"] = [_alternative_keeping(each, kept) for each in step["of"]]
    return own


def _alternative_keeping(alternative: Any, kept: Mapping[str, int]) -> Any:
    steps = [_keeping(each, kept) for each in _steps_of(alternative)]
    return {**alternative, "steps": steps} if isinstance(alternative, Mapping) else steps
