"""Paths that an experiment names: those of a file lie beside it, those of options in the folder."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from sample_web import fields, scenario

from loadstone.cli.draft import begin
from loadstone.cli.options import ShortForm
from loadstone.experiments.file import load_experiment, read_fields
from loadstone.experiments.places import place_paths
from loadstone.workloads.registry import WORKLOADS

HERE = Path("/x")


def placed(data: dict[str, Any]) -> dict[str, Any]:
    own = copy.deepcopy(data)
    place_paths(own, HERE)
    return own


def of_workload(name: str, **parameters: Any) -> dict[str, Any]:
    return {"workload": {"name": name, "parameters": parameters}}


@pytest.mark.parametrize(
    ("name", "parameter", "given", "whole"),
    [
        ("archive", "csv", "events.csv", "/x/events.csv"),
        ("storage", "fio", "jobs.fio", "/x/jobs.fio"),
        ("storage", "fio", "[a]\nrw=read\n", "[a]\nrw=read\n"),
        ("storage", "names", "names.txt", "/x/names.txt"),
        ("storage", "names", "numbered", "numbered"),
        ("http", "scenario", "../shop.yaml", "/x/../shop.yaml"),
        ("http", "scenario", "/y/shop.yaml", "/y/shop.yaml"),
        ("http", "scenario", "transactions: []\n", "transactions: []\n"),
    ],
)
def test_a_workload_says_which_of_its_parameters_are_paths(
    name: str, parameter: str, given: str, whole: str
):
    found = placed(of_workload(name, **{parameter: given}))
    assert found["workload"]["parameters"][parameter] == whole


@pytest.mark.parametrize("name", [*WORKLOADS])
def test_a_parameter_that_names_a_file_is_one_of_them(name: str):
    kind = WORKLOADS[name]
    for parameter, field in kind.Parameters.model_fields.items():
        if (field.description or "").startswith(("File ", "A job file")):
            assert (parameter,) in kind.paths({parameter: "a/file"})
    assert list(kind.paths({})) == []


def test_a_scenario_within_names_its_people_and_files_of_secrets():
    secrets = {"a": "file:a.txt", "b": "env:B", "c": "file:/y/c.txt"}
    given = placed(fields(scenario(people="p.csv", secrets=secrets)))
    found = given["workload"]["parameters"]["scenario"]
    assert found["people"] == "/x/p.csv"
    assert found["secrets"] == {"a": "file:/x/a.txt", "b": "env:B", "c": "file:/y/c.txt"}


def test_a_target_says_which_of_its_fields_are_paths():
    one = {"engine": "http", "ca": "a.pem", "data": "d", "password": "file:p.txt", "server": "s"}
    other = {"engine": "http", "ca": "b.pem", "password": "env:P"}
    found = placed({"target": {**one, "others": {"b": other}}})["target"]
    assert (found["ca"], found["data"], found["password"]) == ("/x/a.pem", "/x/d", "file:/x/p.txt")
    assert found["server"] == "s"
    assert found["others"]["b"] == {**other, "ca": "/x/b.pem"}


def test_levels_that_are_paths():
    base = of_workload("archive")
    levels = ["a.csv", "/y/b.csv"]
    compare = placed({**base, "design": {"factor": "workload.csv", "levels": levels}})["design"]
    assert compare["levels"] == ["/x/a.csv", "/y/b.csv"]
    factors = {"workload.csv": levels, "profile.users": [1, 2]}
    sweep = placed({**base, "design": {"factors": factors}})["design"]["factors"]
    assert sweep == {"workload.csv": ["/x/a.csv", "/y/b.csv"], "profile.users": [1, 2]}
    change = {"workload.csv": "a.csv", "workload.path": "staged"}
    rungs = placed({**base, "design": {"rungs": [{"change": change}]}})["design"]["rungs"]
    assert rungs[0]["change"] == {"workload.csv": "/x/a.csv", "workload.path": "staged"}


@pytest.mark.parametrize(
    "strange",
    [
        {},
        {"workload": "http", "target": [1], "design": 3},
        {"workload": {"name": "http"}, "target": {"ca": 1, "others": {"b": 2}}},
        {"workload": {"name": "nix", "parameters": {"csv": "a"}}},
        {"workload": {"name": ["http"], "parameters": {"scenario": "a"}}},
        {"workload": {"name": "http", "parameters": {"scenario": {"secrets": ["file:a"]}}}},
        {"workload": {"name": "http", "parameters": {"scenario": None}}, "target": {"ca": ""}},
        {**of_workload("archive"), "design": {"factor": "workload.csv", "levels": "a"}},
        {**of_workload("archive"), "design": {"factors": [1], "rungs": [1, {"change": 2}]}},
        {"workload": {"name": "archive", "parameters": {"csv": 3}}},
    ],
)
def test_what_is_wrong_stays_as_it_is_for_those_who_judge_it(strange: dict[str, Any]):
    assert placed(strange) == strange


def test_a_folder_that_nobody_has_stays_as_it_is(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/ada")
    given = {"target": {"ca": "~/a.pem", "data": "~nobody-of-this-name/d"}}
    assert placed(given)["target"] == {"ca": "/home/ada/a.pem", "data": "~nobody-of-this-name/d"}


def test_fields_that_hold_themselves():
    target: dict[str, Any] = {"engine": "http", "ca": "a.pem"}
    target["others"] = {"again": target}
    place_paths({"target": target}, HERE)
    assert target["ca"] == "/x/a.pem"


def test_a_file_is_read_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "events.csv").write_text("")
    data = {"version": 1, "name": "x", "target": {"engine": "sqlite", "data": "d"}}
    (folder / "x.yaml").write_text(json.dumps({**data, **of_workload("archive", csv="events.csv")}))
    monkeypatch.chdir(tmp_path)
    found = load_experiment(Path("there/x.yaml")).experiment
    assert found.workload.parameters["csv"] == str(folder / "events.csv")
    assert found.target.data == str(folder / "d")
    read, _ = read_fields(Path("there/x.yaml"))
    assert read["target"]["data"] == str(folder / "d")


def test_options_are_relative_to_the_present_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "there"
    folder.mkdir()
    data = {"version": 1, "name": "x", "target": {"engine": "sqlite", "data": "d"}}
    (folder / "x.yaml").write_text(json.dumps({**data, **of_workload("archive")}))
    monkeypatch.chdir(tmp_path)
    short = ShortForm(data="e", param=("csv=events.csv",))
    found = begin("there/x.yaml", "run", short).finish().experiment
    assert found.target.data == str(tmp_path / "e")
    assert found.workload.parameters["csv"] == str(tmp_path / "events.csv")
