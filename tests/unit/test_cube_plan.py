"""What a trial of the planning cube plans: outline after the restructure, grids, steps."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from not_started import not_started

from loadstone.errors import WrongInputError
from loadstone.experiments.preflight.check import check_experiment
from loadstone.protocol.steps import StepRun
from loadstone.spec.model import Experiment
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.base import LoadContext
from loadstone.workloads.cube import grids
from loadstone.workloads.cube.contents import contents
from loadstone.workloads.cube.cycle import OF_PARENTS, STEPS
from loadstone.workloads.cube.data.volume import volume_of
from loadstone.workloads.cube.metrics import cycles_of
from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.restructure import (
    ADDED,
    BEFORE,
    DELETED,
    MOVED,
    TO,
    restructure,
)
from loadstone.workloads.cube.outline.sparse import ENTITY, PRODUCT
from loadstone.workloads.cube.parameters import CubeParameters
from loadstone.workloads.cube.rates import rates_of
from loadstone.workloads.cube.sql.flavours import FLAVOURS, flavour_of
from loadstone.workloads.cube.sql.restructure import restructured
from loadstone.workloads.cube.sql.tables import RENUMBERED_TABLE, TOTAL_TABLE
from loadstone.workloads.cube.step_checks import close
from loadstone.workloads.cube.workload import PlanningCube

OUTLINE = outline_of(42)
VOLUME = volume_of(OUTLINE, 0.001, 42)


def test_a_restructure_adds_moves_and_deletes_an_account() -> None:
    before, after = OUTLINE[ACCOUNT], restructure(OUTLINE).outline[ACCOUNT]
    assert len(after) == len(before)
    assert ADDED.name in after.numbers
    assert DELETED not in after.numbers
    assert after.numbers[BEFORE] == after.numbers[ADDED.name] + 1
    parent = after.members[after.numbers[MOVED]].parent
    assert parent is not None
    assert after.members[parent].name == TO


def test_a_file_in_other_parts_is_other_data() -> None:
    one, two = (PlanningCube(CubeParameters(csv_parts=parts)).data_key() for parts in (1, 2))
    assert one != two


def test_every_account_that_stays_has_its_number_after_a_restructure() -> None:
    changed = restructure(OUTLINE)
    before, after = OUTLINE[ACCOUNT], changed.outline[ACCOUNT]
    assert len(changed.renumbered) == len(before) - 1
    for number, other in changed.renumbered.items():
        assert before.members[number].name == after.members[other].name
    assert sum(number != other for number, other in changed.renumbered.items()) > 900


def test_grids_ask_for_parents_at_mixed_levels_and_come_again_with_their_seed() -> None:
    drawn = grids.drawn(OUTLINE, VOLUME, 7, 300)
    assert drawn == grids.drawn(OUTLINE, VOLUME, 7, 300)
    assert drawn != grids.drawn(OUTLINE, VOLUME, 8, 300)
    entity, product = OUTLINE[ENTITY], OUTLINE[PRODUCT]
    generations = {int(entity.generations[entity.numbers[grid.entity]]) for grid in drawn}
    assert generations == {1, 2, 3, 4}
    levels = {int(product.generations[product.numbers[grid.products[0]]]) for grid in drawn}
    assert levels == {1, 2, 3, 4}
    accounts = {name for grid in drawn for name in grid.accounts}
    assert {"GrossRevenue", "NetIncome", "GrossMarginPct"} <= accounts
    assert any(name.startswith("OPX_") for name in accounts)
    assert any(name.startswith("BS_") for name in accounts)
    assert any(grid.entity.startswith("Manager_") for grid in drawn)
    for grid in drawn:
        number = product.numbers[grid.products[0]]
        children = {product.members[child].name for child in product.children[number]}
        assert 1 <= len(grid.products) - 1 <= 20
        assert set(grid.products[1:]) <= children
        assert len(set(grid.accounts)) == 3
        assert len(grid.periods) == 8


def test_the_tables_of_the_outline_know_leaves_and_their_signs() -> None:
    rows = contents(OUTLINE, rates_of(OUTLINE, 42))
    after = restructure(OUTLINE).outline[ACCOUNT]
    signs = {(total, leaf): sign for total, leaf, sign in rows[TOTAL_TABLE]}
    assert signs[after.numbers["NetIncome"], after.numbers["GrossRevenue"]] == 1
    assert signs[after.numbers["NetIncome"], after.numbers["COGS"]] == -1
    assert signs[after.numbers["NetIncome"], after.numbers["OPX_001"]] == -1
    assert (after.numbers["NetIncome"], after.numbers["POOL_01"]) not in signs
    assert signs[after.numbers["Units"], after.numbers["Units"]] == 1
    assert len(rows[RENUMBERED_TABLE]) == 1024


def plan(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dialect: str = "postgresql",
    **parameters: Any,
) -> dict[str, Any]:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path))
    own = CubeParameters(scale=0.001, grids=5, check_grids=2, **parameters)
    context = LoadContext(1, not_started(dialect), tmp_path, 42)
    planned: dict[str, Any] = PlanningCube(own).plan(context)["parameters"]
    json.dumps(planned)
    return planned


def test_a_trial_cycles_and_then_retrieves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan(tmp_path, monkeypatch, cycles=2)
    (cycles,), (retrieval,) = planned["rounds"]
    works = [step["operation"] for step in cycles["steps"] if step["kind"] == "work"]
    assert works == [*STEPS, *STEPS]
    asked = [step["answer"] for step in cycles["steps"] if step["kind"] == "query"]
    assert len(asked) == len(set(asked))
    assert asked[-4:] == ["grid-0-stored", "grid-0-hybrid", "grid-1-stored", "grid-1-hybrid"]
    assert retrieval["asks"] == "retrieve"
    assert len(planned["requests"]) == 5


def test_a_hybrid_cube_aggregates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cycles,), _ = plan(tmp_path, monkeypatch, cycles=1, hybrid=True)["rounds"]
    assert not {step["operation"] for step in cycles["steps"]} & OF_PARENTS


def test_without_cycles_both_phases_retrieve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warm_up, measured = plan(tmp_path, monkeypatch, cycles=0)["rounds"]
    assert warm_up == measured
    profile = PlanningCube(CubeParameters(cycles=0)).loaded(ProfileSpec())
    assert profile.warm_up == 2.0


def test_parallel_steps_are_sessions_on_postgresql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cycles,), _ = plan(tmp_path, monkeypatch, cycles=1, alloc_tasks=3)["rounds"]
    allocate = next(step for step in cycles["steps"] if step["operation"] == "allocate")
    assert [len(stage) for stage in allocate["stages"]] == [3, 1]


def test_threads_of_a_step_are_set_back_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dialect, flavour in FLAVOURS.items():
        back = [*flavour.as_before()]
        assert len(back) == len(flavour.threads(3))
        (cycles,), _ = plan(tmp_path, monkeypatch, dialect, cycles=1)["rounds"]
        works = [step for step in cycles["steps"] if step["kind"] == "work"]
        for step in works[1:]:
            (job,) = step["stages"][-1]
            assert job[-len(back) :] == back, (dialect, step["operation"])


def test_duckdb_has_its_own_threads_again() -> None:
    flavour, asked = flavour_of("duckdb"), "SELECT current_setting('threads')"
    with duckdb.connect() as connection:
        before = connection.execute(asked).fetchone()
        for statement in flavour.threads(97):
            connection.execute(statement)
        assert connection.execute(asked).fetchone() == (97,)
        for statement in flavour.as_before():
            connection.execute(statement)
        assert connection.execute(asked).fetchone() == before


@pytest.mark.parametrize("threads", [1, 5, 16, 40])
def test_a_restructure_has_as_many_sessions_as_it_is_told(threads: int) -> None:
    work = restructured(flavour_of("postgresql"), OUTLINE, threads, hybrid=True)
    _, moving, (last,), _ = work.stages
    assert len(moving) == threads
    texts = [str(action) for job in moving for action in job]
    ranges = sorted(
        tuple(map(int, own)) for own in re.findall(r"BETWEEN (\d+) AND (\d+)", "".join(texts))
    )
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(OUTLINE[ENTITY]) - 1
    assert all(one[1] + 1 == other[0] for one, other in pairwise(ranges))
    assert f"SET max_parallel_maintenance_workers = {threads - 1}" in last
    assert any(str(action).startswith("CREATE INDEX") for action in last)


@pytest.mark.parametrize(
    ("engine", "setting"),
    [
        ("duckdb", "threads"),
        ("chdb", "max_threads"),
        ("postgresql", "max_parallel_workers_per_gather"),
    ],
)
def test_a_setting_that_the_steps_override_is_refused(engine: str, setting: str) -> None:
    def problems(cycles: int) -> list[str]:
        text = {
            "name": "threads",
            "workload": {"name": "cube", "parameters": {"cycles": cycles}},
            "target": {"engine": engine},
            "design": {"kind": "compare", "factor": f"target.{setting}", "levels": [1, 2]},
        }
        found = check_experiment(Experiment.model_validate(text))
        return [problem.message for problem in found]

    assert problems(0) == []
    said = problems(1)
    assert said
    assert all(f"target.{setting} would have no effect" in own for own in said)
    assert all("load_threads, calc_threads" in own for own in said)


@pytest.mark.parametrize("engine", ["mariadb", "sqlite"])
def test_an_engine_that_takes_no_cells_is_refused_with_the_meaning_of_that(engine: str) -> None:
    text = {"name": "x", "workload": {"name": "cube"}, "target": {"engine": engine}}
    said = [own.message for own in check_experiment(Experiment.model_validate(text))]
    assert any(
        f"cannot run on {engine}, which does not offer cells (the load generator stores" in own
        for own in said
    )


def test_a_dialect_without_a_way_is_refused() -> None:
    with pytest.raises(WrongInputError, match="no statements for mariadb"):
        flavour_of("mariadb")


def test_a_cycle_begins_with_its_reset() -> None:
    made = [
        StepRun("cycles", operation, "work", place, place + 0.5)
        for place, operation in enumerate([*STEPS, *STEPS[:3]])
    ]
    first, second = cycles_of(made)
    assert first.is_whole(CubeParameters())
    assert first.seconds == pytest.approx(0.5 * len(STEPS))
    assert not second.is_whole(CubeParameters())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.0", "1.0", True),
        ("1.0", "1.0000000001", True),
        ("1.0", "1.0001", False),
        (None, None, True),
        (None, "0", False),
        ("0", None, False),
        ("0", "-0.0", True),
    ],
)
def test_missing_is_kept_apart_from_zero(one: str | None, other: str | None, same: bool) -> None:
    assert close(one, other) is same
