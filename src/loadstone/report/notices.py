"""Everything that a reader of the report should know, each said once."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.errors import WrongInputError
from loadstone.experiments.preflight.offered import offered_notices
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.variants import VariantReport
from loadstone.report.reading import RecordedExperiment, RecordedTrial, expected_trials
from loadstone.report.taken import other_notices, stolen_notices, taken_notices
from loadstone.report.thinking import thinking_notices
from loadstone.results.record import Notice, Status, TrialResult

_NOT_COUNTED = {
    Status.DISTURBED: "others took of its measured time",
    Status.INVALID: "its figures are not of the system under test, or its data is wrong",
    Status.FAILED: "it ended with an error",
    Status.INTERRUPTED: "it was interrupted",
    Status.RUNNING: "it never ended: the run was killed",
}
_UNDECIDED = "not decided yet"
_ORDER = {"error": 0, "warning": 1, "info": 2}


def notices(
    folder: RecordedExperiment,
    variants: Sequence[VariantReport],
    comparisons: Sequence[ComparisonReport],
    uncompared: Sequence[Notice],
    metric: str,
) -> list[Notice]:
    """All notices of an experiment and its trials, the gravest first, causes before effects."""
    found = [
        *_of_trials(folder.all_trials),
        *folder.notices,
        *_unread(folder.all_trials),
        *(rung.notice() for rung in folder.design.skipped),
        *_left_out(folder),
        *taken_notices(folder, metric),
        *other_notices(comparisons, metric),
        *stolen_notices(folder, comparisons),
        *uncompared,
        *_offered(folder),
        *thinking_notices(folder, comparisons, metric),
        *_unsafe(variants),
        *(_several(variants) if folder.experiment.design.kind == "ladder" else []),
        *_outliers(variants, metric),
        *_few_repeats(comparisons),
        *_early(comparisons),
        *_undecided(comparisons, metric),
        *_differences(comparisons),
    ]
    return sorted(found, key=lambda notice: _ORDER[notice.severity])


def _offered(folder: RecordedExperiment) -> list[Notice]:
    """That a verdict is about the rate at which load arrives."""
    try:
        return offered_notices(folder.experiment)
    except WrongInputError:
        return []  # a workload that this Loadstone cannot read


def _left_out(folder: RecordedExperiment) -> list[Notice]:
    by_status: dict[Status, list[str]] = {}
    for trial in folder.all_trials:
        if trial.result.status is not Status.VALID:
            by_status.setdefault(trial.result.status, []).append(trial.result.trial)
    found = [
        Notice(
            code=f"trials-{status.value}",
            severity="warning",
            message=f"{_trials(names)} left out of figures and verdicts ({status.value}: "
            f"{_NOT_COUNTED[status]}): {', '.join(names)}",
            advice="look at that trial for the reason; the figures of the others stand",
        )
        for status, names in by_status.items()
    ]
    if len(folder.design.variants) == 1:
        return found
    for variant in folder.design.variants:
        counted = len(folder.valid_trials_of(variant.name))
        expected, _ = expected_trials(folder.experiment)
        if counted < expected:
            found.append(_too_few(variant.name, counted, expected))
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _valid(count: int) -> str:
    return f"{count} valid trial{'' if count == 1 else 's'}"


def _trials(names: Sequence[str]) -> str:
    return "1 trial is" if len(names) == 1 else f"{len(names)} trials are"


def _too_few(variant: str, counted: int, wanted: int) -> Notice:
    return Notice(
        code="too-few-valid-trials",
        severity="warning",
        message=f"{_quoted([variant])} has {_valid(counted)} of the {wanted} planned",
        advice="run the experiment again: an incomplete block weakens every comparison with it",
    )


_Said = tuple[TrialResult, Notice]
"""A notice and the trial that has it."""


def _of_trials(trials: Sequence[RecordedTrial]) -> list[Notice]:
    """The trials' own notices; one that many trials share is said once, with their number."""
    grouped: dict[tuple[str, str, str], list[_Said]] = {}
    for trial in trials:
        for notice in trial.result.notices:
            key = (notice.code, notice.severity, notice.advice)
            grouped.setdefault(key, []).append((trial.result, notice))
    return [_together(part) for members in grouped.values() for part in _alike(members)]


def _alike(members: Sequence[_Said]) -> list[list[_Said]]:
    """One part, as figures differ from trial to trial; or one for each thing that is said.

    It is the latter if all trials of a variant say the same: it follows from the variant.
    """
    by_message: dict[str, list[_Said]] = {}
    for trial, notice in members:
        by_message.setdefault(notice.message, []).append((trial, notice))
    of_variants = {(trial.variant, notice.message) for trial, notice in members}
    variants = {trial.variant for trial, _ in members}
    if len(by_message) < len(members) and len(of_variants) == len(variants):
        return list(by_message.values())
    return [list(members)]


def _together(members: Sequence[_Said]) -> Notice:
    """What several trials say, in the words of the first."""
    trial, first = members[0]
    more = len({each.trial for each, _ in members}) - 1
    others = f" (and {more} more trial{'s' if more > 1 else ''})" if more else ""
    return first.model_copy(update={"message": f"{trial.trial}{others}: {first.message}"})


def _unread(trials: Sequence[RecordedTrial]) -> list[Notice]:
    names = [trial.result.trial for trial in trials if trial.workload is None]
    if not names:
        return []
    return [
        Notice(
            code="unread-workload",
            severity="warning",
            message=f"this Loadstone cannot read the workload of {', '.join(names)}: the graph of "
            "execution times and the search for stalls are left out",
            advice="make the report with the release that made the trials",
        )
    ]


def _unsafe(variants: Sequence[VariantReport]) -> list[Notice]:
    by_setting: dict[str, list[str]] = {}
    for variant in variants:
        for setting in variant.unsafe:
            by_setting.setdefault(setting, []).append(variant.name)
    return [
        Notice(
            code="unsafe-figures",
            severity="warning",
            message=f"{setting} can lose acknowledged commits; in force in {_quoted(names)}",
            advice="compare such figures with each other only, and do not use them for production",
        )
        for setting, names in by_setting.items()
    ]


def _several(variants: Sequence[VariantReport]) -> list[Notice]:
    return [
        Notice(
            code="several-changes",
            severity="warning",
            message=f"{_quoted([variant.name])} changes {len(variant.step)} things at once: "
            f"{', '.join(change.factor for change in variant.step)}",
            advice="split the rung to learn which of them it was",
        )
        for variant in variants
        if variant.several
    ]


def _outliers(variants: Sequence[VariantReport], metric: str) -> list[Notice]:
    """Outliers of the metric that verdicts are about; others are marked at their figures."""
    names = [
        trial
        for variant in variants
        for figure in variant.figures
        if figure.metric == metric
        for trial in figure.outliers
    ]
    if not names:
        return []
    return [
        Notice(
            code="outlier",
            severity="info",
            message=f"{', '.join(names)} stand{'s' if len(names) == 1 else ''} apart from the "
            "other trials of the same variant",
            advice="not dropped; look at the charts of the trial for the reason",
        )
    ]


def _few_repeats(comparisons: Sequence[ComparisonReport]) -> list[Notice]:
    short = [c for c in comparisons if c.verdict == "too few repeats"]
    if not short:
        return []
    needed = max(c.repeats_needed or 0 for c in short)
    have = min(min(c.n_baseline, c.n_candidate) for c in short)
    return [
        Notice(
            code="too-few-repeats",
            severity="warning",
            message=f"with {_valid(have)} of a variant no difference can be shown, however large "
            "it is",
            advice=f"write repeats: {needed} or more",
        )
    ]


def _early(comparisons: Sequence[ComparisonReport]) -> list[Notice]:
    names = dict.fromkeys(each.candidate for each in comparisons if each.look and each.look.early)
    if not names:
        return []
    return [
        Notice(
            code="decided-early",
            severity="info",
            message=f"{_quoted(list(names))} {'was' if len(names) == 1 else 'were'} decided before "
            "the last look: such a change is estimated a little larger than it is",
            advice="its interval and its p allow for all looks",
        )
    ]


def _undecided(comparisons: Sequence[ComparisonReport], headline: str) -> list[Notice]:
    """By the headline the run ended too soon; by another metric it may not have gone on for it."""
    undecided = [each for each in comparisons if each.verdict == _UNDECIDED]
    if not undecided:
        return []
    of_headline = [each for each in undecided if each.metric == headline]
    names = list(dict.fromkeys(each.candidate for each in of_headline or undecided))
    not_yet = f"{_quoted(names)} {'is' if len(names) == 1 else 'are'} not decided yet"
    if of_headline:
        return [
            Notice(
                code="not-decided-yet",
                severity="warning",
                message=f"{not_yet}: the run ended before the look that could have decided",
                advice="run the experiment again, to its end",
            )
        ]
    metrics = ", ".join(dict.fromkeys(each.metric for each in undecided))
    return [
        Notice(
            code="not-decided-yet",
            severity="info",
            message=f"{not_yet} by {metrics}: every pair was decided by {headline}, where the "
            "experiment stops",
            advice="name it as the headline, or leave the looks out, to decide it too",
        )
    ]


def _differences(comparisons: Sequence[ComparisonReport]) -> list[Notice]:
    found: dict[str, list[str]] = {}
    for comparison in comparisons:
        for line in comparison.differences:
            found.setdefault(line, []).append(f"{comparison.candidate} and {comparison.baseline}")
    if not found:
        return []
    shown = "; ".join(f"{line} (between {pairs[0]})" for line, pairs in list(found.items())[:3])
    return [
        Notice(
            code="more-than-the-factor-differs",
            severity="warning",
            message=f"more than the factor differs: {shown}"
            + (f"; {len(found) - 3} more" if len(found) > 3 else ""),
            advice="a difference between these may come from that instead",
        )
    ]
