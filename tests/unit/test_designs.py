"""Designs: every block has every variant once, pairs exist, and a seed means an order."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW
from sample_trials import rate_of, result_of

from loadstone.experiments.designs import DESIGNS, design_of, repeated
from loadstone.experiments.designs.arrange import trial_id, trial_seed
from loadstone.experiments.designs.climb import Climb
from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.record import TrialResult
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import TrialPlan

RUNGS = [
    {"name": "faster", "change": {"workload.service_time_us": 50}, "because": "less to do"},
    {"name": "useless", "change": {"workload.sigma": 0.4}},
    {"name": "slower", "change": {"workload.service_time_us": 200}},
]

EXAMPLES: dict[str, dict[str, Any]] = {
    "run": {"kind": "run"},
    "compare": {"kind": "compare", "factor": "profile.users", "levels": [1, 2, 2]},
    "ladder": {"kind": "ladder", "rungs": RUNGS},
    "sweep": {
        "kind": "sweep",
        "factors": {"profile.users": [1, 2], "workload.distribution": ["constant", "lognormal"]},
    },
    "crash": {"kind": "crash"},
    "graduate": {"kind": "graduate"},
    "search": {"kind": "search", "from": 10, "at_most": 100},
    "scale": {"kind": "scale", "over": "users", "levels": {"from": 1, "to": 3}},
}


def experiment(design: dict[str, Any], *, repeats: int = 3, **fields: Any) -> Experiment:
    if design["kind"] == "crash":  # its crashes are its repeats
        design, repeats = {**design, "crashes": repeats}, 1
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop", "parameters": {"service_time_us": 100}},
            "target": {"engine": "none"},
            "design": design,
            "repeats": repeats,
            **fields,
        }
    )


def test_every_design_is_covered_here():
    assert set(DESIGNS) == set(EXAMPLES)


every_design = pytest.mark.parametrize("kind", DESIGNS)
every_arranged = pytest.mark.parametrize("kind", [kind for kind in DESIGNS if kind != "search"])
"""Those whose trials are known before the first one is made."""


@every_arranged
@given(repeats=st.integers(1, 6), seed=st.integers(0, 2**63 - 1))
@SLOW
def test_every_block_has_every_variant_once(kind: str, repeats: int, seed: int):
    given_one = experiment(EXAMPLES[kind], repeats=repeats, seed=seed)
    design = design_of(given_one)
    plans = design.stages(given_one).next([])
    names = [variant.name for variant in design.variants(given_one)]
    for block in range(1, repeats + 1):
        assert Counter(p.variant.name for p in plans if p.block == block) == Counter(names)
    assert len(plans) == design.trials_planned(given_one) == repeats * len(names)
    assert [plan.order for plan in plans] == list(range(1, len(plans) + 1))


@every_design
def test_pairs_name_variants_and_nothing_is_compared_with_itself(kind: str):
    given_one = experiment(EXAMPLES[kind])
    design = design_of(given_one)
    names = [variant.name for variant in design.variants(given_one)]
    assert len(set(names)) == len(names)
    for pair in design.pairs(given_one):
        assert pair.candidate in names
        assert pair.baseline in names
        assert pair.candidate != pair.baseline
    judged = {pair.candidate for pair in design.pairs(given_one)}
    assert judged == (set() if kind == "scale" else set(names[1:]))


@every_arranged
def test_the_same_seed_is_the_same_order_and_another_seed_another(kind: str):
    def order(seed: int) -> list[tuple[str, int]]:
        given_one = experiment(EXAMPLES[kind], seed=seed, repeats=8)
        return [(p.trial, p.seed) for p in design_of(given_one).stages(given_one).next([])]

    assert order(1) == order(1)
    assert order(1) != order(2)


@every_arranged
def test_trials_of_a_block_see_the_same_load_and_all_the_same_data(kind: str):
    given_one = experiment(EXAMPLES[kind], seed=7)
    plans = design_of(given_one).stages(given_one).next([])
    seeds = {block: {p.seed for p in plans if p.block == block} for block in (1, 2, 3)}
    assert all(len(each) == 1 for each in seeds.values())
    assert len(set.union(*seeds.values())) == 3
    assert {plan.data_seed for plan in plans} == {7}


@every_design
def test_trial_ids_are_unique_and_safe_as_folders(kind: str):
    given_one = experiment(EXAMPLES[kind])
    trials = [plan.trial for plan in design_of(given_one).stages(given_one).next([])]
    assert len(set(trials)) == len(trials)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", trial) for trial in trials)


@every_design
def test_the_first_variant_is_the_base_and_others_say_what_they_are_built_on(kind: str):
    given_one = experiment(EXAMPLES[kind])
    first, *rest = design_of(given_one).variants(given_one)
    assert first.previous is None
    assert first.step == []
    names = {first.name}
    for variant in rest:
        assert variant.previous in names
        names.add(variant.name)


@given(st.text(max_size=200), st.integers(1, 999), st.integers(1, 99))
def test_any_name_makes_a_safe_trial_id(name: str, block: int, place: int):
    trial = trial_id(block, place, name)
    assert re.fullmatch(r"b\d{2,}-\d+-[A-Za-z0-9][A-Za-z0-9.-]*", trial)
    assert len(trial) <= 60
    assert trial == trial_id(block, place, name)


def test_a_ladder_is_cumulative():
    given_one = experiment(EXAMPLES["ladder"])
    base, faster, useless, slower = design_of(given_one).variants(given_one)
    assert base.changes == []
    assert [(c.factor, c.level) for c in useless.changes] == [
        ("workload.service_time_us", 50),
        ("workload.sigma", 0.4),
    ]
    assert [(c.factor, c.level) for c in slower.changes] == [
        ("workload.service_time_us", 200),
        ("workload.sigma", 0.4),
    ]
    assert [c.level for c in slower.step] == [200]
    assert faster.because == "less to do"
    plans = design_of(given_one).stages(given_one).next([])
    parameters = {p.variant.name: p.workload.parameters for p in plans}
    assert parameters["baseline"] == {"service_time_us": 100}
    assert parameters["useless"] == {"service_time_us": 50, "sigma": 0.4}


def test_each_rung_is_judged_against_the_one_before_and_the_baseline():
    given_one = experiment(EXAMPLES["ladder"])
    pairs = design_of(given_one).pairs(given_one)
    assert [(p.candidate, p.baseline, p.role) for p in pairs] == [
        ("faster", "baseline", "previous"),
        ("useless", "faster", "previous"),
        ("slower", "useless", "previous"),
        ("faster", "baseline", "baseline"),
        ("useless", "baseline", "baseline"),
        ("slower", "baseline", "baseline"),
    ]


def test_rungs_need_names_of_their_own():
    rungs = [{**RUNGS[0], "name": "baseline"}, RUNGS[1], RUNGS[1]]
    problems = DESIGNS["ladder"].problems(experiment({"kind": "ladder", "rungs": rungs}))
    assert [problem.path[2] for problem in problems] == [0, 2]


def test_one_at_a_time_changes_one_factor_of_the_first_cell():
    design = {**EXAMPLES["sweep"], "matrix": "one-at-a-time"}
    variants = DESIGNS["sweep"].variants(experiment(design))
    assert [variant.name for variant in variants] == [
        "users=1, distribution=constant",
        "users=2",
        "distribution=lognormal",
    ]
    assert all(len(variant.step) == 1 for variant in variants[1:])


def test_a_disturbed_trial_is_made_again_with_its_own_load():
    given_one = experiment(EXAMPLES["run"])
    plan = design_of(given_one).stages(given_one).next([])[0]
    second = repeated(plan, 2, 9)
    third = repeated(second, 3, 10)
    assert [each.trial for each in (second, third)] == [
        f"{plan.trial}-again2",
        f"{plan.trial}-again3",
    ]
    assert (second.seed, second.block, second.order) == (plan.seed, plan.block, 9)


def test_a_run_can_begin_at_another_block_and_draws_its_load():
    given_one = experiment({"kind": "run", "first_block": 3}, repeats=1, seed=5)
    plan = design_of(given_one).stages(given_one).next([])[0]
    assert (plan.block, plan.seed) == (3, trial_seed(5, 3))


# -- a ladder that keeps only what is better --------------------------------------------------


def climb(rates: dict[str, float], repeats: int = 5) -> tuple[Climb, list[list[str]]]:
    """Climbs with a made-up rate per variant, a little apart in each trial."""
    ladder = {**EXAMPLES["ladder"], "keep": "better"}
    given_one = experiment(ladder, repeats=repeats)
    stages = design_of(given_one).stages(given_one)
    assert isinstance(stages, Climb)
    results: list[TrialResult] = []
    made: list[list[str]] = []
    while plans := stages.next(results):
        made.append(sorted({plan.variant.name for plan in plans}))
        results += [outcome(plan, rates) for plan in plans]
    return stages, made


def outcome(plan: TrialPlan, rates: dict[str, float]) -> TrialResult:
    rate = rates[plan.variant.name] * (1 + 0.001 * (plan.block % 7))
    return result_of(plan, [rate_of(rate)])


def test_only_better_rungs_are_kept_and_the_next_is_built_on_them():
    stages, made = climb({"baseline": 100, "faster": 150, "useless": 150, "slower": 90})
    assert stages.kept == {"faster": True, "useless": False, "slower": False}
    assert made == [["baseline", "faster"], ["faster", "useless"], ["faster", "slower"]]
    by_name = {variant.name: variant for variant in stages.variants}
    assert by_name["slower"].previous == "faster"
    assert [c.factor for c in by_name["slower"].changes] == ["workload.service_time_us"]


def test_at_last_the_baseline_meets_what_was_kept():
    stages, made = climb({"baseline": 100, "faster": 150, "useless": 170, "slower": 90})
    assert stages.kept == {"faster": True, "useless": True, "slower": False}
    assert made[-1] == ["baseline", "useless"]
    assert [(p.candidate, p.baseline) for p in stages.pairs if p.role == "baseline"] == [
        ("useless", "baseline")
    ]


def test_nothing_is_kept_when_nothing_is_better():
    stages, made = climb({"baseline": 100, "faster": 100, "useless": 100, "slower": 100})
    assert stages.kept == {"faster": False, "useless": False, "slower": False}
    assert made == [["baseline", name] for name in ("faster", "useless", "slower")]


def test_too_few_repeats_keep_nothing():
    stages, _ = climb({"baseline": 1, "faster": 9, "useless": 9, "slower": 9}, repeats=3)
    assert not any((stages.kept or {}).values())


def test_a_rung_that_does_nothing_at_all_is_not_kept():
    stages, _ = climb({"baseline": 100, "faster": 0, "useless": 100, "slower": 100})
    assert not any((stages.kept or {}).values())
    stages, _ = climb({"baseline": 0, "faster": 100, "useless": 100, "slower": 100})
    assert not any((stages.kept or {}).values())


def test_no_more_trials_are_made_than_planned():
    given_one = experiment({**EXAMPLES["ladder"], "keep": "better"}, repeats=5)
    _, made = climb({"baseline": 100, "faster": 150, "useless": 170, "slower": 190})
    assert sum(len(stage) * 5 for stage in made) <= design_of(given_one).trials_planned(given_one)


def test_blocks_go_on_counting_from_stage_to_stage():
    given_one = experiment({**EXAMPLES["ladder"], "keep": "better"}, repeats=2)
    stages = design_of(given_one).stages(given_one)
    first = stages.next([])
    second = stages.next([outcome(plan, {"baseline": 1, "faster": 1}) for plan in first])
    assert {plan.block for plan in first} == {1, 2}
    assert {plan.block for plan in second} == {3, 4}
    assert [plan.order for plan in second] == [5, 6, 7, 8]


# -- a curve ----------------------------------------------------------------------------------


def scale(**design: Any) -> Experiment:
    return experiment({"kind": "scale", **design}, repeats=1)


def test_levels_of_a_curve_are_a_list_or_a_range():
    design = DESIGNS["scale"]
    names = [v.name for v in design.variants(scale(over="users", levels=[4, 1, 2]))]
    assert names == ["users=1", "users=2", "users=4"]
    ranged = scale(over="users", levels={"from": 1, "to": 8, "step": 3})
    assert [v.name for v in design.variants(ranged)] == [f"users={n}" for n in (1, 4, 7, 8)]


def test_users_that_are_no_whole_numbers_are_not_rounded():
    ranged = scale(over="users", levels={"from": 1, "to": 2, "step": 0.5})
    variants = DESIGNS["scale"].variants(ranged)
    assert [c.level for v in variants for c in v.changes] == [1, 1.5, 2]


def test_clients_are_what_the_workload_makes_of_users():
    archive = WorkloadSpec(name="archive", parameters={"events_per_s": 500})
    given = scale(over="clients", levels=[1, 8]).model_copy(update={"workload": archive})
    variants = DESIGNS["scale"].variants(given)
    assert [v.name for v in variants] == ["users=1", "users=8"]
    changes = [(c.factor, c.level) for v in variants for c in v.changes]
    assert changes == [("workload.rate", 500), ("workload.rate", 4000)]


def test_processors_are_the_first_n_of_the_server():
    variants = DESIGNS["scale"].variants(scale(over="processors", levels=[1, 2, 4]))
    changes = [(c.factor, c.level) for v in variants for c in v.changes]
    assert changes == [("host.server.cpus", level) for level in ("0", "0-1", "0-3")]


def test_any_factor_whose_levels_are_numbers_can_be_scaled():
    variants = DESIGNS["scale"].variants(scale(over="workload.sigma", levels=[0.5, 1]))
    assert [c.level for v in variants for c in v.changes] == [0.5, 1]


def test_users_in_proportion_grow_with_what_is_scaled():
    given = scale(over="target.nodes", levels=[1, 2, 4], users_each=40)
    variants = DESIGNS["scale"].variants(given)
    assert [v.name for v in variants] == [
        "nodes=1, users=40",
        "nodes=2, users=80",
        "nodes=4, users=160",
    ]
    assert [(c.factor, c.level) for c in variants[2].changes] == [
        ("target.nodes", 4),
        ("profile.users", 160),
    ]
    assert DESIGNS["scale"].problems(given) == []


def test_users_in_proportion_may_be_fewer_than_one_of_many():
    given = scale(over="workload.service_time_us", levels=[50, 100], users_each=0.1)
    assert DESIGNS["scale"].problems(given) == []
    plans = design_of(given).stages(given).next([])
    assert {p.variant.name: p.profile.users for p in plans} == {
        "service_time_us=50, users=5": 5,
        "service_time_us=100, users=10": 10,
    }


def test_users_in_proportion_are_what_the_workload_makes_of_them():
    archive = WorkloadSpec(name="archive", parameters={"events_per_s": 500})
    given = scale(over="processors", levels=[1, 2], users_each=4)
    variants = DESIGNS["scale"].variants(given.model_copy(update={"workload": archive}))
    assert [v.name for v in variants] == ["server.cpus=0, users=4", "server.cpus=0-1, users=8"]
    assert [(c.factor, c.level) for c in variants[1].changes] == [
        ("host.server.cpus", "0-1"),
        ("workload.rate", 4000),
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"over": "users"}, "users are what is scaled"),
        ({"over": "clients"}, "clients are what is scaled"),
        ({"over": "target.nodes", "users_each": 2.5}, "2.5 users at 1"),
        ({"over": "target.nodes", "users_each": 0.5, "levels": [1, 2]}, "0.5 users at 1"),
    ],
)
def test_users_that_cannot_be_in_proportion_are_named(fields: dict[str, Any], said: str):
    given = scale(**{"levels": [1, 3], "users_each": 4, **fields})
    (problem,) = DESIGNS["scale"].problems(given)
    assert problem.path == ("design", "users_each")
    assert said in problem.message


def test_an_open_load_has_no_users_in_proportion():
    design = {"kind": "scale", "over": "processors", "levels": [1, 2], "users_each": 4}
    given = experiment(design, repeats=1, profile={"load": "open", "rate_per_s": 10.0})
    (problem,) = DESIGNS["scale"].problems(given)
    assert "an open load has a rate" in problem.message


@pytest.mark.parametrize(
    ("design", "path"),
    [
        ({"over": "users", "levels": [1, 1]}, ("design", "levels")),
        ({"over": "users", "levels": [0, 1]}, ("design", "levels")),
        ({"over": "processors", "levels": [1, 1.5]}, ("design", "levels")),
        ({"over": "nonsense", "levels": [1, 2]}, ("design", "over")),
        ({"over": "users", "levels": {"from": 4, "to": 4}}, ("design", "levels", "to")),
        (
            {"over": "users", "levels": {"from": 1, "to": 9, "step": 0.01}},
            ("design", "levels", "step"),
        ),
    ],
)
def test_wrong_levels_of_a_curve_are_named(design: dict[str, Any], path: tuple[str, ...]):
    problems = DESIGNS["scale"].problems(scale(**design))
    assert [problem.path for problem in problems] == [path]


# -- what the cells of a sweep are held against -----------------------------------------------
RATE, SERVICE = "operations_per_s", "workload.service_time_us"


def held(relative_to: dict[str, Any], **design: Any) -> Experiment:
    factors = {"profile.users": [1, 2], SERVICE: [50, 100]}
    return experiment(
        {"kind": "sweep", "factors": factors, "relative_to": relative_to, **design}, repeats=1
    )


def pairs_of(given_one: Experiment) -> set[tuple[str, str, str | None]]:
    return {
        (pair.candidate, pair.baseline, pair.metric)
        for pair in design_of(given_one).pairs(given_one)
    }


def test_a_cell_is_held_against_the_one_that_is_named_for_a_figure():
    given_one = held({RATE: {"profile.users": 2, SERVICE: 50}})
    against = "users=2, service_time_us=50"
    assert pairs_of(given_one) == {
        ("users=1, service_time_us=50", against, RATE),
        ("users=1, service_time_us=100", against, RATE),
        ("users=2, service_time_us=100", against, RATE),
    }
    assert design_of(given_one).families(given_one) == {"baseline": 3}
    assert DESIGNS["sweep"].problems(given_one) == []


def test_a_factor_that_is_not_named_keeps_the_level_of_the_cell():
    assert pairs_of(held({RATE: {"profile.users": 1}})) == {
        ("users=2, service_time_us=50", "users=1, service_time_us=50", RATE),
        ("users=2, service_time_us=100", "users=1, service_time_us=100", RATE),
    }


def test_figures_that_are_not_named_are_held_against_the_first_cell():
    given_one = held({RATE: {"profile.users": 1}}).model_copy(
        update={"metric": ["response_p95_ms"]}
    )
    first = "users=1, service_time_us=50"
    others = {pair for pair in pairs_of(given_one) if pair[2] is None}
    assert {(candidate, baseline) for candidate, baseline, _ in others} == {
        ("users=1, service_time_us=100", first),
        ("users=2, service_time_us=50", first),
        ("users=2, service_time_us=100", first),
    }
    assert design_of(given_one).families(given_one) == {"baseline": 3 + 2}


@pytest.mark.parametrize(
    ("relative_to", "path", "said"),
    [
        ({RATE: {"profile.user": 1}}, ("profile.user",), "no such factor; did you mean"),
        ({RATE: {"profile.users": 3}}, ("profile.users",), "3 is none of its levels"),
    ],
)
def test_a_cell_that_the_matrix_does_not_have_is_named(
    relative_to: dict[str, Any], path: tuple[str, ...], said: str
):
    (problem,) = DESIGNS["sweep"].problems(held(relative_to))
    assert problem.path == ("design", "relative_to", RATE, *path)
    assert said in problem.message


def test_one_factor_at_a_time_has_no_reference_for_each_cell():
    given_one = held({RATE: {"profile.users": 2}}, matrix="one-at-a-time")
    (problem,) = DESIGNS["sweep"].problems(given_one)
    assert "matrix: full" in problem.message


def test_a_figure_that_the_workload_does_not_have_is_no_reference():
    problems = check_experiment(held({"operations": {"profile.users": 1}}))
    assert [problem.path for problem in problems] == [("design", "relative_to", "operations")]
    assert "there is no metric 'operations'" in problems[0].message
