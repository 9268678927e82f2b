"""What placements do by themselves, beside what the system under test does on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.experiments.designs.base import level_name
from loadstone.experiments.designs.baselines import PLACED, placement_of
from loadstone.report.figures import figures, metric_infos
from loadstone.report.model.baselines import (
    BaselineReport,
    PlacementReport,
    RankedDatabase,
    RankedTest,
)
from loadstone.report.model.variants import MetricInfo
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.report.text import p_value
from loadstone.results.metrics import all_metrics
from loadstone.results.statistics.ranks import (
    FEWEST_PLACES,
    Prediction,
    RankAgreement,
    fewest_places,
    least_p,
    predict,
)
from loadstone.spec.plans import Variant

Values = dict[int, float]
"""Block: a figure, so that higher is better."""


def baseline_report(folder: RecordedExperiment, metric: MetricInfo) -> BaselineReport | None:
    """Each test of the placements against the rank of the system on them.

    Args:
        folder: Of the experiment.
        metric: By which the system is judged.

    Returns:
        None where no placement was measured itself.
    """
    tests = _tests(folder.baselines)
    if not tests:
        return None
    measured = _measured(folder, tests)
    placements = list(dict.fromkeys(map(placement_of, folder.design.variants)))
    ranks = _Ranks(folder, metric, tests, measured)
    missing = _missing(folder, metric, tests, measured)
    return BaselineReport(
        about=_about(folder.baselines[0]),
        metric=metric.name,
        tests=tests,
        placements=[
            _placement(folder, placement, tests, missing.get(placement, ""))
            for placement in placements
        ],
        databases=[ranks.of(name, own) for name, own in _systems(folder).items()],
        fewest_placements=fewest_places(len(tests), 1.0 - folder.experiment.confidence),
    )


def _tests(trials: Sequence[RecordedTrial]) -> list[MetricInfo]:
    """By what each test is judged, of the trials that this Loadstone can read."""
    workload = next((trial.workload for trial in trials if trial.workload), None)
    known = {info.name: info for info in metric_infos(trials)}
    steps = workload.steps() if workload else ()
    return [
        known[step.metric].model_copy(update={"label": f"{step.title} {step.column}"})
        for step in steps
        if step.metric in known and step.column
    ]


def _about(trial: RecordedTrial) -> str:
    workload = trial.workload
    return workload.arrival(trial.plan.profile) if workload else ""


def _systems(folder: RecordedExperiment) -> dict[str, dict[str, Variant]]:
    """System: placement: the variant on it. Of a placement that is named twice, the first."""
    found: dict[str, dict[str, Variant]] = {}
    for variant in folder.design.variants:
        others = [change for change in variant.changes if change.factor != PLACED]
        found.setdefault(level_name(others), {}).setdefault(placement_of(variant), variant)
    return found


def _measured(
    folder: RecordedExperiment, tests: Sequence[MetricInfo]
) -> dict[str, dict[str, Values]]:
    """Test: placement: its figures."""
    by_placement: dict[str, list[RecordedTrial]] = {}
    for trial in folder.baselines:
        if trial.counts:
            by_placement.setdefault(trial.plan.baseline_of or "", []).append(trial)
    return {
        test.name: {placement: _values(own, test) for placement, own in by_placement.items()}
        for test in tests
    }


def _values(trials: Sequence[RecordedTrial], metric: MetricInfo) -> Values:
    sign = -1.0 if metric.higher_is_better is False else 1.0
    return {
        trial.result.block: sign * each.value
        for trial in trials
        for each in all_metrics(trial.result)
        if each.name == metric.name
    }


def _placement(
    folder: RecordedExperiment, placement: str, tests: Sequence[MetricInfo], missing: str
) -> PlacementReport:
    own = [trial for trial in folder.baselines if trial.plan.baseline_of == placement]
    valid = [trial for trial in own if trial.counts]
    return PlacementReport(
        placement=placement,
        figures=figures(valid, tests, folder.experiment.confidence),
        trials=[trial.result.trial for trial in own],
        missing=missing,
    )


def _missing(
    folder: RecordedExperiment,
    metric: MetricInfo,
    tests: Sequence[MetricInfo],
    measured: Mapping[str, Mapping[str, Values]],
) -> dict[str, str]:
    """Placement: why it takes no part in the ranks of all systems, or of one."""
    found: dict[str, str] = {}
    for name, variants in _systems(folder).items():
        for placement, variant in variants.items():
            lacking = [t.label for t in tests if not measured[t.name].get(placement)]
            if len(lacking) == len(tests):
                found[placement] = "no valid baseline"
            elif lacking:
                found[placement] = f"no figure of {', '.join(lacking)}"
            elif not _values(folder.valid_trials_of(variant.name), metric):
                of = f" of {name}" if name else " of the system"
                found[placement] = f"no valid trial{of} has a figure of {metric.label}"
    return found


@dataclass(frozen=True)
class _Ranks:
    """What the ranks of systems are held against."""

    folder: RecordedExperiment
    metric: MetricInfo
    tests: Sequence[MetricInfo]
    measured: Mapping[str, Mapping[str, Values]]

    def of(self, name: str, variants: Mapping[str, Variant]) -> RankedDatabase:
        """Of a system, with its variant on each placement."""
        experiment = self.folder.experiment
        target = {
            placement: _values(self.folder.valid_trials_of(variant.name), self.metric)
            for placement, variant in variants.items()
        }
        try:
            found = predict(
                target, self.measured, confidence=experiment.confidence, rng=experiment.seed
            )
        except ValueError:
            found = Prediction((), {}, None, shown=False, apart=False)
        tests = [_test(each, agreement) for each, agreement in found.agreements.items()]
        tests.sort(key=lambda test: -2.0 if test.tau is None else test.tau, reverse=True)
        system = name or f"{experiment.workload.name} on {experiment.target.engine}"
        return RankedDatabase(
            name=name,
            variants={placement: variant.name for placement, variant in variants.items()},
            placements=list(found.places),
            tests=tests,
            leader=found.leader,
            shown=found.shown,
            apart=found.apart,
            text=_text(system, found, self.tests, self.metric, 1.0 - experiment.confidence),
        )


def _test(metric: str, found: RankAgreement) -> RankedTest:
    low, high = found.interval or (None, None)
    return RankedTest(
        metric=metric,
        tau=found.tau,
        p_value=found.p_value,
        p_adjusted=found.adjusted_p,
        low=low,
        high=high,
        by_block=list(found.by_block),
        behind=found.behind,
    )


def _text(
    system: str,
    found: Prediction,
    tests: Sequence[MetricInfo],
    metric: MetricInfo,
    alpha: float,
) -> str:
    """What predicts the rank, as far as the data allow it."""
    if not found.places:
        return (
            f"{system}: fewer than {FEWEST_PLACES} placements have figures of the system and of "
            "all tests, so that there are no ranks to compare."
        )
    if found.leader is None:
        return f"{system}: all placements are equal in {metric.label}, or in all tests."
    labels = {test.name: test.label for test in tests}
    leader, agreement = labels[found.leader], found.agreements[found.leader]
    how = (
        f"Kendall's tau {agreement.tau:+.2f} over {len(found.places)} placements, "
        f"{p_value(agreement.adjusted_p)}"
        + (f" with {len(tests)} tests judged together" if len(tests) > 1 else "")
    )
    if not found.shown:
        equal = [labels[each] for each, own in found.agreements.items() if own.tau == agreement.tau]
        best = f"{', '.join(equal)} {'agrees' if len(equal) == 1 else 'agree'} best"
        said = f"{system}: no test is shown to predict its rank. {best}: {how}."
        return said + _too_few(len(found.places), len(tests), alpha)
    level = [labels[each] for each in found.agreements if _is_level(each, found)]
    if not level:
        return f"{system}: {leader} predicts its rank, and better than each other test: {how}."
    return (
        f"{system}: {leader} predicts its rank: {how}. It is not told apart from "
        f"{', '.join(level)}."
    )


def _is_level(test: str, found: Prediction) -> bool:
    return test != found.leader and not found.agreements[test].behind


def _too_few(placements: int, tests: int, alpha: float) -> str:
    """That even the same order could not have shown it."""
    least = min(1.0, tests * least_p(placements))
    if least <= alpha:
        return ""
    return (
        f" With {placements} placements even the same order has {p_value(least)}: "
        f"{fewest_places(tests, alpha)} can show it."
    )
