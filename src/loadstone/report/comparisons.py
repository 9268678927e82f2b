"""The comparisons of an experiment, judged together, with Holm's correction within each role."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, to_compare
from loadstone.report.model import ComparisonReport, MetricInfo
from loadstone.report.reading import PairRecord, RecordedExperiment
from loadstone.results.record import Notice
from loadstone.results.statistics import Comparison, compare, judge
from loadstone.spec.plans import Variant

Compared = tuple[PairRecord, Comparison]


def comparisons(
    folder: RecordedExperiment, metric: MetricInfo
) -> tuple[list[ComparisonReport], list[Notice]]:
    """Compares every pair of the design on one metric, valid trials only.

    Returns:
        Reports of the pairs that could be compared, and a notice for each that could not.
    """
    done: list[Compared] = []
    notices: list[Notice] = []
    for position, pair in enumerate(folder.design.pairs):
        try:
            done.append((pair, _compare(folder, pair, metric, position)))
        except NotComparableError as error:
            notices.append(_not_compared(pair, str(error)))
    by_role: dict[str, list[Compared]] = {}
    for pair, comparison in done:
        by_role.setdefault(pair.role, []).append((pair, comparison))
    alpha = 1.0 - folder.experiment.confidence
    reports: list[ComparisonReport] = []
    for compared in by_role.values():
        judged = judge([comparison for _, comparison in compared], alpha)
        for (pair, _), comparison in zip(compared, judged, strict=True):
            reports.append(_report(folder, pair, comparison, metric))
    return reports, notices


def comparisons_of_pairs(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo]
) -> list[ComparisonReport]:
    """Compares every pair of the design on several metrics, with Holm's correction over them.

    What cannot be compared is left out: a step that no valid trial of one of the two has.

    Args:
        folder: Of the experiment.
        metrics: In the order in which they are reported.
    """
    alpha = 1.0 - folder.experiment.confidence
    reports: list[ComparisonReport] = []
    for position, pair in enumerate(folder.design.pairs):
        done: list[tuple[MetricInfo, Comparison]] = []
        for metric in metrics:
            with suppress(NotComparableError):
                done.append((metric, _compare(folder, pair, metric, position)))
        judged = judge([comparison for _, comparison in done], alpha)
        reports += [
            comparison_report(comparison, pair, metric, [])
            for (metric, _), comparison in zip(done, judged, strict=True)
        ]
    return reports


def _compare(
    folder: RecordedExperiment, pair: PairRecord, metric: MetricInfo, position: int
) -> Comparison:
    baseline, candidate = (
        to_compare(folder.valid_trials_of(name), metric, name)
        for name in (pair.baseline, pair.candidate)
    )
    return compare(
        baseline,
        candidate,
        higher_is_better=metric.higher_is_better is not False,
        confidence=folder.experiment.confidence,
        rng=folder.experiment.seed + position,
    )


def _report(
    folder: RecordedExperiment, pair: PairRecord, comparison: Comparison, metric: MetricInfo
) -> ComparisonReport:
    known = {variant.name: variant for variant in folder.design.variants}
    nothing = Variant(name="", changes=[], step=[])
    found = differences(
        folder.valid_trials_of(pair.baseline),
        folder.valid_trials_of(pair.candidate),
        (known.get(pair.baseline, nothing), known.get(pair.candidate, nothing)),
    )
    return comparison_report(comparison, pair, metric, found)


def comparison_report(
    comparison: Comparison, pair: PairRecord, metric: MetricInfo, found: list[str]
) -> ComparisonReport:
    """A comparison as the report holds it.

    Args:
        comparison: Its figures and verdict.
        pair: What was compared.
        metric: On which metric.
        found: What differs between the two besides the factor.
    """
    return ComparisonReport(
        metric=metric.name,
        candidate=pair.candidate,
        baseline=pair.baseline,
        role=pair.role,
        ratio=comparison.ratio,
        low=comparison.low,
        high=comparison.high,
        effect_percent=comparison.effect_percent,
        p_value=comparison.p_value,
        p_adjusted=comparison.adjusted_p,
        test=str(comparison.test),
        n_baseline=comparison.n_baseline,
        n_candidate=comparison.n_candidate,
        least_detectable_percent=comparison.least_detectable_percent,
        verdict=comparison.verdict.value,
        repeats_needed=comparison.repeats_needed,
        differences=found,
    )


def _not_compared(pair: PairRecord, why: str) -> Notice:
    return Notice(
        code="not-compared",
        severity="warning",
        message=f"{pair.candidate} could not be compared with {pair.baseline}: {why}",
        advice="run the experiment again, with more repeats if trials keep failing",
    )
