"""What others took from the trials of an experiment, and what it does to its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.report.comparisons import comparisons
from loadstone.report.figures import metric_infos
from loadstone.report.model.comparisons import ComparisonReport, OtherTrials
from loadstone.report.model.variants import MetricInfo
from loadstone.report.reading import RecordedExperiment
from loadstone.report.scatter import made_of
from loadstone.report.text import ratio, ratio_interval, verdict
from loadstone.results.record import Notice
from loadstone.results.statistics import Method
from loadstone.results.statistics.planning import scatter_of
from loadstone.results.taken import KINDS, Cause, Taken

_LONGER = 4
"""So many times longer trials are what an advice tells of."""
_MOST_NAMES = 5
_ADJUSTED = (Method.BLOCKS_ADJUSTED, Method.PAIRED_ADJUSTED)
_STOLEN = 0.01
"""Stolen time that is told where nothing is adjusted for it."""
_WORTH_TELLING = 0.9
"""An advice tells of a scatter that is smaller than this share of the present one."""


# -- verdicts ----------------------------------------------------------------------------------
def with_other_trials(
    folder: RecordedExperiment,
    metrics: Sequence[MetricInfo],
    compared: Sequence[ComparisonReport],
) -> list[ComparisonReport]:
    """The comparisons, each with what it would be by all trials, or without those marked.

    Args:
        folder: Of the experiment.
        metrics: That verdicts are about.
        compared: By the trials that count.
    """
    if not folder.standing.marked:
        return list(compared)
    every = folder.standing.left_out
    others, _ = comparisons(folder.with_all() if every else folder.without_marked(), metrics)
    found = {_key(each): each for each in others}
    return [
        each.model_copy(update={"other_trials": _other(found[_key(each)], every=bool(every))})
        if _key(each) in found
        else each
        for each in compared
    ]


def disagreement(compared: Sequence[ComparisonReport]) -> str:
    """A sentence on verdicts that hang on the trials that are marked; empty if none does."""
    differing = [
        each for each in compared if each.other_trials and each.other_trials.verdict != each.verdict
    ]
    if not differing:
        return ""
    first = differing[0]
    assert first.other_trials is not None  # noqa: S101 - they were chosen by it
    more = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
    if first.other_trials.trials == "all":
        by = "with the trials that others disturbed"
    else:
        by = "without the trials that others disturbed"
    other = first.model_copy(
        update={
            "verdict": first.other_trials.verdict,
            "ratio": first.other_trials.ratio,
            "effect_percent": 100.0 * (first.other_trials.ratio - 1.0),
        }
    )
    return (
        f'Take care: {by}, "{first.candidate}" would be "{verdict(other)}" '
        f'instead of "{verdict(first)}"{more}.'
    )


def other_notices(compared: Sequence[ComparisonReport], metric: str) -> Iterator[Notice]:
    """What the verdicts would be by the other trials, beside those by the trials that count.

    Args:
        compared: All comparisons.
        metric: Of the headline: the others are in the document.
    """
    for each in compared:
        other = each.other_trials
        if other is None or each.metric != metric:
            continue
        differs = other.verdict != each.verdict
        yield Notice(
            code="other-trials",
            severity="warning" if differs else "info",
            message=f"by {'all trials' if other.trials == 'all' else 'the trials not marked'}, "
            f'"{each.candidate}" is {ratio(other.ratio, other.low, other.high)} times '
            f'"{each.baseline}"{_span(other)}: {other.verdict}',
            advice="more repeats decide it" if differs else "",
        )


def stolen_notices(
    folder: RecordedExperiment, compared: Sequence[ComparisonReport]
) -> Iterator[Notice]:
    """What other guests of the host took, and whether verdicts are adjusted for it.

    Args:
        folder: Of the experiment.
        compared: All comparisons.
    """
    names = dict.fromkeys(each.candidate for each in compared if each.test in _ADJUSTED)
    shares = [
        one.share
        for trial in folder.trials
        if trial.counts
        for one in trial.result.taken or ()
        if one.cause == "steal"
    ]
    most = max(shares, default=0.0)
    took = f"other guests of this host took up to {100 * most:.2g} % of the processors from a trial"
    if names:
        yield Notice(
            code="adjusted",
            severity="info",
            message=f"{took}: the change of {_names(list(names))} is adjusted for it, and so is "
            "the mean that stands with it; medians and single trials are as measured",
            advice="a host of its own needs no adjustment",
        )
    elif most > _STOLEN:
        yield Notice(
            code="stolen-cpu",
            severity="warning",
            message=took,
            advice="use a host of its own, or more repeats in interleaved order",
        )


def _span(other: OtherTrials) -> str:
    if other.low is None or other.high is None:
        return ""
    return f" (interval {ratio_interval(other.low, other.high)})"


def _key(comparison: ComparisonReport) -> tuple[str, ...]:
    return comparison.metric, comparison.candidate, comparison.baseline, comparison.role


def _other(comparison: ComparisonReport, *, every: bool) -> OtherTrials:
    return OtherTrials(
        trials="all" if every else "without those marked",
        ratio=comparison.ratio,
        low=comparison.low,
        high=comparison.high,
        p_adjusted=comparison.p_adjusted,
        verdict=comparison.verdict,
    )


# -- notices -----------------------------------------------------------------------------------
def taken_notices(folder: RecordedExperiment, metric: str) -> list[Notice]:
    """Who took what from which trials; what is there in all of them is said once.

    Args:
        folder: Of the experiment.
        metric: By which its trials are judged.
    """
    return [*_always(folder), *_marked(folder, metric)]


def _always(folder: RecordedExperiment) -> Iterator[Notice]:
    for each in folder.standing.usual:
        yield Notice(
            code="taken-always",
            severity="warning",
            message=f"{each.evidence} while a trial was measured, and about as much in all trials: "
            "it is part of the machine here, and of the scatter",
            advice=f"the figures are of what was left; to have it all, {KINDS[each.cause].advice}",
        )


def _marked(folder: RecordedExperiment, metric: str) -> Iterator[Notice]:
    found = folder.standing
    by_cause: dict[Cause, list[tuple[str, Taken]]] = {}
    for trial, reasons in found.marked.items():
        for each in reasons:
            by_cause.setdefault(each.cause, []).append((trial, each))
    for cause, trials in by_cause.items():
        worst, most = max(trials, key=lambda one: one[1].share)
        names = _names([trial for trial, _ in trials])
        what = "1 trial is" if len(trials) == 1 else f"{len(trials)} trials are"
        advice = f"such a trial does not count; {KINDS[cause].advice}"
        yield Notice(
            code="taken",
            severity="warning",
            message=f"{what} marked for {KINDS[cause].name}: {names}. In {worst} {most.evidence} "
            f"while it was measured, {100 * most.share:.0f} %",
            advice="it counts all the same" if found.all_count else advice,
        )
    with_block = [trial for trial, reasons in found.marked.items() if not reasons]
    if with_block:
        yield Notice(
            code="taken-block",
            severity="info",
            message=f"{_names(with_block)}: marked with the rest of the block",
            advice="half of the block or more was disturbed, so that it is no fair comparison",
        )
    if found.all_count:
        yield _machine_like_that(folder, metric)


def _machine_like_that(folder: RecordedExperiment, metric: str) -> Notice:
    marked, trials = len(folder.standing.marked), len(folder.all_trials)
    advice = "; ".join(_what_would_help(folder, metric))
    return Notice(
        code="machine-like-that",
        severity="warning",
        message=f"{marked} of {trials} trials are marked: this machine is like that, so all "
        "of them count, and their scatter is in every interval",
        advice=advice or "use a quieter machine",
    )


def _what_would_help(folder: RecordedExperiment, metric: str) -> Iterator[str]:
    """By how much the scatter would fall: with longer trials, and on a machine without others."""
    every, quiet = folder.with_all(), folder.without_marked()
    now = _scatter(every, metric, 1)
    longer = _scatter(every, metric, _LONGER)
    alone = _scatter(quiet, metric, 1)
    if now is not None and longer is not None and longer < _WORTH_TELLING * now:
        yield (
            f"trials that measure {_LONGER} times as long would scatter {longer:.2g} instead of "
            f"{now:.2g} %"
        )
    causes = {each.cause for reasons in folder.standing.marked.values() for each in reasons}
    gain = ""
    if now is not None and alone is not None and alone < _WORTH_TELLING * now:
        gain = f" (trials without them scatter {alone:.2g} instead of {now:.2g} %)"
    for cause in sorted(causes):
        yield f"against {KINDS[cause].name}: {KINDS[cause].advice}{gain}"


def _scatter(folder: RecordedExperiment, metric: str, times: int) -> float | None:
    """Of a trial within its block, in per cent, if it measured so many times as long."""
    trials = [trial for trial in folder.trials if trial.counts]
    info = next((each for each in metric_infos(trials) if each.name == metric), None)
    if info is None:
        return None
    made = made_of(folder, trials, info)
    found = scatter_of([made])
    if found is None or (times > 1 and found.within_trial is None):
        return None
    return 100.0 * found.of_trial(times * made.measured_s)


def _names(trials: Sequence[str]) -> str:
    shown = list(trials[:_MOST_NAMES])
    if len(trials) > _MOST_NAMES:
        shown.append(f"{len(trials) - _MOST_NAMES} more")
    return ", ".join(shown)
