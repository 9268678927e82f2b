"""Engine against engine: several targets in one experiment, of which one runs at a time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.experiments.conduct import systems
from loadstone.experiments.designs import design_of
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.lab import Lab, Site
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.factors.base import NEEDS_DATA
from loadstone.factors.registry import apply_changes, examine, full_name
from loadstone.report.differences import differences
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.target import TargetSpec

SMALL = {"engine": "postgresql", "settings": {"work_mem": "4MB"}}
LARGE = {"engine": "postgresql", "settings": {"work_mem": "1GB"}}


def experiment(*levels: str, **target: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "dss", "parameters": {"streams": 0}},
            "target": {"engine": "duckdb", "settings": {"threads": 2}, **target},
            "design": {"kind": "compare", "factor": "target.engine", "levels": list(levels)},
        }
    )


def parts(own: Experiment) -> list[TargetSpec]:
    variants = design_of(own).variants(own)
    return [apply_changes(own, variant.changes).target for variant in variants]


def test_a_level_is_an_engine_or_a_system_that_is_named() -> None:
    own = experiment("duckdb", "postgresql", "large", others={"large": LARGE})
    assert check_experiment(own) == []
    first, second, third = parts(own)
    assert (first.engine, first.settings) == ("duckdb", {"threads": 2})
    assert (second.engine, second.server, second.settings) == ("postgresql", "embedded", {})
    assert (third.engine, third.settings) == ("postgresql", {"work_mem": "1GB"})
    assert all(spec.others == {} for spec in (first, second, third))
    change = Change(factor="target.engine", level="large")
    assert examine(own, change).needs == NEEDS_DATA
    assert full_name("dss", "engine") == "target.engine"


def test_settings_of_one_server_do_not_make_two() -> None:
    own = experiment("duckdb", "small", "large", others={"small": SMALL, "large": LARGE})
    assert [spec.engine for spec in systems(own)] == ["duckdb", "postgresql"]


def test_an_unknown_engine_is_refused() -> None:
    (problem, *_) = check_experiment(experiment("duckdb", "oracle"))
    assert "there is no target 'oracle'" in problem.message
    with pytest.raises(WrongInputError, match="there is no target"):
        examine(experiment("duckdb", "oracle"), Change(factor="target.engine", level="oracle"))


def test_a_target_that_lacks_what_the_workload_needs_is_named() -> None:
    (problem,) = check_experiment(experiment("duckdb", "sqlite"))
    assert "sqlite does not offer" in problem.message
    assert "files (it loads the rows of files)" in problem.message


def test_a_parameter_that_does_not_fit_a_target_is_told_with_its_level() -> None:
    (problem,) = check_experiment(experiment("duckdb", "spark"))
    assert "spark does not offer changes" in problem.message
    assert "write refreshes: false among its parameters" in problem.message
    assert "--param refreshes=false" in problem.message


def test_others_have_no_others() -> None:
    with pytest.raises(ValidationError, match="name all of them in one place"):
        experiment("duckdb", "a", others={"a": {**SMALL, "others": {"b": LARGE}}})


class Idle:
    """A target that tells when it is stopped."""

    def __init__(self, spec: TargetSpec, story: list[str]) -> None:
        self.spec = spec
        self._story = story

    def stop(self) -> None:
        self._story.append(f"{self.spec.engine} stands still")


def test_all_others_stand_still_while_one_is_measured() -> None:
    story: list[str] = []
    nobody: Any = None
    specs = [TargetSpec(engine=engine) for engine in ("duckdb", "postgresql", "chdb")]
    fakes: list[Any] = [Idle(spec, story) for spec in specs]
    sites = [Site(fake, nobody) for fake in fakes]
    lab = Lab(sites, nobody, Interrupts(), Observer(), nobody)
    assert lab.target is fakes[0]
    assert lab.enter(specs[1].with_settings({"work_mem": "1GB"})) is fakes[1]
    assert lab.target is fakes[1]
    assert story == ["duckdb stands still", "chdb stands still"]


def test_what_another_engine_brings_along_is_no_further_difference() -> None:
    def variant(engine: str) -> Variant:
        change = Change(factor="target.engine", level=engine)
        return Variant(name=engine, changes=[change], step=[change])

    def trial(engine: str, kernel: str) -> Any:
        plan = SimpleNamespace(
            model_dump=lambda **_: {"target": {"engine": engine, "settings": {}}}
        )
        inventory = {"target": {"version": engine}, "host": {"kernel": kernel}}
        result = SimpleNamespace(fingerprint=None)
        return SimpleNamespace(
            path=Path("b01"), plan=plan, inventory=inventory, result=result, workload=None
        )

    found = differences(
        [trial("duckdb", "6.1")], [trial("chdb", "6.8")], (variant("duckdb"), variant("chdb"))
    )
    assert found == ["host.kernel: 6.1 against 6.8"]


@pytest.mark.parametrize(("asked", "found"), [(1, ["start state.digest: a against b"]), (2, [])])
def test_a_start_state_differs_on_its_own_only_where_the_same_data_were_asked_for(
    asked: int, found: list[str]
) -> None:
    def variant(level: int) -> Variant:
        change = Change(factor="workload.warehouses", level=level)
        return Variant(name=str(level), changes=[change], step=[change])

    def trial(digest: str, warehouses: int) -> Any:
        return SimpleNamespace(
            path=Path("b01"),
            plan=SimpleNamespace(model_dump=lambda **_: {}),
            inventory={},
            result=SimpleNamespace(fingerprint=SimpleNamespace(digest=digest)),
            workload=SimpleNamespace(data_key=lambda: {"warehouses": warehouses}),
        )

    pair = ([trial("a", 1)], [trial("b", asked)])
    assert differences(*pair, (variant(1), variant(2))) == found
