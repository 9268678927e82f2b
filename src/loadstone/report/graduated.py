"""A load that went through levels: each configuration over its trials, and level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean, median

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.graduated import (
    GraduatedReport,
    GraduatedVariant,
    LoadLevel,
    Spread,
)
from loadstone.report.power import name_of
from loadstone.report.reading import RecordedExperiment, RecordedTrial
from loadstone.report.text import interval, number, percent
from loadstone.results.graduated import GraduatedLevel, GraduatedRecord
from loadstone.results.metrics import mark_of
from loadstone.results.power import WATTS, main_of
from loadstone.results.statistics import summarize


def graduated_report(
    folder: RecordedExperiment, compared: Sequence[ComparisonReport]
) -> GraduatedReport | None:
    """Every configuration whose load went through levels.

    Args:
        folder: Of the experiment.
        compared: All comparisons; those of the watts of a level are said here.

    Returns:
        None where no trial had such a load.
    """
    variants = [
        variant
        for each in folder.design.variants
        if (variant := _variant(folder, each.name)) is not None
    ]
    records = (trial.result.graduated for trial in folder.trials)
    first = next((record for record in records if record is not None), None)
    if first is None or not variants:
        return None
    names = level_metrics(variants)
    of_levels = [each for each in compared if each.metric in names]
    return GraduatedReport(
        over=first.over,
        unit=first.unit,
        variants=variants,
        comparisons=of_levels,
        said=list(_said(of_levels)),
    )


def level_metrics(variants: Sequence[GraduatedVariant]) -> dict[str, str]:
    """Metric of the watts of each level: the level's name."""
    return {f"{level.name} {WATTS}": level.name for variant in variants for level in variant.levels}


def overall_said(report: GraduatedReport | None) -> str:
    """What a single configuration came to, in a sentence.

    Args:
        report: Of the experiment, if its load went through levels.

    Returns:
        Empty of several configurations, and of one without a valid trial.
    """
    if report is None or len(report.variants) != 1:
        return ""
    (variant,) = report.variants
    if not variant.counts:
        return ""
    mark = f" ({variant.mark})" if variant.mark else ""
    if variant.overall is not None:
        found = variant.overall
        kind = "range" if found.is_range else "interval"
        span = interval(found.low, found.high)
        text = f"{number(found.median)} {report.unit} per watt over all levels{mark}"
        text += f", {kind} {span}" if span else ""
    else:
        text = f"There is no figure of all levels: {variant.reason or 'no level has watts'}"
    if variant.peak is not None:
        text += f"; {number(variant.peak.achieved_per_s.median)} {report.unit} at the highest load"
    if variant.idle_watts is not None and variant.peak_watts is not None:
        text += (
            f"; {number(variant.peak_watts)} W there and {number(variant.idle_watts)} W at "
            f"active idle{mark}"
        )
    return f"{text}."


def spread(values: Iterable[float | None], confidence: float) -> Spread | None:
    """A figure over trials; None where none has it."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    found = summarize(known, confidence=confidence)
    return Spread(
        n=found.n,
        median=found.median,
        low=found.low,
        high=found.high,
        is_range=found.interval_is_range,
    )


# -- configurations ----------------------------------------------------------------------------
def _variant(folder: RecordedExperiment, name: str) -> GraduatedVariant | None:
    trials, counts = _shown(folder, name)
    records = [trial.result.graduated for trial in trials if trial.result.graduated]
    if not records:
        return None
    confidence = folder.experiment.confidence
    powers = [power for trial in trials if (power := main_of(trial.result.power)) is not None]
    return GraduatedVariant(
        variant=name,
        trials=[trial.result.trial for trial in trials],
        counts=counts,
        form=records[0].form,
        calibrated_per_s=_median(record.calibrated_per_s for record in records),
        calibrated_by=records[0].calibrated_by,
        settled=all(record.settled for record in records),
        calibrations=[list(record.calibrations) for record in records],
        overall=spread((record.overall for record in records), confidence),
        reason=next((record.reason for record in records if record.reason), ""),
        peak_watts=_median(record.peak_watts for record in records),
        idle_watts=_median(record.idle_watts for record in records),
        mean_watts=_median(map(_mean_watts, records)),
        idle_share=_median(record.idle_share for record in records),
        proportionality=_median(record.proportionality for record in records),
        joules_per_operation=_median(record.joules_per_operation for record in records),
        meter=name_of(powers[0]) if powers else "",
        scope=powers[0].scope if powers else "",
        mark=mark_of(powers) or next((record.mark for record in records if record.mark), ""),
        levels=_levels(records, confidence),
    )


def _shown(folder: RecordedExperiment, variant: str) -> tuple[list[RecordedTrial], bool]:
    """The trials of a configuration, and whether they count.

    Where none is valid, all are shown that went through levels: these say what went wrong.
    """
    valid = [trial for trial in folder.valid_trials_of(variant) if trial.result.graduated]
    if valid:
        return valid, True
    return [trial for trial in folder.trials_of(variant) if trial.result.graduated], False


def _mean_watts(record: GraduatedRecord) -> float | None:
    """Of all levels; None where one has no watts."""
    known = [level.watts for level in record.levels if level.watts is not None]
    return fmean(known) if known and len(known) == len(record.levels) else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


# -- levels ------------------------------------------------------------------------------------
def _levels(records: Sequence[GraduatedRecord], confidence: float) -> list[LoadLevel]:
    """By load, whatever the order in which they ran."""
    by_name: dict[str, list[GraduatedLevel]] = {}
    for record in records:
        for level in record.levels:
            by_name.setdefault(level.name, []).append(level)
    levels = [_level(own, confidence) for own in by_name.values()]
    return sorted(levels, key=lambda level: -level.share)


def _level(own: Sequence[GraduatedLevel], confidence: float) -> LoadLevel:
    first = own[0]
    return LoadLevel(
        name=first.name,
        share=first.share,
        target_per_s=_median(level.target_per_s for level in own),
        users=first.users,
        achieved_per_s=_known(spread((level.achieved_per_s for level in own), confidence)),
        achieved_share=_end(min, own, lambda level: level.achieved_share),
        watts=spread((level.watts for level in own), confidence),
        per_watt=spread((level.per_watt for level in own), confidence),
        joules_per_operation=_median(level.joules_per_operation for level in own),
        p50_ms=_milliseconds(level.p50_s for level in own),
        p95_ms=_milliseconds(level.p95_s for level in own),
        p99_ms=_milliseconds(level.p99_s for level in own),
        steady=all(level.steady for level in own),
        holds=all(level.holds for level in own),
        reasons=list(dict.fromkeys(reason for level in own for reason in level.reasons)),
        lab_cpu_share=_end(max, own, lambda level: level.lab_cpu_share),
    )


def _known(found: Spread | None) -> Spread:
    """Every level has a rate."""
    if found is None:
        raise ValueError("a level without trials")
    return found


def _end(
    of: Callable[[Sequence[float]], float],
    own: Sequence[GraduatedLevel],
    figure: Callable[[GraduatedLevel], float | None],
) -> float | None:
    """The least or the most of the trials that have the figure."""
    known = [value for value in map(figure, own) if value is not None]
    return of(known) if known else None


def _milliseconds(seconds: Iterable[float | None]) -> float | None:
    found = _median(seconds)
    return None if found is None else 1e3 * found


# -- level against level -----------------------------------------------------------------------
def _said(compared: Sequence[ComparisonReport]) -> Iterator[str]:
    """A sentence for each pair and direction."""
    for pair in dict.fromkeys((each.candidate, each.baseline) for each in compared):
        of_pair = [each for each in compared if (each.candidate, each.baseline) == pair]
        own = [each for each in of_pair if each.role == of_pair[0].role]
        for verdict, word in (("better", "less"), ("worse", "more")):
            moved = [each for each in own if each.verdict == verdict]
            if moved:
                told = [f"{level_of(each)} {percent(each.effect_percent)}" for each in moved]
                yield (
                    f'"{pair[0]}" draws {word} than "{pair[1]}" at {len(told)} of {len(own)} '
                    f"levels: {', '.join(told)}."
                )


def level_of(comparison: ComparisonReport) -> str:
    """Name of the level that a comparison of watts is about."""
    return comparison.metric.removesuffix(f" {WATTS}")
