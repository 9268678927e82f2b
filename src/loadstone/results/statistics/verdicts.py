"""Is the candidate better than the baseline? A ratio, its interval, a p-value and a verdict.

All four, and what could have been found, come from one statistic: Student's t of the difference
of log figures. So p <= 5 % and "the interval excludes 1" always agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, expm1, inf, log
from sys import float_info

from loadstone.results.statistics.contrasts import Contrast, Method
from loadstone.results.statistics.equivalence import p_beyond
from loadstone.results.statistics.power import Detectable, least_detectable, student_beyond, tails
from loadstone.results.statistics.sign_flip import FEWEST_TO_FLIP, MOST_TO_FLIP, sign_flip_p

EQUAL = 1e-12
"""Mean logs that differ by less are equal: it is a rounding error of their sum."""
_LARGEST_LOG = log(float_info.max)


class Verdict(StrEnum):
    """What a comparison says."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    """No change larger than the margin."""
    NO_DETECTABLE_CHANGE = "no detectable change"
    TOO_FEW_REPEATS = "too few repeats"
    NOT_DECIDED_YET = "not decided yet"


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a plan at which a comparison was judged last.

    Attributes:
        planned: Blocks at which the plan looks; the last is the maximum.
        after: Blocks after which this look was.
        t: |t| that was seen.
        limit: |t| that stops.
    """

    planned: tuple[int, ...]
    after: int
    t: float
    limit: float

    @property
    def crossed(self) -> bool:
        """Whether a difference was claimed here."""
        return self.t >= self.limit

    @property
    def early(self) -> bool:
        """Whether that was before the last look."""
        return self.crossed and self.after < self.planned[-1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline.

    Attributes:
        baseline: Geometric mean of the baseline in the trials that are compared.
        candidate: That of the candidate.
        ratio: Candidate / baseline.
        low: Lower end of the interval of the ratio; None where the trials are too few for one.
        high: Upper end of it.
        interval_confidence: Confidence of this interval by itself. Holm judged the pair at 1 minus
            that, so the interval excludes 1 exactly where the verdict claims a change. Of a plan
            with looks it holds for all its looks together.
        effect_percent: 100 (ratio - 1), signed; whether up is good is told by ``higher_is_better``.
        higher_is_better: True for rates, False for times.
        p_value: Two-sided p-value of this comparison alone; None while it is not decided, and
            where the margin decided it before the last look.
        adjusted_p: The same after the correction for the comparisons judged together.
        flip_p: Exact p-value of the differences with their signs dealt anew, a check that needs
            no normal distribution; None without blocks, or with fewer than `FEWEST_TO_FLIP`.
        test: What the difference was held against.
        freedom: Degrees of freedom.
        n_baseline: Trials of the baseline; within blocks, the blocks.
        n_candidate: Trials of the candidate.
        spread: Standard deviation of the log figure of a trial (within its block, if there are
            blocks); None if unknown.
        detectable: The smallest true difference found with a power of 80 %; None if unknown.
        repeats_needed: The fewest trials per level with which a verdict is given.
        comparisons: How many comparisons were judged together.
        p_beyond: Where a margin is given: p-value of the claim that the change is smaller, after
            the same correction over the comparisons judged together; None of a plan with looks,
            where the interval tells it.
        within: Whether the change is shown to be smaller than the margin. A change can be both
            real and that small: the verdict is `BETTER` or `WORSE` then.
        verdict: The answer.
        look: Where it was judged, if its plan has looks and one was made.
    """

    baseline: float
    candidate: float
    ratio: float
    low: float | None
    high: float | None
    interval_confidence: float
    effect_percent: float
    higher_is_better: bool
    p_value: float | None
    adjusted_p: float | None
    flip_p: float | None
    test: Method
    freedom: float
    n_baseline: int
    n_candidate: int
    spread: float | None
    detectable: Detectable | None
    repeats_needed: int
    comparisons: int
    p_beyond: float | None
    within: bool
    verdict: Verdict
    look: Look | None = None


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for the number of comparisons made together.

    Step-down Bonferroni: the i-th smallest of m is multiplied by m - i + 1, and none may be
    smaller than the one before it (Holm 1979, Scand. J. Stat. 6:65). The chance that any of them
    claims a difference that is not there stays below alpha, however they depend on each other.

    Returns:
        Adjusted p-values in the order given, each at least its own p and at most 1.
    """
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for step, at in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, p_values[at] * (len(p_values) - step)))
        adjusted[at] = largest
    return adjusted


def judge(
    contrasts: Sequence[Contrast],
    *,
    higher_is_better: Sequence[bool],
    alpha: float = 0.05,
    decided_among: int | None = None,
    margin_percent: float | None = None,
) -> list[Comparison]:
    """Judge the comparisons of one family together.

    The interval of a pair is taken at the level at which Holm's procedure judged it: alpha / m for
    the smallest p-value of m, alpha / (m - 1) for the next, and for all that follow the first one
    that claims nothing, the level of that one.

    Claims that a change is smaller than the margin are corrected among themselves in the same way:
    the chance of any false claim of a change stays below alpha, and so does that of any false claim
    that there is none of that size.

    Args:
        contrasts: All that could have claimed a difference, in any order.
        higher_is_better: True for rates, False for times, of each.
        alpha: The chance of any false claim that is accepted.
        decided_among: Of comparisons that are decided one by one, before the next is made: how
            many there are at most. Each is judged at alpha by this number (Bonferroni).
        margin_percent: The largest change that does not matter; None: nothing is said of that.

    Returns:
        A comparison for each, in the order given.
    """
    raw = [_p_value(contrast) for contrast in contrasts]
    count = len(contrasts) if decided_among is None else decided_among
    levels = _levels(raw, alpha) if decided_among is None else [alpha / count] * len(raw)
    beyond: list[float | None] = [None] * len(raw)
    if margin_percent is not None:
        within = [p_beyond(contrast, margin_percent) for contrast in contrasts]
        beyond = list(_adjusted(within, decided_among))
    tested = [
        Tested(
            p,
            adjusted,
            level,
            level,
            _at_most(adjusted, alpha),
            beyond=p_margin,
            within=p_margin is not None and _at_most(p_margin, alpha),
        )
        for p, adjusted, level, p_margin in zip(
            raw, _adjusted(raw, decided_among), levels, beyond, strict=True
        )
    ]
    return [
        comparison_of(contrast, test, count, up_is_good=up_is_good)
        for contrast, test, up_is_good in zip(contrasts, tested, higher_is_better, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Tested:
    """How a comparison was judged among the others of its family.

    Attributes:
        p: As `Comparison` has it.
        adjusted: As `Comparison` has it.
        level: Its chance of a false claim.
        nominal: The level of a single t test with the same limit; smaller where there are looks.
        claims: Whether a difference is claimed; None while it is not decided.
        beyond: As `Comparison.p_beyond`.
        within: Whether it is claimed that no change is larger than the margin.
        look: Where it was judged.
    """

    p: float | None
    adjusted: float | None
    level: float
    nominal: float | None
    claims: bool | None
    beyond: float | None = None
    within: bool = False
    look: Look | None = None


def _adjusted(p_values: Sequence[float], decided_among: int | None) -> list[float]:
    """Corrected by Holm, or by Bonferroni where comparisons are decided one by one."""
    if decided_among is None:
        return holm(p_values)
    return [min(1.0, decided_among * p) for p in p_values]


def _levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """The level at which Holm's procedure judged each."""
    levels = [alpha] * len(p_values)
    stopped_at: float | None = None
    for step, at in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        level = alpha / (len(p_values) - step) if stopped_at is None else stopped_at
        levels[at] = level
        if stopped_at is None and not _at_most(p_values[at], level):
            stopped_at = level
    return levels


def _at_most(p: float, level: float) -> bool:
    """1 - 0.95 is a little more than 0.05, and so may be a product: equal must count as equal."""
    return p <= level * (1.0 + 1e-9)


def t_of(contrast: Contrast) -> float:
    """|t| of a difference; 0 where nothing can be said, infinite where nothing scatters."""
    if contrast.error is None or abs(contrast.shift) <= EQUAL:
        return 0.0
    if contrast.error <= EQUAL * abs(contrast.shift):
        return inf
    return abs(contrast.shift) / contrast.error


def _p_value(contrast: Contrast) -> float:
    """Two-sided, of Student's t; 1 where nothing can be said."""
    t = t_of(contrast)
    return 2.0 * tails(t, contrast.freedom) if t > 0.0 else 1.0


def comparison_of(contrast: Contrast, test: Tested, count: int, *, up_is_good: bool) -> Comparison:
    """The comparison that a difference and its test make.

    Args:
        contrast: The difference.
        test: How it was judged.
        count: How many were judged together.
        up_is_good: True for rates, False for times.
    """
    shift, error = contrast.shift, contrast.error
    enough = min(contrast.n_baseline, contrast.n_candidate) >= contrast.fewest
    low = high = detectable = None
    if enough and error is not None and test.nominal is not None:
        reach = student_beyond(test.nominal / 2.0, contrast.freedom) * error
        low, high = shift - reach, shift + reach
        if error > EQUAL:
            detectable = least_detectable(error, contrast.freedom, test.nominal)
    blocks = len(contrast.differences)
    return Comparison(
        baseline=ratio_of(contrast.level),
        candidate=ratio_of(contrast.level + shift),
        ratio=ratio_of(shift),
        low=None if low is None else ratio_of(low),
        high=None if high is None else ratio_of(high),
        interval_confidence=1.0 - test.level,
        effect_percent=percent_of(shift),
        higher_is_better=up_is_good,
        p_value=test.p,
        adjusted_p=test.adjusted,
        flip_p=(
            sign_flip_p(contrast.differences)
            if test.look is None and FEWEST_TO_FLIP <= blocks <= MOST_TO_FLIP
            else None
        ),
        test=contrast.method,
        freedom=contrast.freedom,
        n_baseline=contrast.n_baseline,
        n_candidate=contrast.n_candidate,
        spread=contrast.spread,
        detectable=detectable,
        repeats_needed=contrast.fewest,
        comparisons=count,
        p_beyond=test.beyond,
        within=enough and test.within,
        verdict=_verdict(shift, test, enough=enough, up_is_good=up_is_good),
        look=test.look,
    )


def _verdict(shift: float, test: Tested, *, enough: bool, up_is_good: bool) -> Verdict:
    if test.claims is None:
        return Verdict.NOT_DECIDED_YET
    if not enough:
        return Verdict.TOO_FEW_REPEATS
    if not test.claims:
        return Verdict.EQUIVALENT if test.within else Verdict.NO_DETECTABLE_CHANGE
    return Verdict.BETTER if (shift > 0.0) == up_is_good else Verdict.WORSE


def ratio_of(shift: float) -> float:
    """The ratio that a difference of logarithms is; the largest number if it is beyond all."""
    return exp(min(shift, _LARGEST_LOG))


def percent_of(shift: float) -> float:
    """The change in per cent that a difference of logarithms is; the largest number at most."""
    return 100.0 * expm1(min(shift, _LARGEST_LOG - log(100.0)))
