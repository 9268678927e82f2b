"""Crash trials as they are planned: which, when, on what storage, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW

from loadstone.cli.again import again
from loadstone.cli.changes import put_crash
from loadstone.cli.draft import begin
from loadstone.cli.options import ShortForm
from loadstone.errors import RefusedError, WrongInputError
from loadstone.experiments.conduct import examine
from loadstone.experiments.designs import crashes_of, stages_of, trials_of
from loadstone.experiments.designs.crash import LEAST_AFTER_S, MOST_AFTER_S
from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.record import DurabilityRecord, Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

COMPARE = {"kind": "compare", "factor": "target.synchronous_commit", "levels": ["on", "off"]}


def experiment(design: dict[str, Any], **fields: Any) -> Experiment:
    given_one = {
        "version": 1,
        "name": "x",
        "workload": {"name": "oltp", "parameters": {"warehouses": 1}},
        "target": {"engine": "postgresql"},
        "design": design,
        **fields,
    }
    return Experiment.model_validate(given_one)


def result_of(plan: TrialPlan) -> TrialResult:
    record = None
    if plan.crash is not None:
        record = DurabilityRecord(
            failure=plan.crash.failure, crashed_at_s=3.0, acknowledged=1, recovery_s=0.1
        )
    return TrialResult(
        experiment=plan.experiment,
        trial=plan.trial,
        variant=plan.variant.name,
        block=plan.block,
        order=plan.order,
        status=Status.VALID,
        started_at="",
        durability=record,
    )


def all_stages(given_one: Experiment) -> list[list[TrialPlan]]:
    stages, results, found = stages_of(given_one), [], []
    while plans := stages.next(results):
        found.append(plans)
        results += map(result_of, plans)
    return found


@given(seed=st.integers(0, 2**63 - 1), crashes=st.integers(1, 30))
@SLOW
def test_the_moment_is_drawn_from_the_seed_within_its_bounds(seed: int, crashes: int):
    given_one = experiment({"kind": "crash", "crashes": crashes}, seed=seed)
    (plans,) = all_stages(given_one)
    moments = [plan.crash.after_s for plan in plans if plan.crash]
    assert len(moments) == crashes == trials_of(given_one) == crashes_of(given_one)
    assert all(LEAST_AFTER_S <= each <= MOST_AFTER_S for each in moments)
    assert len(set(moments)) > crashes // 2
    (again_plans,) = all_stages(given_one)
    assert again_plans == plans


def test_crashes_come_last_and_every_variant_has_as_many_in_mixed_order():
    given_one = experiment(COMPARE, durability="kill", crashes=6, repeats=2)
    measured, crashed = all_stages(given_one)
    assert [plan.crash for plan in measured] == [None] * 4
    assert all(plan.crash and plan.crash.failure == "kill" for plan in crashed)
    names = [plan.variant.name for plan in crashed]
    assert sorted(names) == sorted(names[:2] * 6)
    assert len({tuple(names[at : at + 2]) for at in range(0, 12, 2)}) == 2
    assert [plan.order for plan in [*measured, *crashed]] == list(range(1, 17))
    assert len({plan.trial for plan in [*measured, *crashed]}) == 16
    assert trials_of(given_one) == 16
    for block in range(1, 7):
        assert len({plan.crash.after_s for plan in crashed if plan.block == block}) == 1  # type: ignore[union-attr]


def test_a_ladder_that_keeps_what_is_better_crashes_every_rung_it_tried():
    rungs = [
        {"name": "a", "change": {"target.max_wal_size": "2GB"}},
        {"name": "b", "change": {"target.max_wal_size": "4GB"}},
    ]
    ladder = {"kind": "ladder", "keep": "better", "rungs": rungs}
    *measured, crashed = all_stages(experiment(ladder, durability="kill", crashes=2))
    assert len(measured) == 2
    assert sorted(p.variant.name for p in crashed) == ["a", "a", "b", "b", "baseline", "baseline"]


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        ({}, {"data": "volatile:ext4"}),
        ({"data": "loop:xfs,noatime"}, {"data": "volatile:xfs,noatime"}),
        (
            {"data": "loop:ext4,nobarrier", "log": "loop:ext4"},
            {"data": "volatile:ext4,nobarrier", "log": "volatile:ext4"},
        ),
        ({"archive": "loop:xfs"}, {"data": "volatile:ext4", "archive": "volatile:xfs"}),
    ],
)
def test_power_is_lost_on_a_volatile_form_of_the_placement(
    storage: dict[str, str], expected: dict[str, str]
):
    target = {"engine": "postgresql", "storage": storage}
    given_one = experiment({"kind": "crash", "failure": "power-loss"}, target=target)
    (plans,) = all_stages(given_one)
    assert plans[0].target.storage.named == expected
    assert plans[0].crash is not None
    assert plans[0].crash.in_place_of == storage.get("data", "a plain folder")
    (killed,) = all_stages(experiment({"kind": "crash"}, target=target))
    assert killed[0].target.storage.named == storage


CRASH = {"kind": "crash", "failure": "power-loss"}
USERS = {"kind": "compare", "factor": "profile.users", "levels": [1, 2]}
SERVER = {"engine": "postgresql", "server": "postgresql://me@db.example/x"}


@pytest.mark.parametrize(
    ("design", "fields", "said"),
    [
        (CRASH, {"target": {"engine": "postgresql", "storage": {"data": "tmpfs"}}}, "in memory"),
        (CRASH, {"workload": {"name": "noop"}}, "cannot tell which commits"),
        ({"kind": "crash"}, {"target": SERVER}, "not Loadstone's"),
        (USERS, {"durability": "kill", "target": SERVER}, "not Loadstone's"),
        (USERS, {"durability": "kill", "workload": {"name": "noop"}}, "cannot tell which"),
        ({"kind": "crash"}, {"durability": "kill"}, "says its failure in design"),
        ({"kind": "crash"}, {"repeats": 2}, "crashes"),
    ],
)
def test_what_cannot_be_crashed_is_refused_before_anything_runs(
    design: dict[str, Any], fields: dict[str, Any], said: str
):
    given_one = experiment(design, **fields)
    problems = check_experiment(given_one)
    assert any(said in problem.message for problem in problems), problems
    if "target" not in fields or fields["target"] is not SERVER:
        with pytest.raises(RefusedError, match=said):
            examine(given_one, allow_unsafe=True)


def test_a_crash_can_be_made_again_from_its_plan(tmp_path: Path):
    given_one = experiment({"kind": "crash", "failure": "power-loss", "crashes": 4}, seed=9)
    (plans,) = all_stages(given_one)
    path = tmp_path / "plan.json"
    path.write_text(plans[2].model_dump_json())
    repeated = again(path, ShortForm()).experiment
    (only,) = all_stages(repeated)
    assert len(only) == 1
    assert (only[0].crash.after_s, only[0].seed) == (plans[2].crash.after_s, plans[2].seed)  # type: ignore[union-attr]
    assert only[0].target.storage == plans[2].target.storage


def test_a_plan_with_another_seed_is_no_crash_to_repeat(tmp_path: Path):
    (plans,) = all_stages(experiment({"kind": "crash"}))
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**plans[0].model_dump(mode="json"), "seed": 1}))
    with pytest.raises(WrongInputError, match="cannot be drawn again"):
        again(path, ShortForm())


@pytest.mark.parametrize("verb", [("run",), ("crash",), ("crash", "--failure", "kill")])
def test_an_option_says_how_often_whatever_the_verb(verb: tuple[str, ...], tmp_path: Path):
    file = tmp_path / "x.yaml"
    file.write_text(
        "version: 1\nname: x\nworkload: {name: oltp}\ntarget: {engine: postgresql}\n"
        "design: {kind: crash, failure: kill, crashes: 5}\n"
    )
    draft = begin(str(file), verb[0], ShortForm(crashes=2))
    if verb[0] == "crash":
        put_crash(draft, verb[2] if len(verb) > 2 else None)
    design = draft.finish().experiment.design
    assert (design.kind, getattr(design, "crashes", None)) == ("crash", 2)
