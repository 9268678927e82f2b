"""The comparisons of an experiment: of a role, all pairs and metrics are judged together (Holm)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from math import isfinite

from loadstone.report.differences import differences
from loadstone.report.figures import NotComparableError, to_compare
from loadstone.report.model.comparisons import ComparisonReport, LookReport
from loadstone.report.model.steps import BestReport
from loadstone.report.model.variants import MetricInfo
from loadstone.report.reading import PairRecord, RecordedExperiment
from loadstone.results.record import Notice
from loadstone.results.statistics import Blocks, Comparison, Look, Member, Verdict, judge_family
from loadstone.results.taken import stolen_by_block
from loadstone.spec.design import looks_in
from loadstone.spec.plans import Variant

Compared = tuple[PairRecord, MetricInfo, Member]


def comparisons(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo]
) -> tuple[list[ComparisonReport], list[Notice]]:
    """Compares every pair of the design on each of the metrics, valid trials only.

    Returns:
        Reports of the pairs that could be compared, and a notice for each that could not.
    """
    families, notices = _families(folder, metrics)
    reports: list[ComparisonReport] = []
    for (_, decided_among), compared in families.items():
        for (pair, metric, _), comparison in zip(
            compared, _judged(folder, compared, decided_among), strict=True
        ):
            found = _differences(folder, pair) if metric is metrics[0] else []
            reports.append(
                comparison_report(comparison, pair, metric, found, folder.experiment.margin)
            )
    return reports, notices


def _families(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo]
) -> tuple[dict[tuple[str, int | None], list[Compared]], list[Notice]]:
    """What is judged together, by role and number; and what cannot be compared."""
    families: dict[tuple[str, int | None], list[Compared]] = {}
    notices: dict[Notice, None] = {}
    for metric in metrics:
        for pair in folder.pairs_by(metric.name):
            try:
                member = _member(folder, pair, metric)
            except NotComparableError as error:
                notices[_not_compared(pair, error)] = None
            else:
                family = families.setdefault((pair.role, pair.decided_among), [])
                family.append((pair, metric, member))
    return families, list(notices)


def _judged(
    folder: RecordedExperiment, compared: Sequence[Compared], decided_among: int | None = None
) -> list[Comparison]:
    return judge_family(
        [member for _, _, member in compared],
        looks=looks_in(folder.experiment.design),
        alpha=1.0 - folder.experiment.confidence,
        decided_among=decided_among,
        margin_percent=folder.experiment.margin,
    )


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
        done: list[Compared] = []
        for metric in metrics:
            if pair not in folder.pairs_by(metric.name):
                continue
            with suppress(NotComparableError):
                done.append((pair, metric, _member(folder, pair, metric)))
        reports += [
            comparison_report(comparison, pair, metric, [], folder.experiment.margin)
            for (_, metric, _), comparison in zip(done, _judged(folder, done), strict=True)
        ]
    return reports


def comparisons_of_column(folder: RecordedExperiment, metric: MetricInfo) -> list[ComparisonReport]:
    """Compares every pair of the design on one metric, with Holm's correction over the pairs.

    Pairs that cannot be compared are left out: one of the two has no valid trial of that test.

    Args:
        folder: Of the experiment.
        metric: The figure of a test.
    """
    families, _ = _families(folder, [metric])
    return [
        comparison_report(comparison, pair, metric, [], folder.experiment.margin)
        for (_, decided_among), compared in families.items()
        for (pair, _, _), comparison in zip(
            compared, _judged(folder, compared, decided_among), strict=True
        )
    ]


def best_of_column(folder: RecordedExperiment, metric: MetricInfo) -> BestReport | None:
    """Which variant leads on one metric, and whether it is shown to be better than all others.

    Who leads is seen from the figures, so that its comparisons are not those that were planned:
    all pairs of variants are judged together, and no claim about any of them is more often false
    than the experiment allows.

    Args:
        folder: Of an experiment whose variants are levels or cells.
        metric: The figure of a test.

    Returns:
        None if no two of the variants have figures of a common block.
    """
    compared: list[Compared] = []
    for baseline, candidate in combinations([each.name for each in folder.design.variants], 2):
        pair = PairRecord(candidate=candidate, baseline=baseline, role="pair")
        with suppress(NotComparableError):
            compared.append((pair, metric, _member(folder, pair, metric)))
    if not compared:
        return None
    names = list(
        dict.fromkeys(name for pair, *_ in compared for name in (pair.baseline, pair.candidate))
    )
    behind: dict[str, dict[str, bool]] = {name: {} for name in names}
    for (pair, _, member), found in zip(compared, _judged(folder, compared), strict=True):
        ahead = (found.ratio >= 1.0) == member.higher_is_better
        first, second = pair.candidate, pair.baseline
        leads, follows = (first, second) if ahead else (second, first)
        behind[leads][follows] = found.verdict in (Verdict.BETTER, Verdict.WORSE)
    best = max(names, key=lambda name: len(behind[name]))
    level = [name for name in names if name != best and not behind[best].get(name)]
    return BestReport(
        metric=metric.name, variant=best, shown=not level, level=level, pairs=len(compared)
    )


def _member(folder: RecordedExperiment, pair: PairRecord, metric: MetricInfo) -> Member:
    """Of the blocks that both have; what others of their trials show does not matter."""
    both = (pair.baseline, pair.candidate)
    of_each = [{each.result.block for each in folder.valid_trials_of(name)} for name in both]
    shared = of_each[0] & of_each[1]

    def figures(name: str) -> Blocks:
        trials = folder.valid_trials_of(name)
        if shared:
            trials = [trial for trial in trials if trial.result.block in shared]
        by_block = to_compare(trials, metric, name)
        return {block - pair.first_block + 1: figure for block, figure in by_block.items()}

    levels = {name: figures(name) for name in both}
    for variant in folder.design.variants:
        if variant.name not in levels:
            with suppress(NotComparableError):
                levels[variant.name] = figures(variant.name)
    if not levels[pair.baseline].keys() & levels[pair.candidate].keys():
        raise NotComparableError("no block has a valid trial of both")
    up_is_good = metric.higher_is_better is not False
    stolen = {name: _stolen(folder, name, pair.first_block) for name in levels}
    return Member(
        levels, pair.candidate, pair.baseline, folder.blocks_made(pair), up_is_good, stolen
    )


def _stolen(folder: RecordedExperiment, variant: str, first_block: int) -> Blocks:
    """By block of the stage: the share of the processors that other guests took from a variant."""
    return stolen_by_block(
        (trial.result.block - first_block + 1, trial.result.taken)
        for trial in folder.valid_trials_of(variant)
    )


def _differences(folder: RecordedExperiment, pair: PairRecord) -> list[str]:
    """What differs between the two besides the factor."""
    known = {variant.name: variant for variant in folder.design.variants}
    nothing = Variant(name="", changes=[], step=[])
    return differences(
        folder.valid_trials_of(pair.baseline),
        folder.valid_trials_of(pair.candidate),
        (known.get(pair.baseline, nothing), known.get(pair.candidate, nothing)),
    )


def comparison_report(
    comparison: Comparison,
    pair: PairRecord,
    metric: MetricInfo,
    found: list[str],
    margin_percent: float | None,
) -> ComparisonReport:
    """A comparison as the report holds it.

    Args:
        comparison: Its figures and verdict.
        pair: What was compared.
        metric: On which metric.
        found: What differs between the two besides the factor.
        margin_percent: The largest change that does not matter, if that was said.
    """
    found_at = comparison.detectable
    return ComparisonReport(
        metric=metric.name,
        candidate=pair.candidate,
        baseline=pair.baseline,
        role=pair.role,
        baseline_mean=comparison.baseline,
        candidate_mean=comparison.candidate,
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
        margin_percent=margin_percent,
        p_beyond_margin=comparison.p_beyond,
        within_margin=comparison.within,
        look=_look(comparison.look) if comparison.look else None,
        repeats_needed=comparison.repeats_needed,
        differences=found,
    )


def _look(look: Look) -> LookReport:
    return LookReport(
        planned=list(look.planned),
        after=look.after,
        t=look.t if isfinite(look.t) else None,
        limit=look.limit,
        early=look.early,
    )


def _not_compared(pair: PairRecord, why: NotComparableError) -> Notice:
    return Notice(
        code="not-compared",
        severity="warning",
        message=f"{pair.candidate} could not be compared with {pair.baseline}: {why}",
        advice=why.advice,
    )
