"""Options that would do nothing, settings of two spellings, and levels that are empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone

from loadstone.errors import ExitCode
from loadstone.experiments.file import parse_experiment, parse_level
from loadstone.experiments.preflight.spellings import spelling_problems
from loadstone.factors.base import Parts
from loadstone.factors.target import TargetFactor
from loadstone.spec.model import Experiment
from loadstone.targets.registry import target_class

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("plan noop --users 8 --rate 5", "--users"),
        ("run noop --users 8 --rate 5", "--users"),
        ("plan noop --sessions 9", "--sessions"),
        ("plan noop --arrival uniform", "--arrival"),
        ("plan noop --rate 5 --vary users=1,2", "profile.users"),
        ("plan noop --users 3 --vary users=1,2", "--users"),
        ("plan noop --param sigma=1 --vary sigma=1,2", "--param"),
        ("scale noop --users 3 --over users --levels 1,2", "--users"),
        ("plan noop --crashes 3", "--crashes"),
        ("plan oltp --password env:X", "--password"),
        ("plan oltp --server postgresql://a@h/b --data there", "--data"),
        ("plan noop --data there", "keeps no data"),
        ("search noop --method steps --precision 3", "--precision"),
        ("search noop --coarse 3", "--coarse"),
        ("search noop --users 4 --from 8", "--users"),
        ("plan noop --several", "--rung NAME=LEVEL is missing"),
        ("plan noop --as-file --json", "--json"),
        ("plan noop --vary users=1,2 --factor users --levels 1,2", "--vary"),
        ("plan noop --vary users=1,2 --vary profile.users=3,4", "--vary"),
        ("plan noop --rung users=1,users=2 --several", "--rung"),
        ("plan noop --param sigma=1 --param sigma=2", "--param twice"),
        ("plan dss --scale 1 --param scale=2", "--scale and --param"),
        ("compare a b --users 3", "--users"),
        ("compare a b --levels 1,2", "--levels"),
        ("compare a b --allow-unsafe", "--allow-unsafe"),
        ("list workloads --limit 3", "--limit"),
        ("list factors --results there", "--results"),
        ("completion bash --output there", "--output"),
        ("doctor --rules --server there", "--server"),
        ("doctor there.yaml --log there", "--log"),
    ],
)
def test_an_option_without_effect_is_refused(words: str, option: str):
    code, stdout, stderr = loadstone(*words.split())
    assert (code, stdout) == (ExitCode.WRONG_INPUT, ""), stderr
    assert option in stderr
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        "plan noop --over users --levels 1,2.5",
        "plan noop --vary users=1,2.5",
        "plan noop --factor processes --levels 1,2.5",
        "search noop --from 1.5",
        "search noop --at-most 10.5",
        "search noop --method steps --coarse 2.5 --fine 1",
        "search noop --method steps --coarse 2 --fine 0.5",
        "plan oltp --param warehouses=1.5",
        "plan archive --param elements=1.5",
    ],
)
def test_a_level_that_is_counted_is_a_whole_number(words: str):
    code, _, stderr = loadstone(*words.split())
    assert code == ExitCode.WRONG_INPUT
    assert "whole number" in stderr or "between 1 and 256" in stderr


def test_a_range_of_users_has_whole_steps():
    design = "{kind: scale, over: users, levels: {from: 1, to: 4, step: 0.5}}"
    Path("x.yaml").write_text(
        "version: 1\nname: x\nworkload: {name: noop}\ntarget: {engine: none}\n"
        f"design: {design}\n"
    )
    assert "users are whole numbers" in loadstone("plan", "x.yaml")[2]


def test_a_file_may_hold_what_it_does_not_use():
    text = """
version: 1
name: x
workload: {name: noop}
target: {engine: none}
profile: {load: open, rate_per_s: 5, users: 8}
"""
    Path("x.yaml").write_text(text)
    assert loadstone("plan", "x.yaml")[0] == ExitCode.OK


# -- levels that are empty ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "''", '""'])
def test_an_empty_level_can_be_said(text: str):
    assert parse_level(text) == ""


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "search_path="],
        ["--set", "search_path=''"],
        ["--factor", "search_path", "--levels", "'',public"],
        ["--vary", "search_path='',public"],
        ["--rung", "search_path="],
    ],
)
def test_an_empty_level_is_the_same_in_a_file(words: list[str]):
    code, stdout, stderr = loadstone("plan", "oltp", *words, "--as-file")
    assert code == ExitCode.OK, stderr
    again = parse_experiment(stdout, "x").experiment.model_dump_json()
    assert '"search_path":""' in again or '""' in again


# -- settings of two spellings ------------------------------------------------------------------

SPELLINGS = {
    "postgresql": ("work_mem", "Work_Mem"),
    "mariadb": ("innodb_buffer_pool_size", "innodb-buffer-pool-size"),
    "sqlite": ("cache_size", "CACHE_SIZE"),
    "duckdb": ("threads", "worker_threads"),
}


def experiment(engine: str, **fields: Any) -> Experiment:
    target = {"engine": engine, "settings": fields.pop("settings", {})}
    return Experiment.model_validate(
        {"name": "x", "workload": {"name": "oltp"}, "target": target, **fields}
    )


@pytest.mark.parametrize(("engine", "names"), SPELLINGS.items())
def test_spellings_of_one_setting_are_one_setting(engine: str, names: tuple[str, str]):
    one, other = names
    cls = target_class(engine)
    assert cls.plain_name(one) == cls.plain_name(other)
    changed = TargetFactor().apply(Parts.of(experiment(engine, settings={one: 1})), other, 2)
    assert changed.target.settings == {other: 2}


@pytest.mark.parametrize(("engine", "names"), SPELLINGS.items())
@pytest.mark.parametrize("where", ["settings", "sweep", "rung"])
def test_a_setting_is_named_once(engine: str, names: tuple[str, str], where: str):
    one, other = names
    design: dict[str, Any] = {}
    if where == "sweep":
        design = {"kind": "sweep", "factors": {f"target.{one}": [1], f"target.{other}": [2]}}
    elif where == "rung":
        change = {f"target.{one}": 1, f"target.{other}": 2}
        design = {"kind": "ladder", "rungs": [{"name": "r", "change": change, "several": True}]}
    fields: dict[str, Any] = {"design": design} if design else {"settings": {one: 1, other: 2}}
    (problem,) = spelling_problems(experiment(engine, **fields))
    assert str(problem.path[-1]).endswith(other)
    assert one in problem.message
