"""Trials that the machine disturbed are made again right after their block, with its load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sample_trials import rate_of, result_of

from loadstone.experiments import series
from loadstone.experiments.designs import stages_of
from loadstone.experiments.designs.base import AllAtOnce
from loadstone.experiments.designs.deciding import compare
from loadstone.results.record import (
    DurabilityRecord,
    Notice,
    Status,
    TrialResult,
)
from loadstone.results.statistics import judge, within_blocks
from loadstone.results.taken import Taken
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

COMPARE = {"kind": "compare", "factor": "workload.sigma", "levels": [0.3, 0.4]}
CANDIDATE = "sigma=0.4"
Run = Callable[[TrialPlan], TrialResult]


def experiment(design: dict[str, Any] = COMPARE, **fields: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "profile": {"load": "open", "rate_per_s": 100},
            "design": design,
            "repeats": 4,
            **fields,
        }
    )


def made_of(plan: TrialPlan, *, disturbed: bool = False, rate: float = 100.0) -> TrialResult:
    if plan.crash is not None:
        return result_of(
            plan, [], durability=DurabilityRecord(failure="kill", crashed_at_s=1.0, acknowledged=5)
        )
    return result_of(plan, [rate_of(rate)], Status.DISTURBED if disturbed else Status.VALID)


class Observer:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.planned: list[int] = []

    def trial_begins(self, _plan: TrialPlan, _number: int, planned: int) -> None:
        self.planned.append(planned)

    def trial_ends(self, _result: TrialResult) -> None:
        pass

    def notice(self, notice: Notice) -> None:
        self.notices.append(notice)


class Made:
    """The product's own series, of trials that take no time."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        of: Experiment,
        run: Run,
        stages: series.Stages | None = None,
    ) -> None:
        self.plans: list[TrialPlan] = []
        self.observer = Observer()

        def run_trial(plan: TrialPlan, _folder: object, _lab: object) -> TrialResult:
            self.plans.append(plan)
            return run(plan)

        monkeypatch.setattr(series, "run_trial", run_trial)
        monkeypatch.setattr(series, "Space", lambda: SimpleNamespace(refuse=lambda _parts: None))
        folder: Any = SimpleNamespace(
            name="x", path="x", trial=lambda _plan: None, write_design=lambda *_, **__: None
        )
        interrupts = SimpleNamespace(requested=False)
        lab: Any = SimpleNamespace(interrupts=interrupts, observer=self.observer, standing={})
        made = series.Series(of, stages or stages_of(of), folder, lab, "x")
        made.make()
        self.results = made.results

    @property
    def trials(self) -> list[str]:
        return [plan.trial for plan in self.plans]


def disturbing(*trials: str) -> Run:
    return lambda plan: made_of(plan, disturbed=plan.trial in trials)


def planned(of: Experiment) -> list[str]:
    return [plan.trial for plan in stages_of(of).next([])]


@pytest.mark.parametrize("at", range(8))
def test_it_comes_right_after_its_block_with_its_load(
    monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    of = experiment()
    names = planned(of)
    made = Made(monkeypatch, of, disturbing(names[at]))
    end_of_block = 2 * (at // 2 + 1)
    again = f"{names[at]}-again2"
    assert made.trials == [*names[:end_of_block], again, *names[end_of_block:]]
    first, second = made.plans[at], made.plans[end_of_block]
    assert (second.block, second.seed) == (first.block, first.seed)
    assert second.variant == first.variant
    assert second.profile == first.profile
    assert [plan.order for plan in made.plans] == list(range(1, 10))
    assert [notice.code for notice in made.observer.notices] == ["trial-disturbed"]
    assert made.observer.planned[-1] == 9


def test_all_of_a_block_come_in_the_order_in_which_they_were_disturbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = experiment()
    names = planned(of)
    made = Made(monkeypatch, of, disturbing(names[2], names[3]))
    assert made.trials[2:6] == [*names[2:4], f"{names[2]}-again2", f"{names[3]}-again2"]


def test_one_that_is_disturbed_twice_is_made_a_third_time(monkeypatch: pytest.MonkeyPatch) -> None:
    of = experiment(extra_trials=9)
    names = planned(of)
    made = Made(monkeypatch, of, disturbing(names[0], names[1], f"{names[0]}-again2"))
    assert made.trials[:5] == [
        *names[:2],
        f"{names[0]}-again2",
        f"{names[1]}-again2",
        f"{names[0]}-again3",
    ]
    assert len({plan.seed for plan in made.plans[:5]}) == 1


def test_the_rest_of_a_block_is_made_again_with_what_was_taken_from_half_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The third of four cells shows it: then the first two trials of the block are known too."""
    factors = {"workload.sigma": [0.2, 0.3], "workload.service_time_us": [50, 100]}
    of = experiment({"kind": "sweep", "factors": factors}, repeats=5, extra_trials=9)
    names = planned(of)
    much = [Taken(cause="disk", share=0.6, evidence="somebody wrote")]

    def run(plan: TrialPlan) -> TrialResult:
        taken = much if plan.trial in names[5:7] else []
        return made_of(plan).model_copy(update={"taken": taken})

    made = Made(monkeypatch, of, run)
    again = [f"{names[at]}-again2" for at in (5, 6, 4, 7)]
    assert sorted(made.trials[8:12]) == sorted(again)
    assert made.trials[12:] == names[8:]
    first = made.observer.notices[0].message
    assert first == (
        f"{names[5]} is kept, left out and made again: somebody wrote while it was measured"
    )


def test_a_trial_that_counts_after_all_shares_its_block_with_the_one_in_its_place() -> None:
    of = experiment(repeats=5, metric="operations_per_s")
    pair = stages_of(of).pairs[0]
    results = [made_of(plan, rate=100.0 + plan.block) for plan in stages_of(of).next([])]
    twice = made_of(stages_of(of).next([])[0], rate=4 * (101.0))
    found = compare(of, [*results, twice], pair, 5)
    assert found is not None
    sign = 1.0 if twice.variant == pair.candidate else -1.0
    assert log(found.ratio) == pytest.approx(sign * log(2.0) / 5)


@pytest.mark.parametrize(("extra", "again"), [(0, 0), (3, 3), (None, 2)])
def test_no_more_are_made_again_than_extra_trials_allows(
    monkeypatch: pytest.MonkeyPatch, extra: int | None, again: int
) -> None:
    of = experiment(extra_trials=extra)
    made = Made(monkeypatch, of, lambda plan: made_of(plan, disturbed=True))
    assert len(made.trials) == 8 + again
    assert len(set(made.trials)) == len(made.trials)


def test_every_stage_of_a_ladder_ends_with_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    rungs = [
        {"name": name, "change": {"workload.service_time_us": 50 + at}}
        for at, name in enumerate(("first", "second"))
    ]
    of = experiment(
        {"kind": "ladder", "keep": "better", "rungs": rungs},
        extra_trials=99,
        metric="operations_per_s",
    )

    def run(plan: TrialPlan) -> TrialResult:
        last_of_stage = plan.block in (4, 8) and "-again" not in plan.trial
        scatter = 1 + 0.001 * (plan.block * 7 % 5) * (plan.variant.name == "baseline")
        rate = {"baseline": 100, "first": 150, "second": 200}[plan.variant.name]
        return made_of(plan, disturbed=last_of_stage, rate=rate * scatter)

    made = Made(monkeypatch, of, run)
    stages = [1 + (plan.block - 1) // 4 for plan in made.plans]
    assert stages == sorted(stages)
    assert [stages.count(each) for each in (1, 2, 3)] == [10, 10, 8]


def test_a_cell_of_a_sweep_comes_after_all_others_of_its_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factors = {"workload.sigma": [0.2, 0.3], "workload.service_time_us": [50, 100]}
    of = experiment({"kind": "sweep", "factors": factors}, repeats=3)
    names = planned(of)
    made = Made(monkeypatch, of, disturbing(names[4]))
    assert made.trials == [*names[:8], f"{names[4]}-again2", *names[8:]]


def test_crashes_come_after_all_that_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of = experiment(durability="kill", crashes=2)
    last = planned(of)[-1]
    made = Made(monkeypatch, of, disturbing(last))
    assert [plan.crash is not None for plan in made.plans] == [False] * 9 + [True] * 4
    assert made.trials[8] == f"{last}-again2"


# -- what it is good for ----------------------------------------------------------------------
DRIFT = 0.2
"""By so many standard deviations of a trial, each trial is better than the one before."""


def drawn_shifts(
    monkeypatch: pytest.MonkeyPatch, seeds: Iterable[int], noise: float
) -> list[tuple[float, float]]:
    """Shift in standard deviations, and p, of experiments in which half of one level's trials
    are disturbed the first time."""
    stages = {}
    found = []
    for seed in seeds:
        of = experiment(seed=seed % 40, repeats=6, extra_trials=99)
        if of.seed not in stages:
            first = stages_of(of)
            stages[of.seed] = (first.variants, first.pairs, first.next([]))
        variants, pairs, plans = stages[of.seed]
        rng = np.random.default_rng(seed)
        made: list[float] = []

        def run(
            plan: TrialPlan, rng: np.random.Generator = rng, made: list[float] = made
        ) -> TrialResult:
            made.append(DRIFT * len(made) + noise * rng.normal())
            again = "-again" in plan.trial
            disturbed = plan.variant.name == CANDIDATE and not again and rng.random() < 0.5
            return made_of(plan, disturbed=disturbed)

        done = Made(monkeypatch, of, run, AllAtOnce(variants, pairs, list(plans)))
        levels: dict[str, dict[int, float]] = {}
        for result, value in zip(done.results, made, strict=True):
            if result.status is Status.VALID:
                levels.setdefault(result.variant, {})[result.block] = float(np.exp(0.01 * value))
        (baseline,) = levels.keys() - {CANDIDATE}
        contrast = within_blocks(levels, CANDIDATE, baseline)
        (comparison,) = judge([contrast], higher_is_better=[True])
        found.append((contrast.shift / 0.01, comparison.p_value))
    return found


def test_a_level_that_is_disturbed_more_often_gains_little_from_a_drift(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half the time a trial comes 1.5 places later: 0.15 sd. At the end of the stage, it is 0.8."""
    shifts = [shift for shift, _ in drawn_shifts(monkeypatch, range(40), noise=0.0)]
    assert np.mean(shifts) == pytest.approx(0.15, abs=0.06)


@pytest.mark.long
def test_it_makes_hardly_any_false_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [p <= 0.05 for _, p in drawn_shifts(monkeypatch, range(2000), noise=1.0)]
    assert np.mean(claims) <= 0.07
