"""Which trials of an experiment count: all, but those whose own measured time was taken from them.

A trial is marked where something that is not its own took more of its measured time than is usual
over the experiment. What is there in all trials is the machine: it is in the scatter. Nothing looks
at the figures of a trial. docs/method.md has the rule, and how its limits were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from loadstone.results.record import Status, TrialResult
from loadstone.results.taken import KINDS, Cause, Taken

MOST_LEFT_OUT = 0.1
"""Of the trials. Where more are marked, the machine is like that, and all count; a level of a
search that did not hold is tried again all the same."""
FEWEST_BLOCKS = 4
"""Of so many a whole one may be left out, though that is more than one trial in ten."""
FEWEST_FOR_USUAL = 3
"""Of fewer trials nothing is usual."""
_LATE = "schedule-lag"


@dataclass(frozen=True)
class Standing:
    """What was taken from the trials of an experiment, and which of them do not count for it."""

    marked: Mapping[str, tuple[Taken, ...]]
    """Trial: what was taken from it; nothing from one that is marked with its whole block."""
    left_out: frozenset[str]
    """Those that are marked; none if they are too many."""
    usual: tuple[Taken, ...]
    """What was taken from all of them: the trial in the middle, of each cause beyond its limit."""

    @property
    def all_count(self) -> bool:
        """Whether too many are marked for them to be left out."""
        return len(self.left_out) < len(self.marked)


NOTHING_TAKEN = Standing({}, frozenset(), ())


def standing(
    results: Sequence[TrialResult], limit_percent: float | None = None, planned: int = 0
) -> Standing:
    """Marks trials, and says which of them are left out.

    Args:
        results: Of an experiment, in their order.
        limit_percent: What may be taken beyond what is usual, of any cause; None: `KINDS` says it.
        planned: Trials that there will be; those that there are, if they are more.
    """
    known = [each for each in results if _may_be_marked(each)]
    usual = _usual(known)
    marked = {each.trial: _beyond(each, usual, limit_percent) for each in known}
    marked = {trial: reasons for trial, reasons in marked.items() if reasons}
    searching = {each.trial for each in known if each.levels}
    blocks = _blocks([each for each in known if not each.levels])
    for members in blocks:
        of_block = sum(each.trial in marked for each in members)
        if of_block > 1 and 2 * of_block >= len(members):
            marked |= {each.trial: () for each in members if each.trial not in marked}
    few = len(marked.keys() - searching) <= _bearable(blocks, max(planned, len(known)))
    left_out = frozenset(trial for trial in marked if few or trial in searching)
    return Standing(marked, left_out, _background(known, usual, limit_percent))


def judged(
    results: Sequence[TrialResult], limit_percent: float | None = None, planned: int = 0
) -> list[TrialResult]:
    """The trials with the status that they have among all of them; arguments as of `standing`."""
    left_out = standing(results, limit_percent, planned).left_out
    return [with_status(each, left_out=each.trial in left_out) for each in results]


def with_status(result: TrialResult, *, left_out: bool) -> TrialResult:
    """A trial that is left out, or that counts as far as others are concerned.

    Args:
        result: As it was recorded.
        left_out: For what was taken from it. One of an older release stays as it was recorded.
    """
    if left_out:
        return result.model_copy(update={"status": Status.DISTURBED})
    if result.taken is None or result.status is not Status.DISTURBED:
        return result
    return result.model_copy(update={"status": Status.INVALID if is_late(result) else Status.VALID})


# -- inside ------------------------------------------------------------------------------------
def _may_be_marked(result: TrialResult) -> bool:
    """Not if nobody watched it, and not where its figures do not count anyway."""
    if result.taken is None or result.durability is not None:
        return False
    if result.levels and all(level.holds for level in result.levels):
        return False  # it held all the same
    return result.status in (Status.VALID, Status.DISTURBED) or (
        result.status is Status.INVALID and is_late(result)
    )


def is_late(result: TrialResult) -> bool:
    """Whether nothing else is wrong with it than that the load generator was late."""
    return {notice.code for notice in result.notices if notice.severity == "error"} == {_LATE}


def _blocks(results: Sequence[TrialResult]) -> list[list[TrialResult]]:
    """The trials of each, those apart that were made in the place of others.

    Baselines of placements are compared with each other.
    """
    found: dict[tuple[int, bool, int], list[TrialResult]] = {}
    made: Counter[tuple[int, str]] = Counter()
    for each in sorted(results, key=lambda result: result.order):
        made[each.block, each.variant] += 1
        attempt = made[each.block, each.variant]
        found.setdefault((each.block, each.baseline_of is None, attempt), []).append(each)
    return list(found.values())


def _bearable(blocks: Sequence[Sequence[TrialResult]], trials: int) -> float:
    """How many trials may be left out."""
    widest = max((len({each.variant for each in members}) for members in blocks), default=0)
    whole = widest if trials >= FEWEST_BLOCKS * widest else 0
    return max(MOST_LEFT_OUT * trials, whole)


def _shares(result: TrialResult) -> dict[Cause, float]:
    return {each.cause: each.share for each in result.taken or ()}


def _usual(results: Sequence[TrialResult]) -> dict[Cause, float]:
    """The median share of each cause over all trials."""
    if len(results) < FEWEST_FOR_USUAL:
        return {}
    shares = [_shares(each) for each in results]
    return {cause: median(each.get(cause, 0.0) for each in shares) for cause in KINDS}


def _limit(cause: Cause, limit_percent: float | None) -> float:
    return KINDS[cause].limit if limit_percent is None else limit_percent / 100.0


def _beyond(
    result: TrialResult, usual: Mapping[Cause, float], limit_percent: float | None
) -> tuple[Taken, ...]:
    return tuple(
        each
        for each in result.taken or ()
        if each.share - usual.get(each.cause, 0.0) > _limit(each.cause, limit_percent)
    )


def _background(
    results: Sequence[TrialResult], usual: Mapping[Cause, float], limit_percent: float | None
) -> tuple[Taken, ...]:
    found = []
    for cause, share in usual.items():
        if share > _limit(cause, limit_percent):
            of_each = [one for each in results for one in each.taken or () if one.cause == cause]
            off = [abs(one.share - share) for one in of_each]
            found.append(of_each[off.index(min(off))])
    return tuple(found)
