"""The files that `loadstone init` writes: laid out for people, and right with what they suggest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import right
from ruamel.yaml import YAML

from loadstone.cli.init import experiment_template
from loadstone.experiments.file import parse_experiment
from loadstone.targets.registry import TARGETS
from loadstone.workloads.http import first
from loadstone.workloads.http.scenario import Scenario
from loadstone.workloads.registry import WORKLOADS

WIDTH = 100
SUGGESTED = re.compile(r"^( *)# ", re.MULTILINE)
"""A line that is a comment as a whole."""


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_first_file_is_laid_out_for_people(workload: str) -> None:
    text = experiment_template(workload)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "{'" not in text  # Python's own form of a mapping
    written = YAML(typ="safe").load(text)
    read = parse_experiment(text, "first.yaml").experiment
    assert read.workload.parameters.keys() == written["workload"]["parameters"].keys()


@pytest.mark.parametrize(
    ("workload", "engine"),
    [
        (name, engine)
        for name, cls in WORKLOADS.items()
        for engine, target in TARGETS.items()
        if cls.requires <= target.capabilities
    ],
)
def test_every_pair_that_fits_has_a_first_file(workload: str, engine: str) -> None:
    text = experiment_template(workload, engine)
    assert YAML(typ="safe").load(text)["target"]["engine"] == engine


def test_the_first_scenario_is_asked_for_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "first.yaml").write_text(right("init", "http"))
    said = right("plan", str(tmp_path / "first.yaml"))
    assert "for 1 trial" in said
    assert "8 connections at most" in said


def test_what_the_first_scenario_suggests_is_right_too() -> None:
    plain = YAML(typ="safe").load(first.SCENARIO)["scenario"]
    whole = YAML(typ="safe").load(SUGGESTED.sub(r"\1", first.SCENARIO))["scenario"]
    assert plain.keys() == {"think_time", "transactions"}
    assert whole.keys() == plain.keys() | {"people", "secrets", "log_in"}
    scenario = Scenario.model_validate(whole)
    assert scenario.log_in is not None
    assert [len(each.steps) for each in scenario.transactions] == [2]
