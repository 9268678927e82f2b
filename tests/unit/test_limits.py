"""One table of limits for the models, the schema, the runner and the driver."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from loadstone import limits
from loadstone.experiments.preflight.check import check_experiment
from loadstone.factors.base import Parts
from loadstone.load.profiles import run_plan
from loadstone.runner.plan import parse_plan
from loadstone.spec.design import SearchDesign
from loadstone.spec.durations import durations_as_text
from loadstone.spec.graduated import GraduatedLoad
from loadstone.spec.model import Experiment, OutageSpec
from loadstone.spec.profile import MeasuredPhase, ProfileSpec
from loadstone.targets.connection import NoConnection
from loadstone.targets.registry import TARGETS
from loadstone.workloads.base import NO_WAITS
from loadstone.workloads.registry import WORKLOADS

DRIVER = Path(__file__).parents[2] / "driver" / "src" / "plan" / "limits.rs"
CONSTANT = re.compile(r"pub const (\w+): \w+ = ([\d_.e-]+);")
MODELS: dict[str, type[BaseModel]] = {
    "profile": ProfileSpec,
    "search": SearchDesign,
    **{name: cls.Parameters for name, cls in WORKLOADS.items()},
}


def numbers(model: type[BaseModel]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a model that takes a number, with what the schema says of it."""
    schema = model.model_json_schema(mode="validation")
    for name, field in schema["properties"].items():
        for kind in field.get("anyOf", [field]):
            if kind.get("type") in ("number", "integer"):
                yield name, kind


NUMBERS = [(of, name) for of, model in MODELS.items() for name, _ in numbers(model)]


def parameters(of: str) -> dict[str, Any]:
    """What a model needs besides to be valid."""
    return {"load": "open", "rate_per_s": 1.0} if of == "profile" else {}


def test_the_driver_has_the_same_table():
    rust = {name: float(value) for name, value in CONSTANT.findall(DRIVER.read_text())}
    of_runner = {"MOST_SESSIONS_OF_RUNNER"}
    python = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert rust == {name: value for name, value in python.items() if name not in of_runner}


@pytest.mark.parametrize(("of", "name"), NUMBERS)
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, "inf", "1e999", "nan"])
def test_no_field_takes_an_infinite_number(of: str, name: str, value: Any):
    with pytest.raises(ValidationError, match=name):
        MODELS[of].model_validate({**parameters(of), name: value})


@pytest.mark.parametrize(("of", "name"), NUMBERS)
def test_every_number_has_an_upper_limit(of: str, name: str):
    kinds = [kind for each, kind in numbers(MODELS[of]) if each == name]
    if (of, name) in {("profile", "processes")}:  # A validator has its limit.
        return
    assert all({"maximum", "exclusiveMaximum", "const", "enum"} & set(each) for each in kinds)


@pytest.mark.parametrize("field", ["settings", "parameters", "levels"])
def test_no_level_is_infinite(field: str):
    data: dict[str, Any] = {
        "name": "x",
        "workload": {"name": "noop"},
        "target": {"engine": "none"},
    }
    if field == "settings":
        data["target"]["settings"] = {"work_mem": math.inf}
    elif field == "parameters":
        data["workload"]["parameters"] = {"sigma": math.inf}
    else:
        factor = "profile.rate_per_s"
        data["design"] = {"kind": "compare", "factor": factor, "levels": [1, math.inf]}
    with pytest.raises(ValidationError, match="finite"):
        Experiment.model_validate(data)


@pytest.mark.parametrize(
    "profile",
    [
        {"users": limits.MOST_SESSIONS_OF_RUNNER, "measure": "1ms"},
        {"warm_up": f"{limits.LONGEST_S}s", "think_time": f"{limits.LONGEST_S}s"},
        {
            "load": "open",
            "rate_per_s": limits.MOST_RATE_PER_S,
            "queue": limits.MOST_QUEUED,
            "sessions": limits.MOST_SESSIONS_OF_RUNNER,
        },
    ],
)
def test_the_runner_takes_what_the_model_takes(profile: dict[str, Any]):
    import json

    workload = {"name": "archive", "role": "run", "parameters": {}}
    own = ProfileSpec.model_validate(profile)
    parse_plan(json.dumps(run_plan(own, workload, {"default": NO_WAITS}, NoConnection(), 1)))


@pytest.mark.parametrize(
    "profile",
    [
        {"measure": "0.1ms"},
        {"warm_up": "0.1ms"},
        {"ramp": "1us"},
        {"measure": "4000d"},
        {"think_time": "4000d"},
        {"users": 20_000, "phases": [{"name": "much", "share": 100}]},
        {"load": "open", "rate_per_s": 1e8, "phases": [{"name": "much", "share": 100}]},
    ],
)
def test_a_profile_that_no_program_takes_is_refused(profile: dict[str, Any]):
    with pytest.raises(ValidationError):
        ProfileSpec.model_validate(profile)


@pytest.mark.parametrize("engine", [name for name, cls in TARGETS.items() if cls.in_process])
@pytest.mark.parametrize("profile", [{"threads": 2}, {"processes": 2}])
def test_what_the_program_of_an_engine_cannot_do_is_refused_by_plan(
    engine: str, profile: dict[str, Any]
):
    experiment = Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "archive"},
            "target": {"engine": engine},
            "profile": profile,
        }
    )
    cls = TARGETS[engine]
    if "threads" in profile and cls.generator.most_threads > 1:
        return
    if not WORKLOADS["archive"].requires <= cls.capabilities:
        return
    assert any(f"profile.{next(iter(profile))}" in own.message for own in problems(experiment))


def problems(experiment: Experiment) -> list[Any]:
    assert Parts.of(experiment)
    return check_experiment(experiment)


def test_a_load_that_cannot_be_divided_is_refused_by_plan():
    experiment = Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "noop", "parameters": {"servers": 1}},
            "target": {"engine": "none"},
            "profile": {"processes": 2},
        }
    )
    (problem,) = problems(experiment)
    assert "cannot be divided" in problem.message


def durations() -> set[str]:
    """Every field of an experiment's parts that holds seconds and is written with a unit."""
    return {
        name
        for model in (ProfileSpec, MeasuredPhase, GraduatedLoad, SearchDesign, OutageSpec)
        for name, field in model.model_json_schema(mode="validation")["properties"].items()
        if any("250ms" in kind.get("examples", ()) for kind in field.get("anyOf", [field]))
    }


@pytest.mark.parametrize("name", sorted(durations()))
def test_seconds_are_written_as_a_file_has_them(name: str):
    assert durations_as_text({name: 0.25}) == {name: "0.25s"}
    assert durations_as_text({"parts": [{name: 0.25}]}) == {"parts": [{name: "0.25s"}]}
