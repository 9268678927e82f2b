"""How two configurations compare, and at which look that was decided."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.results.base import Record

VerdictWord = Literal[
    "better",
    "worse",
    "equivalent",
    "no detectable change",
    "too few repeats",
    "not decided yet",
]


class HostDifference(Record):
    """A large fact in which the hosts of two results differ."""

    fact: str = Field(description="`virtualisation`, `processor`, `memory`, `disks`, ...")
    baseline: str
    candidate: str


class LookReport(Record):
    """The look of a sequential plan at which a comparison was judged last."""

    planned: list[int] = Field(description="Blocks after which it looks; the last ends it.")
    after: int = Field(description="Blocks after which this look was.")
    t: float | None = Field(description="|t| that was seen; None: nothing scattered.")
    limit: float = Field(description="|t| that stops at this look.")
    early: bool = Field(description="It was decided before the last look.")


class OtherTrials(Record):
    """The same comparison by other trials: it shows what leaving some out has done."""

    trials: Literal["all", "without those marked"]
    ratio: float
    low: float | None
    high: float | None
    p_adjusted: float | None
    verdict: VerdictWord


class ComparisonReport(Record):
    """Candidate against baseline, on one metric."""

    metric: str
    candidate: str
    baseline: str
    role: Literal["previous", "baseline", "pair"]
    baseline_mean: float | None = Field(
        default=None, description="Geometric mean in the trials that the comparison rests on."
    )
    candidate_mean: float | None = None
    ratio: float
    low: float | None
    high: float | None
    interval_confidence: float = Field(
        description="Of this interval by itself: 1 minus the level at which the pair was judged."
    )
    effect_percent: float
    p_value: float | None = Field(
        description="Of this comparison alone; stage-wise where there are looks."
    )
    p_adjusted: float | None
    p_by_signs: float | None = Field(
        description="Exact p of the differences within blocks with their signs dealt anew: a check."
    )
    test: str = Field(description="What the difference was held against.")
    freedom: float = Field(description="Degrees of freedom of its scatter.")
    n_baseline: int
    n_candidate: int
    least_detectable_percent: float | None
    least_detectable_range: tuple[float, float] | None = Field(
        description="Where the true one lies, as the scatter is known from few trials only: 90 %."
    )
    verdict: VerdictWord = Field(
        description="`equivalent`: no change larger than the margin. `not decided yet`: it ended "
        "before the last look."
    )
    look: LookReport | None = Field(
        default=None, description="None: the number of repeats was fixed, or no look was made."
    )
    margin_percent: float | None = Field(
        default=None, description="The largest change that does not matter, if that was said."
    )
    p_beyond_margin: float | None = Field(
        default=None,
        description="Corrected p of `within_margin` (two one-sided tests); None with looks, where "
        "the interval tells it.",
    )
    within_margin: bool = Field(
        default=False, description="It is shown to be no larger; also beside `better` or `worse`."
    )
    repeats_needed: int | None = None
    other_trials: OtherTrials | None = Field(
        default=None,
        description="Where others took of the measured time of some trials: by all trials, if "
        "those are left out; without them, if they are so many that all count.",
    )
    differences: list[str] = Field(
        default=[], description="What differs between the two besides the factor."
    )
