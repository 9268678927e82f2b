"""The comparisons of an experiment, judged together, with Holm's correction within each role."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, to_compare
from loadstone.report.model import ComparisonReport, MetricInfo
from loadstone.report.reading import PairRecord, RecordedExperiment
from loadstone.results.record import Notice
from loadstone.results.statistics import Comparison, Contrast, judge, within_blocks
from loadstone.spec.plans import Variant

Compared = tuple[PairRecord, Contrast]


def comparisons(
    folder: RecordedExperiment, metric: MetricInfo
) -> tuple[list[ComparisonReport], list[Notice]]:
    """Compares every pair of the design on one metric, valid trials only.

    Returns:
        Reports of the pairs that could be compared, and a notice for each that could not.
    """
    families: dict[tuple[str, int | None], list[Compared]] = {}
    notices: list[Notice] = []
    for pair in folder.design.pairs:
        try:
            contrast = _contrast(folder, pair, metric)
        except NotComparableError as error:
            notices.append(_not_compared(pair, str(error)))
        else:
            families.setdefault((pair.role, pair.decided_among), []).append((pair, contrast))
    reports: list[ComparisonReport] = []
    for (_, decided_among), compared in families.items():
        judged = judge(
            [contrast for _, contrast in compared],
            higher_is_better=[metric.higher_is_better is not False] * len(compared),
            alpha=1.0 - folder.experiment.confidence,
            decided_among=decided_among,
        )
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
    reports: list[ComparisonReport] = []
    for pair in folder.design.pairs:
        done: list[tuple[MetricInfo, Contrast]] = []
        for metric in metrics:
            with suppress(NotComparableError):
                done.append((metric, _contrast(folder, pair, metric)))
        judged = judge(
            [contrast for _, contrast in done],
            higher_is_better=[metric.higher_is_better is not False for metric, _ in done],
            alpha=1.0 - folder.experiment.confidence,
        )
        reports += [
            comparison_report(comparison, pair, metric, [])
            for (metric, _), comparison in zip(done, judged, strict=True)
        ]
    return reports


def _contrast(folder: RecordedExperiment, pair: PairRecord, metric: MetricInfo) -> Contrast:
    """Of the blocks that both have; what others of their trials show does not matter."""
    both = (pair.baseline, pair.candidate)
    of_each = [{each.result.block for each in folder.valid_trials_of(name)} for name in both]
    shared = of_each[0] & of_each[1]

    def figures(name: str) -> dict[int, float]:
        trials = folder.valid_trials_of(name)
        if shared:
            trials = [trial for trial in trials if trial.result.block in shared]
        return to_compare(trials, metric, name)

    levels = {name: figures(name) for name in both}
    for variant in folder.design.variants:
        if variant.name not in levels:
            with suppress(NotComparableError):
                levels[variant.name] = figures(variant.name)
    if not levels[pair.baseline].keys() & levels[pair.candidate].keys():
        raise NotComparableError("no block has a valid trial of both")
    return within_blocks(levels, pair.candidate, pair.baseline)


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
    found_at = comparison.detectable
    return ComparisonReport(
        metric=metric.name,
        candidate=pair.candidate,
        baseline=pair.baseline,
        role=pair.role,
        ratio=comparison.ratio,
        low=comparison.low,
        high=comparison.high,
        interval_confidence=comparison.interval_confidence,
        effect_percent=comparison.effect_percent,
        p_value=comparison.p_value,
        p_adjusted=comparison.adjusted_p,
        p_by_signs=comparison.flip_p,
        test=str(comparison.test),
        freedom=comparison.freedom,
        n_baseline=comparison.n_baseline,
        n_candidate=comparison.n_candidate,
        least_detectable_percent=found_at.percent if found_at else None,
        least_detectable_range=(found_at.low, found_at.high) if found_at else None,
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
