"""Factors: what a level needs, what is refused, and how it reaches the trial."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loadstone.errors import RefusedError, WrongInputError
from loadstone.experiments import conduct
from loadstone.experiments.designs import design_of
from loadstone.experiments.preflight.check import changes_of, check_experiment
from loadstone.experiments.preflight.refusals import (
    refuse_beyond_generator,
    refuse_impossible,
    refuse_unsafe,
)
from loadstone.factors.base import NEEDS_DATA, NEEDS_NOTHING, Parts
from loadstone.factors.in_force import unsafe_in
from loadstone.factors.registry import (
    FACTORS,
    apply_changes,
    examine,
    factor_kind,
    full_name,
)
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.capabilities import CAPABILITIES
from loadstone.targets.registry import TARGETS
from loadstone.targets.risks import Risk, is_unsafe
from loadstone.workloads.registry import WORKLOADS

EXAMPLES = {
    "target": ("target.work_mem", "8MB"),
    "workload": ("workload.warehouses", 2),
    "profile": ("profile.users", 3),
    "storage": ("storage.data", "loop:ext4,noatime"),
    "host": ("host.vm.swappiness", 10),
}


def experiment(**fields: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "oltp", "parameters": {"warehouses": 1}},
            "target": {"engine": "postgresql", "settings": {"shared_buffers": "64MB"}},
            **fields,
        }
    )


def noop(**fields: Any) -> Experiment:
    return experiment(workload={"name": "noop"}, target={"engine": "none"}, **fields)


def change(factor: str, level: Any) -> Change:
    return Change(factor=factor, level=level)


def test_workloads_and_targets_are_registered_under_their_own_names():
    assert {name: cls.name for name, cls in WORKLOADS.items()} == {name: name for name in WORKLOADS}
    assert {name: cls.engine for name, cls in TARGETS.items()} == {name: name for name in TARGETS}


def test_every_capability_that_is_asked_for_or_offered_is_explained():
    asked = {name for workload in WORKLOADS.values() for name in workload.requires}
    offered = {name for target in TARGETS.values() for name in target.capabilities}
    assert asked <= offered == set(CAPABILITIES)


def test_every_kind_of_factor_is_covered_here():
    assert set(FACTORS) == set(EXAMPLES)


@pytest.mark.parametrize("prefix", FACTORS)
def test_every_kind_examines_and_applies_a_level_and_leaves_the_base_alone(prefix: str):
    factor, level = EXAMPLES[prefix]
    base = experiment()
    info = examine(base, change(factor, level))
    assert (info.factor, info.level, info.refused, info.unsafe) == (factor, level, None, False)
    before = base.model_dump()
    changed = apply_changes(base, [change(factor, level)])
    assert changed != Parts.of(base)
    assert base.model_dump() == before
    assert FACTORS[prefix].about


@pytest.mark.parametrize("prefix", FACTORS)
def test_every_kind_refuses_what_it_does_not_know(prefix: str):
    with pytest.raises(WrongInputError, match="no_such_thing"):
        examine(experiment(), change(f"{prefix}.no_such_thing", 1))


@pytest.mark.parametrize("factor", ["users", "hosts.users", "profile.", ".users", ""])
def test_a_factor_needs_a_prefix_that_is_known(factor: str):
    with pytest.raises(WrongInputError, match="is no factor"):
        factor_kind(factor)


def test_later_changes_win_and_settings_of_the_base_stay():
    parts = apply_changes(
        experiment(),
        [change("target.work_mem", "8MB"), change("target.work_mem", "16MB")],
    )
    assert parts.target.settings == {"shared_buffers": "64MB", "work_mem": "16MB"}


def test_what_needs_new_data_and_what_does_not():
    assert examine(experiment(), change("workload.warehouses", 2)).needs == NEEDS_DATA
    assert examine(experiment(), change("workload.style", "procedures")).needs == NEEDS_NOTHING
    assert examine(experiment(), change("target.shared_buffers", "1GB")).needs == "restart"
    assert examine(experiment(), change("target.work_mem", "1MB")).needs == "reload"


def test_a_parameter_within_a_group_is_a_factor_too():
    parts = apply_changes(experiment(), [change("workload.mix.new-order", 5)])
    mix = parts.workload.parameters["mix"]
    assert isinstance(mix, dict)
    assert mix["new-order"] == 5
    assert mix["payment"] == 10


def test_profile_levels_are_written_as_in_a_file():
    base = experiment(profile={"warm_up": "250ms", "measure": "90s"})
    parts = apply_changes(base, [change("profile.measure", "2min")])
    assert (parts.profile.measure, parts.profile.warm_up) == (120.0, 0.25)
    with pytest.raises(WrongInputError, match=r"profile\.measure: 30 has no unit"):
        apply_changes(base, [change("profile.measure", 30)])
    with pytest.raises(WrongInputError, match="rate_per_s belongs to an open load"):
        apply_changes(base, [change("profile.rate_per_s", 100)])


def test_only_what_was_written_is_kept_in_a_profile():
    """A default that was not written must not come back as if it had been."""
    parts = apply_changes(noop(profile={"users": 2}), [change("profile.users", 4)])
    assert parts.profile.model_fields_set == {"users"}


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("users", "profile.users"),
        ("warehouses", "workload.warehouses"),
        ("mix.payment", "workload.mix.payment"),
        ("shared_buffers", "target.shared_buffers"),
        ("target.users", "target.users"),
    ],
)
def test_short_names_mean_the_factor_that_has_them(name: str, factor: str):
    assert full_name("oltp", name) == factor


def test_a_value_is_safe_only_if_it_is_known_to_be():
    risks = {
        "sync": Risk.of(safe="on fast", unsafe="off"),
        "recovery": Risk.of(safe="0", unsafe=None),
    }
    assert [is_unsafe(risks, "sync", each) for each in ("ON", "fast", "Off")] == [
        *(False, False, True)
    ]
    assert is_unsafe(risks, "recovery", "7")
    assert not is_unsafe(risks, "other", "off")
    for unknown in ("lazy", None):
        with pytest.raises(WrongInputError, match="acknowledged commits could be lost") as caught:
            is_unsafe(risks, "sync", unknown)
        assert caught.value.advice == "choose one of fast, off, on"


def test_unsafe_settings_are_named_and_refused_without_leave():
    base = experiment(design={"kind": "compare", "factor": "target.fsync", "levels": ["on", "off"]})
    variants = design_of(base).variants(base)
    assert unsafe_in(apply_changes(base, variants[1].changes)) == ["fsync=off"]
    with pytest.raises(RefusedError, match=r"unsafe: fsync=off \(in 'fsync=off'\)") as caught:
        refuse_unsafe(base, variants, allowed=False)
    assert "--allow-unsafe" in (caught.value.advice or "")
    refuse_unsafe(base, variants, allowed=True)


def test_a_setting_that_cannot_be_changed_is_refused_with_the_reason():
    base = experiment(target={"engine": "postgresql", "settings": {"block_size": 8192}})
    with pytest.raises(RefusedError, match=r"target\.block_size cannot be changed: "):
        refuse_impossible(base, [])
    with pytest.raises(RefusedError, match=r"target\.block_size cannot be changed: "):
        refuse_impossible(experiment(), [change("target.block_size", 8192)])


# -- whether an experiment can run -------------------------------------------------------------


def test_an_engine_within_the_driver_is_not_doubled():
    base = Parts.of(experiment(target={"engine": "sqlite"}))
    with pytest.raises(WrongInputError, match="sqlite"):
        refuse_beyond_generator(replace(base, profile=ProfileSpec(processes=2)))
    refuse_beyond_generator(replace(base, profile=ProfileSpec(processes=1)))
    other = replace(base, target=TargetSpec(engine="postgresql"))
    refuse_beyond_generator(replace(other, profile=ProfileSpec(processes=2)))


@pytest.mark.parametrize("level", [0, -1, 257, "many", 1.5])
def test_a_number_of_processes_that_makes_no_sense_is_refused(level: Any):
    with pytest.raises(WrongInputError, match=r"profile\.processes"):
        examine(noop(), change("profile.processes", level))


def test_a_right_experiment_has_no_problems():
    assert check_experiment(experiment()) == []
    assert check_experiment(noop()) == []


@pytest.mark.parametrize(
    ("fields", "path", "answer"),
    [
        ({"target": {"engine": "none"}}, ("target", "engine"), "cannot run on none"),
        (
            {"target": {"engine": "postgresql", "settings": {"shared_bufers": 1}}},
            ("target", "settings", "shared_bufers"),
            "no setting 'shared_bufers'",
        ),
        ({"metric": "speed"}, ("metric",), "no metric 'speed'"),
        (
            {"design": {"kind": "compare", "factor": "profile.users", "levels": [1, 0]}},
            ("design", "levels", 1),
            "greater than or equal to 1",
        ),
        (
            {"design": {"kind": "sweep", "factors": {"workload.style": ["statements", "magic"]}}},
            ("design", "factors", "workload.style", 1),
            "magic",
        ),
        (
            {"design": {"kind": "ladder", "rungs": [{"name": "a", "change": {"users": 2}}]}},
            ("design", "rungs", 0, "change", "users"),
            "is no factor",
        ),
        (
            {
                "design": {
                    "kind": "ladder",
                    "reference": "linux-maximum",
                    "rungs": [{"name": "a", "change": {"profile.users": 2}}],
                }
            },
            ("design", "reference"),
            "linux-maximus",
        ),
    ],
)  # fmt: skip
def test_what_cannot_run_is_answered_with_its_field(
    fields: dict[str, Any], path: tuple[str | int, ...], answer: str
):
    problems = check_experiment(experiment(**fields))
    assert [problem.path for problem in problems] == [path]
    assert answer in problems[0].message


CURVE = {"kind": "scale", "over": "users", "levels": [1, 2]}


def test_factors_of_a_curve_and_the_first_level_of_a_search_are_named():
    found = [each for _, each in changes_of(experiment(design=CURVE))]
    assert found == [change("profile.users", 1), change("profile.users", 2)]
    search = experiment(design={"kind": "search", "from": 4})
    assert [each for _, each in changes_of(search)] == [change("profile.users", 4)]


def test_a_curve_over_a_setting_that_cannot_be_changed_is_refused_before_it_begins():
    own = experiment(design={**CURVE, "over": "target.port"})
    assert check_experiment(own) == []
    with pytest.raises(RefusedError, match="port cannot be changed: Loadstone sets it itself"):
        conduct.examine(own, allow_unsafe=False)


@pytest.mark.parametrize(
    ("design", "path"),
    [
        ({**CURVE, "over": "target.no_such_setting"}, ("design", "levels")),
        ({**CURVE, "over": "no_factor"}, ("design", "over")),
        ({"kind": "search", "over": "rate", "from": 10}, ("design", "over")),
    ],
)
def test_what_is_wrong_with_a_curve_or_a_search_is_said_once(
    design: dict[str, Any], path: tuple[str, ...]
):
    problems = check_experiment(experiment(design=design))
    assert [problem.path for problem in problems] == [path]


def test_a_percentile_of_an_operation_is_a_metric():
    assert check_experiment(experiment(metric="new-order p95")) == []
