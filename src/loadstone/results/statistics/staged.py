"""The verdicts of one family within blocks, which conduct and report both ask for here.

Without looks all are judged once. Else the looks are gone through in order, each with the blocks
that it had. The first that crosses its limit decides: its blocks give verdict, estimate and
interval, whatever was made afterwards for other pairs. The interval is the repeated one,
d +- limit x standard error, which holds at all looks together (Jennison & Turnbull 2000, Group
Sequential Methods, ch. 9). So it decides as well once it lies within a margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf, log1p

from loadstone.results.statistics.contrasts import Blocks, Contrast, within_blocks
from loadstone.results.statistics.power import student_beyond, tails
from loadstone.results.statistics.sequential import limits_at
from loadstone.results.statistics.verdicts import (
    Comparison,
    Look,
    Tested,
    comparison_of,
    judge,
    t_of,
)


@dataclass(frozen=True, slots=True)
class LookPlan:
    """When to look, and how sure a claim must be.

    Attributes:
        looks: Blocks after which to look, ascending; the last is the maximum.
        among: How many comparisons are judged together: each at alpha by this number (Bonferroni).
        alpha: Chance of any false claim over all of them and all looks.
        margin_percent: The largest change that does not matter; None: nothing is said of that.
    """

    looks: tuple[int, ...]
    among: int
    alpha: float
    margin_percent: float | None = None

    @property
    def level(self) -> float:
        """Chance of a false claim of one comparison over its looks."""
        return self.alpha / self.among


@dataclass(frozen=True, slots=True)
class Member:
    """One comparison of a family.

    Attributes:
        levels: Name: its figures by block; the first block of the stage is 1.
        candidate: Which of them is compared.
        baseline: With which.
        made: Blocks of the stage that were made, complete or not.
        higher_is_better: True for rates, False for times.
        stolen: Name: as `within_blocks` has it.
    """

    levels: Mapping[str, Blocks]
    candidate: str
    baseline: str
    made: int
    higher_is_better: bool
    stolen: Mapping[str, Blocks] | None = None

    def contrast(self, levels: Mapping[str, Blocks] | None = None) -> Contrast:
        """The difference of the two.

        Args:
            levels: Their first blocks, at a look; default: all.
        """
        own = self.levels if levels is None else levels
        return within_blocks(own, self.candidate, self.baseline, self.stolen)


def judge_family(
    members: Sequence[Member],
    *,
    looks: tuple[int, ...],
    alpha: float,
    decided_among: int | None = None,
    margin_percent: float | None = None,
) -> list[Comparison]:
    """Judge the comparisons of one family together, at looks if there are any.

    Args:
        members: Pairs, or metrics of pairs, in any order.
        looks: Blocks after which to look, ascending; none: all are judged once.
        alpha: As `judge` has it.
        decided_among: As `judge` has it; with looks, their number where it is not known.
        margin_percent: As `judge` has it.

    Returns:
        A comparison for each, in the order given.

    Raises:
        ValueError: The two of a pair share no block, or a figure is not finite and above 0.
    """
    if looks:
        plan = LookPlan(looks, decided_among or len(members), alpha, margin_percent)
        return [judge_at_looks(each, plan) for each in members]
    return judge(
        [each.contrast() for each in members],
        higher_is_better=[each.higher_is_better for each in members],
        alpha=alpha,
        decided_among=decided_among,
        margin_percent=margin_percent,
    )


def judge_at_looks(member: Member, plan: LookPlan) -> Comparison:
    """Judge a pair at the looks that were made.

    A block that lacks one of the two counts at no look. A look at which the pair has too few
    complete blocks is passed over, and what it could have spent is left for the next.

    Raises:
        ValueError: The two share no block, or a figure is not finite and above 0.
    """
    last: tuple[Contrast, Tested] | None = None
    for contrast, test in _looks(member, plan):
        last = contrast, test
        if test.claims is not None:
            break
    if last is None:
        claims = False if member.made >= plan.looks[-1] else None
        last = member.contrast(), Tested(None, None, plan.level, None, claims)
    return comparison_of(*last, plan.among, up_is_good=member.higher_is_better)


def _looks(member: Member, plan: LookPlan) -> Iterator[tuple[Contrast, Tested]]:
    """Every look that was made and could have stopped, in order."""
    complete: list[int] = []
    pair = member.candidate, member.baseline
    for after in plan.looks:
        if after > member.made:
            return
        so_far = _until(member.levels, after)
        complete.append(len(so_far[pair[0]].keys() & so_far[pair[1]].keys()))
        if complete[-1] > 0:
            contrast = member.contrast(so_far)
            test = _tested(contrast, tuple(complete), plan)
            if test is not None:
                yield contrast, test


def _tested(contrast: Contrast, complete: tuple[int, ...], plan: LookPlan) -> Tested | None:
    """The test of a look; None if it could not stop."""
    limits = limits_at(plan.looks, complete, contrast.levels, plan.level)
    limit, at, ends = limits.limits[-1], len(complete) - 1, len(complete) == len(plan.looks)
    if isinf(limit):
        return None
    # Blocks that lack another level leave the error fewer degrees of freedom than were simulated.
    simulated = (complete[-1] - 1) * (contrast.levels - 1)
    t = _as_of(t_of(contrast), contrast.freedom, simulated)
    look = Look(plan.looks, plan.looks[at], t, limit)
    nominal = 2.0 * tails(limit, simulated)
    within = _is_within(contrast, nominal, plan.margin_percent)
    if not (look.crossed or ends):
        claims = False if within else None
        return Tested(None, None, plan.level, nominal, claims, within=within, look=look)
    p = limits.p_value(at, t)
    adjusted = min(1.0, plan.among * p)
    return Tested(p, adjusted, plan.level, nominal, look.crossed, within=within, look=look)


def _is_within(contrast: Contrast, nominal: float, margin_percent: float | None) -> bool:
    """Whether the repeated interval lies within the margin."""
    if margin_percent is None or contrast.error is None:
        return False
    reach = student_beyond(nominal / 2.0, contrast.freedom) * contrast.error
    return abs(contrast.shift) + reach <= log1p(margin_percent / 100.0)


def _as_of(t: float, freedom: float, other: float) -> float:
    """The |t| of other degrees of freedom that is as rare."""
    return t if freedom == other or isinf(t) else student_beyond(tails(t, freedom), other)


def _until(levels: Mapping[str, Blocks], block: int) -> dict[str, Blocks]:
    return {
        name: {at: figure for at, figure in own.items() if at <= block}
        for name, own in levels.items()
    }
