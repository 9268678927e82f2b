"""Experiments that may stop at looks: what they claim, when they stop, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import loadstone
from sample_trials import result_of

from loadstone.errors import ExitCode
from loadstone.experiments.designs import Stages, design_of
from loadstone.experiments.file import parse_experiment
from loadstone.report.comparisons import comparisons
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.variants import MetricInfo
from loadstone.report.notices import _undecided
from loadstone.report.reading import DesignRecord, PairRecord, RecordedExperiment, RecordedTrial
from loadstone.results.record import MetricValue, Status, TrialResult
from loadstone.results.statistics import LookPlan, Member, Method, Verdict, judge_at_looks
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.judging import judged_metrics

LOOKS = (4, 6, 8, 12)
PLAN = LookPlan(LOOKS, 1, 0.05)
METRIC, COST = "operations_per_s", "driver_cpu_us"
COMPARE = {"kind": "compare", "factor": "workload.sigma", "levels": [0.3, 0.4]}
LADDER = {
    "kind": "ladder",
    "rungs": [
        {"name": "faster", "change": {"workload.service_time_us": 50}},
        {"name": "useless", "change": {"workload.sigma": 0.4}},
        {"name": "slower", "change": {"workload.service_time_us": 200}},
    ],
}


def experiment(design: dict[str, Any], **fields: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop", "parameters": {"service_time_us": 100}},
            "target": {"engine": "none"},
            "design": {**design, "looks": LOOKS},
            **fields,
        }
    )


class Fake:
    """Makes the trials of an experiment up: a rate per variant and 1 % of scatter, and a cost."""

    def __init__(self, of: Experiment, rates: dict[str, float], seed: int = 0) -> None:
        self.experiment = of
        self.stages: Stages = design_of(of).stages(of)
        self.trials: list[tuple[TrialPlan, TrialResult]] = []
        self.stages_made: list[set[int]] = []
        self._rates = rates
        self._rng = np.random.default_rng(seed)
        self._costs = np.random.default_rng([seed, 1])

    @property
    def results(self) -> list[TrialResult]:
        return [result for _, result in self.trials]

    @property
    def blocks(self) -> int:
        return max(result.block for result in self.results)

    def make(self, *, most: int = 1000, missing: frozenset[tuple[int, str]] = frozenset()) -> Fake:
        """Makes at most so many trials; those of `missing` fail."""
        while plans := self.stages.next(self.results):
            self.stages_made.append({plan.block for plan in plans})
            for plan in plans:
                if len(self.trials) == most:
                    return self
                failed = (plan.block, plan.variant.name) in missing
                self.trials.append((plan, self._trial(plan, failed)))
        return self

    def _trial(self, plan: TrialPlan, failed: bool) -> TrialResult:
        rate = self._rates[plan.variant.name] * np.exp(self._rng.normal(0, 0.01))
        figure = MetricValue(
            name=METRIC, value=float(rate), unit="operations/s", higher_is_better=True
        )
        cost = MetricValue(
            name=COST,
            value=float(np.exp(self._costs.normal(0, 0.003))),
            unit="us",
            higher_is_better=False,
        )
        if failed:
            return result_of(plan, [], Status.FAILED)
        return result_of(plan, [figure, cost])

    def reported(self) -> list[ComparisonReport]:
        """What the report says of what was recorded."""
        pairs = [PairRecord(**vars(pair)) for pair in self.stages.pairs]
        folder = RecordedExperiment(
            Path("x"),
            self.experiment,
            DesignRecord(variants=self.stages.variants, pairs=pairs, kept=self.stages.kept),
            [RecordedTrial(Path(plan.trial), plan, result, {}) for plan, result in self.trials],
            [],
        )
        metrics = [
            MetricInfo(name=name, label=name, unit="", higher_is_better=name == METRIC)
            for name in judged_metrics(self.experiment)
        ]
        return comparisons(folder, metrics)[0]


def pair_of(logs: np.ndarray[Any, Any]) -> dict[str, dict[int, float]]:
    rows = enumerate(np.exp(logs), start=1)
    levels: dict[str, dict[int, float]] = {"a": {}, "b": {}}
    for block, (a, b) in rows:
        levels["a"][block], levels["b"][block] = float(a), float(b)
    return levels


def judged(levels: dict[str, dict[int, float]], made: int, plan: LookPlan = PLAN) -> Any:
    return judge_at_looks(Member(levels, "b", "a", made, higher_is_better=True), plan)


def test_so_many_looks_claim_no_more_than_one_would():
    rng = np.random.default_rng(3)
    found = [judged(pair_of(rng.normal(size=(12, 2))), 12) for _ in range(1000)]
    claims = [each.verdict in (Verdict.BETTER, Verdict.WORSE) for each in found]
    assert np.mean(claims) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / 1000))
    for each, claim in zip(found, claims, strict=True):
        assert claim == (each.adjusted_p <= 0.05) == (not each.low < 1 < each.high)


def test_a_large_change_is_found_in_half_of_ten_blocks():
    made = []
    for seed in range(80):
        rates = {"sigma=0.3": 100.0, "sigma=0.4": 100 * np.exp(0.03)}
        fake = Fake(experiment(COMPARE), rates, seed).make()
        (comparison,) = fake.reported()
        made.append((fake.blocks, comparison.verdict))
    assert sum(verdict == "better" for _, verdict in made) >= 77
    assert np.mean([blocks for blocks, _ in made]) == pytest.approx(5.2, abs=0.5)


def test_it_stops_as_soon_as_every_pair_is_decided_and_the_report_says_the_same():
    rates = {"baseline": 100.0, "faster": 150.0, "useless": 150.0, "slower": 90.0}
    for seed in range(4):
        climb = Fake(experiment({**LADDER, "keep": "better"}), rates, seed).make()
        steps = [each for each in climb.reported() if each.role == "previous"]
        assert climb.stages.kept == {each.candidate: each.verdict == "better" for each in steps}
        assert climb.stages_made[0] == {1, 2, 3, 4}, "the first rung is plain to see"
        assert [each.verdict for each in steps if each.candidate == "slower"] == ["worse"]
    all_stay = Fake(experiment(LADDER), rates).make()
    assert all_stay.blocks == 12, "a useless rung is looked for up to the last look"
    early = {each.candidate: each for each in all_stay.reported() if each.role == "baseline"}
    look = early["faster"].look
    assert look is not None and look.early and look.after == early["faster"].n_candidate == 4


def test_of_a_family_each_pair_has_its_share():
    design = {**COMPARE, "levels": [0.3, 0.4, 0.5]}
    rates = {"sigma=0.3": 100.0, "sigma=0.4": 110.0, "sigma=0.5": 90.0}
    fake = Fake(experiment(design), rates).make()
    assert {pair.decided_among for pair in fake.stages.pairs} == {2}
    for each in fake.reported():
        assert each.p_value is not None and each.p_adjusted == 2 * each.p_value
        assert each.interval_confidence == pytest.approx(0.975)
        assert each.test == Method.BLOCKS


def test_the_headline_stops_it_and_every_metric_has_its_share():
    rates = {"sigma=0.3": 100.0, "sigma=0.4": 120.0}
    fake = Fake(experiment(COMPARE, metric=[METRIC, COST]), rates).make()
    by_rate, by_cost = fake.reported()
    assert fake.blocks == 4
    assert (by_rate.verdict, by_cost.verdict) == ("better", "not decided yet")
    assert by_rate.interval_confidence == by_cost.interval_confidence == pytest.approx(0.975)
    assert by_cost.look is not None and by_cost.p_value is None
    (notice,) = _undecided([by_rate, by_cost], METRIC)
    assert notice.severity == "info" and f"by {COST}" in notice.message


def test_a_climb_by_two_metrics_keeps_what_the_report_calls_better():
    rates = {"baseline": 100.0, "faster": 150.0, "useless": 150.0, "slower": 160.0}
    of = experiment({**LADDER, "keep": "better"}, metric=[METRIC, COST])
    climb = Fake(of, rates).make()
    assert {(pair.role, pair.decided_among) for pair in climb.stages.pairs} == {
        ("previous", 6),
        ("baseline", 2),
    }
    steps = [each for each in climb.reported() if each.role == "previous" and each.metric == METRIC]
    assert climb.stages.kept == {each.candidate: each.verdict == "better" for each in steps}
    assert climb.stages.kept["slower"], "the last of three stages has looks of its own"


def test_it_stops_once_the_interval_lies_within_the_margin():
    rates = {"sigma=0.3": 100.0, "sigma=0.4": 100.0}
    fake = Fake(experiment(COMPARE, margin=5), rates).make()
    (comparison,) = fake.reported()
    assert (comparison.verdict, comparison.within_margin) == ("equivalent", True)
    assert comparison.look is not None and not comparison.look.early
    assert fake.blocks == comparison.look.after < 12
    assert comparison.low is not None and comparison.high is not None
    assert 1 / 1.05 <= comparison.low <= comparison.high <= 1.05
    assert comparison.p_value is comparison.p_beyond_margin is None


def test_a_change_as_large_as_the_margin_is_seldom_called_none():
    rng = np.random.default_rng(5)
    plan = LookPlan(LOOKS, 1, 0.05, margin_percent=1.0)
    size = [0.0, np.log(1.01)]
    found = [judged(pair_of(rng.normal(size, 0.003, size=(12, 2))), 12, plan) for _ in range(500)]
    assert np.mean([each.within for each in found]) <= 0.025


def test_what_is_interrupted_between_looks_is_not_decided_yet():
    rates = {"sigma=0.3": 100.0, "sigma=0.4": 100.5}
    (comparison,) = Fake(experiment(COMPARE), rates).make(most=11).reported()
    assert comparison.verdict == "not decided yet"
    assert (comparison.p_value, comparison.n_candidate) == (None, 4)
    assert comparison.look is not None and not comparison.look.early
    assert comparison.low is not None, "the repeated interval holds at every look"
    (begun,) = Fake(experiment(COMPARE), rates).make(most=5).reported()
    assert (begun.verdict, begun.look, begun.low) == ("not decided yet", None, None)


def test_an_incomplete_block_counts_at_no_look_of_its_pair():
    rates = {"sigma=0.3": 100.0, "sigma=0.4": 110.0}
    fake = Fake(experiment(COMPARE), rates).make(missing=frozenset({(2, "sigma=0.4")}))
    (comparison,) = fake.reported()
    assert fake.blocks == 6, "three blocks are no look of a pair"
    assert comparison.look is not None
    assert (comparison.look.after, comparison.n_candidate) == (6, 5)
    assert comparison.verdict == "better"


def test_a_pair_without_blocks_enough_at_the_end_is_told_so():
    levels = pair_of(np.zeros((3, 2)))
    assert judged(levels, 12).verdict is Verdict.TOO_FEW_REPEATS
    assert judged(levels, 8).verdict is Verdict.NOT_DECIDED_YET


def test_a_level_that_lacks_a_block_costs_a_degree_of_freedom_only():
    rng = np.random.default_rng(1)
    levels = pair_of(rng.normal([0.0, 0.02], 0.01, size=(12, 2)))
    levels["c"] = {block: float(np.exp(rng.normal(0, 0.01))) for block in range(1, 12)}
    found = judged(levels, 12, LookPlan(LOOKS, 2, 0.05))
    assert found.test is Method.BLOCKS
    assert (found.low <= 1 <= found.high) == (found.verdict is Verdict.NO_DETECTABLE_CHANGE)


# -- what is said before ------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("own_places")


PAIR = "--factor sigma --levels 0.3,0.4"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{PAIR} --looks 2,6", "looks must ascend and begin at 4 blocks or more, given 2, 6"),
        (f"{PAIR} --looks 6,4", "looks must ascend"),
        (f"{PAIR} --looks 4,200 --confidence 0.999", "a look after 4 blocks could never stop"),
        (f"{PAIR} --looks 8", "at least 2 items"),
        (f"{PAIR} --looks 4,x", "looks are whole numbers of blocks"),
        (f"{PAIR} --looks 4,900", "less than or equal to 200"),
        (f"{PAIR} --looks 4,8 --detect 5%", "detect: it plans a fixed number of repeats"),
        (f"{PAIR} --looks 4,8 --repeats 5", "--repeats: repeats: design.looks says"),
        ("--looks 4,8", "only a comparison or a ladder can stop at a look"),
        ("--vary sigma=0.3,0.4 --looks 4,8", "only a comparison or a ladder"),
    ],
)
def test_looks_that_cannot_be_are_refused_before_anything_begins(words: str, message: str):
    code, _, stderr = loadstone("plan", "noop", *words.split())
    assert code == ExitCode.WRONG_INPUT
    assert message in " ".join(stderr.split())


def test_two_results_are_not_looked_at_on_the_way():
    assert "--looks" in loadstone("compare", "a", "b", "--looks", "4,8")[2]


def test_the_plan_shows_looks_limits_and_trials():
    code, stdout, stderr = loadstone("plan", "noop", *PAIR.split(), "--looks", "4,6,8,12")
    assert code == ExitCode.OK, stderr
    text = " ".join(stdout.split())
    assert "24 trials at most, 8 at least" in text
    assert "4 4.33 6 3.75 8 3.32 12 2.79" in text


def test_looks_replace_the_repeats_of_a_file_and_are_written_as_given():
    _, file, _ = loadstone("plan", "noop", *PAIR.split(), "--repeats", "5", "--as-file")
    Path("x.yaml").write_text(file)
    code, stdout, stderr = loadstone("plan", "x.yaml", "--looks", "4,8", "--as-file")
    assert code == ExitCode.OK, stderr
    again = parse_experiment(stdout, "x").experiment
    assert again.repeats == 8
    assert again.design.model_dump()["looks"] == [4, 8]
