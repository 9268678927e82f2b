"""What was compared: metrics, their figures, and the configurations that have them."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record
from loadstone.results.durability import DurabilityVerdict
from loadstone.spec.base import Level


class MetricInfo(Record):
    """How a metric is written and which way is better."""

    name: str
    label: str
    unit: str = Field(
        description="As it stands behind figures, with what marks them: `W (simulated)`."
    )
    higher_is_better: bool | None = None
    mark: str = Field(
        default="", description="Of any of the trials: `simulated`, `estimated`, or both."
    )


class Figure(Record):
    """A metric of a variant over its trials: median, 95 % interval (or None), all values."""

    metric: str
    n: int
    median: float
    low: float | None
    high: float | None
    interval_is_range: bool = False
    compared: float | None = Field(
        default=None,
        description="What verdicts are about: the geometric mean; of a variant that is compared, "
        "that of its baseline times the ratio of the two.",
    )
    values: list[float]
    trials: list[str] = Field(description="Trial of each value, same order.")
    outliers: list[str] = Field(default=[], description="Trials that stand apart; not dropped.")


class ChangeText(Record):
    """One factor of a step, with the level before."""

    factor: str
    before: Level | None
    after: Level


class VariantReport(Record):
    """A rung, a level or a cell of a sweep."""

    name: str
    previous: str | None
    step: list[ChangeText]
    levels: dict[str, Level] = Field(
        default={}, description="Factor: level, of all that differs from the experiment's base."
    )
    several: bool = Field(description="More than one thing changed against `previous`.")
    because: str | None = None
    unsafe: list[str] = []
    kept: bool | None = Field(default=None, description="Ladder with `keep: better`: its fate.")
    trials: list[str]
    disturbed: int = Field(description="Trials that the machine disturbed; they do not count.")
    figures: list[Figure]
    durability: DurabilityVerdict | None = Field(
        default=None, description="What its crash trials showed, if it had any."
    )
