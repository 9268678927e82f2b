"""A load that went through levels, of each configuration: the load-power graph and its table."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.report.model.comparisons import ComparisonReport
from loadstone.results.base import Record
from loadstone.results.graduated import CalibrationInterval, Form


class Spread(Record):
    """A figure over the trials of a configuration: median, and the interval of it."""

    n: int = Field(description="Trials that have it.")
    median: float
    low: float | None = Field(description="None: of one trial.")
    high: float | None
    is_range: bool = Field(
        default=False, description="Too few trials for the confidence: least and greatest."
    )


class LoadLevel(Record):
    """A level of the load in a configuration. Response times are medians of the trials."""

    name: str = Field(description="`90 %`, `active idle`.")
    share: float = Field(description="Of the calibrated rate, or of the users; 0: active idle.")
    target_per_s: float | None = Field(description="None: users, whose rate is not set.")
    users: int | None = None
    achieved_per_s: Spread
    achieved_share: float | None = Field(
        description="Of what became due, the least of the trials; None: nothing did, or users."
    )
    watts: Spread | None
    per_watt: Spread | None = Field(description="Operations a second for each watt.")
    joules_per_operation: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    steady: bool = Field(description="No: response times depend on how long the level lasts.")
    holds: bool = Field(description="In all of the trials.")
    reasons: list[str] = Field(default=[], description="Why not, of any of the trials.")
    lab_cpu_share: float | None = Field(
        description="Processors that the lab itself used, of one: the most of the trials."
    )


class GraduatedVariant(Record):
    """A configuration under graduated load."""

    variant: str
    trials: list[str] = Field(description="Those that its figures are of.")
    counts: bool = Field(description="No: none of its trials is valid, and these are not.")
    form: Form
    calibrated_per_s: float | None = Field(description="Median; None: users.")
    calibrated_by: Literal["measured", "given"]
    settled: bool = Field(description="Whether the calibration of each trial came to rest.")
    calibrations: list[list[CalibrationInterval]] = Field(
        description="Of each trial, in their order."
    )
    overall: Spread | None = Field(
        description="Sum of the throughputs over the sum of the average powers of all levels."
    )
    reason: str = Field(default="", description="Why there is no overall figure.")
    peak_watts: float | None = Field(description="At the highest load.")
    idle_watts: float | None
    mean_watts: float | None = Field(description="Of all levels, active idle among them.")
    idle_share: float | None = Field(description="Of the watts at the highest load.")
    proportionality: float | None = Field(
        description="1: power is in proportion to the load; 0: it is the same at any load."
    )
    joules_per_operation: float | None = Field(description="Over all levels.")
    meter: str = Field(description="The experiment's meter and its scope; empty: none.")
    scope: str = Field(description="Of that meter; empty: none.")
    mark: str = Field(
        default="", description="What stands behind its figures of power: `simulated`."
    )
    levels: list[LoadLevel] = Field(description="The highest load first, active idle last.")

    @property
    def peak(self) -> LoadLevel | None:
        """The level of the highest load."""
        return self.levels[0] if self.levels and self.levels[0].share > 0 else None


class GraduatedReport(Record):
    """All configurations under graduated load, in the order of the design."""

    over: Literal["rate", "users"]
    unit: str = Field(description="Of the rate: `operations/s`.")
    variants: list[GraduatedVariant]
    comparisons: list[ComparisonReport] = Field(
        default=[],
        description="Of the watts of each level of each pair, judged together with the headline.",
    )
    said: list[str] = Field(
        default=[],
        description="At which levels which of a pair draws more: a sentence for each direction.",
    )
