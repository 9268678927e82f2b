"""What limited the system: in a trial, over those of a variant, and at a level of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loadstone.report.model.limits import LimitReport, LookedAt
from loadstone.report.reading import RecordedExperiment
from loadstone.results import limits
from loadstone.results.record import LevelRecord, TrialResult
from loadstone.results.usage import ResourceUse


def limit_reports(folder: RecordedExperiment) -> list[LimitReport]:
    """One for each variant, or for each of its measured phases; none where nobody looked."""
    found = []
    for variant in folder.design.variants:
        results = [trial.result for trial in folder.valid_trials_of(variant.name)]
        phases = dict.fromkeys(name for result in results for name in _by_phase(result))
        for phase in phases:
            looks = [uses for result in results if (uses := _by_phase(result).get(phase))]
            found.append(limit_report(looks, variant.name, phase))
    return found


def trial_limits(result: TrialResult) -> list[LimitReport]:
    """Of one trial: one, or one for each measured phase; none where nobody looked."""
    return [
        limit_report([uses], result.variant, phase) for phase, uses in _by_phase(result).items()
    ]


def level_limit(record: LevelRecord, variant: str) -> LimitReport | None:
    """Of a level of a search; None of one that holds, and where nobody looked."""
    return limit_report([record.limits], variant) if record.limits else None


def limit_report(
    looks: Sequence[Sequence[ResourceUse]], variant: str, phase: str = ""
) -> LimitReport:
    """What limited most of some trials.

    Args:
        looks: What was looked at in each trial, the likeliest limit first; one at least.
        variant: Whose trials they are.
        phase: Of trials that have several.
    """
    firsts = [limits.limiting(uses) for uses in looks]
    names = ["" if first is None else limits.title_of(first) for first in firsts]
    name, times = Counter(names).most_common(1)[0]
    place = max(place for place, each in enumerate(names) if each == name)
    first = firsts[place]
    return LimitReport(
        variant=variant,
        phase=phase,
        limit=name,
        evidence="" if first is None else first.evidence,
        times=times,
        trials=len(looks),
        uses=[
            LookedAt(title=limits.title_of(use), full=use.full, evidence=use.evidence)
            for use in looks[place]
        ],
    )


# -- inside ------------------------------------------------------------------------------------
def _by_phase(result: TrialResult) -> dict[str, list[ResourceUse]]:
    several = {phase.name: phase.limits for phase in result.measured if phase.limits}
    return several or ({"": result.limits} if result.limits else {})
