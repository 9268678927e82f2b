"""Steps of a workload, or tests of a baseline, compared one by one."""

from __future__ import annotations

from pydantic import Field

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.results.base import Record


class StepTitle(Record):
    """A step that all trials make."""

    operation: str
    title: str
    metric: str = Field(description="Its time or its rate, among the metrics.")
    column: str = Field(
        default="", description="Of the table of tests, in which the title is the row: `read`."
    )
    facts: dict[str, float | str] = Field(
        default={}, description="What it does: `access`, `block_bytes`, `depth`, `threads`."
    )
    figures: dict[str, str] = Field(
        default={}, description="Further metrics of it by what they tell: `score`, `p50 ms`."
    )


class StepPlan(Record):
    """How the engine carried out a step."""

    variant: str
    trial: str
    operation: str
    text: str


class CycleReport(Record):
    """A cycle of steps that trials make several times."""

    variant: str
    cycle: int = Field(description="From 1.")
    times_s: dict[str, float] = Field(
        description="Operation: its time, the mean of the variant's valid trials."
    )


class PlanChange(Record):
    """A step that is carried out in another way than in the variant before."""

    operation: str
    candidate: str
    baseline: str


class BestReport(Record):
    """Which configuration leads a test, and whether that is shown."""

    metric: str
    variant: str
    shown: bool = Field(description="It is better than each of the others, as they were judged.")
    level: list[str] = Field(description="Others that are not shown to be worse than it.")
    pairs: int = Field(description="How many pairs were judged together: all that there are.")


class DepthPoint(Record):
    """A test of a queue-depth curve: medians of the trials."""

    title: str
    in_flight: float = Field(description="Asked for: depth times threads.")
    rate: float
    p50_ms: float | None
    p99_ms: float | None


class DepthCurve(Record):
    """Throughput against latency: tests of a variant that differ in depth and threads only."""

    variant: str
    label: str = Field(description="What they share: `randread 4 KB`.")
    points: list[DepthPoint] = Field(description="By requests in flight.")
    knee: int | None = Field(
        description="Place of the point with the most power, rate / time in the system; None: "
        "the power still rises at the last."
    )


class StepsReport(Record):
    """The steps of a workload that goes step by step, or its tests, compared one by one."""

    steps: list[StepTitle]
    comparisons: list[ComparisonReport] = Field(
        description="Of each step, corrected over the steps of a family of a pair; of each test "
        "(a step with a column), corrected over all pairs."
    )
    best: list[BestReport] = Field(
        default=[], description="Of each test that several configurations were compared by."
    )
    moved: list[str] = Field(
        description="Which steps moved: a sentence for each pair of variants and direction."
    )
    plans: list[StepPlan]
    plan_changes: list[PlanChange]
    cycles: list[CycleReport] = []

    depths: list[DepthCurve] = []

    @property
    def has_columns(self) -> bool:
        """Whether they are tests, in rows and columns."""
        return any(step.column for step in self.steps)
