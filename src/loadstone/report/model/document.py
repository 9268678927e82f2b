"""The report document: what the pages draw and `--json` prints. One value, no queries behind it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from loadstone.report.model.baselines import BaselineReport
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.graduated import GraduatedReport
from loadstone.report.model.held import HeldReport
from loadstone.report.model.jobs import JobsReport
from loadstone.report.model.limits import LimitReport
from loadstone.report.model.parts import PartRow
from loadstone.report.model.power import DensityReport, PowerRow
from loadstone.report.model.published import BesideReport, PublishedReport, ReferenceReport
from loadstone.report.model.requests import RequestRow
from loadstone.report.model.searching import ScaleReport, SearchReport
from loadstone.report.model.steps import StepsReport
from loadstone.report.model.trials import TrialReport
from loadstone.report.model.variants import MetricInfo, VariantReport
from loadstone.results.base import Record
from loadstone.results.record import Notice, SkippedRung


class ReportDocument(Record):
    """All of one experiment."""

    version: Literal[1] = 1
    loadstone: str
    created_at: str
    name: str
    title: str
    design: Literal["run", "compare", "ladder", "sweep", "crash", "search", "scale", "graduate"]
    status: Literal["complete", "partial"]
    workload: dict[str, Any]
    target: dict[str, Any]
    profile: dict[str, Any]
    load: str = Field(description="How load arrives, in a few words.")
    price: str = Field(default="", description="What the system costs, with the items of its list.")
    command: str = Field(description="The command that repeats the experiment.")
    seed: int
    confidence: float
    headline: str = Field(description="One or two sentences: what was found.")
    metric: str = Field(description="Name of the metric of the headline.")
    judged: list[str] = Field(
        default=[], description="Metrics that verdicts are about, that of the headline first."
    )
    metrics: list[MetricInfo]
    variants: list[VariantReport]
    skipped: list[SkippedRung] = Field(
        default=[], description="Rungs of the ladder that this machine could not climb."
    )
    comparisons: list[ComparisonReport]
    trials: list[TrialReport]
    notices: list[Notice]
    unsafe: bool
    inventory: dict[str, Any]
    reference: ReferenceReport | None = None
    published: list[PublishedReport] = []
    beside: list[BesideReport] = Field(
        default=[], description="What `loadstone import` keeps of other programs."
    )
    steps: StepsReport | None = None
    requests: list[RequestRow] = Field(
        default=[], description="What operations are made of, if that has figures of its own."
    )
    parts: list[PartRow] = Field(
        default=[], description="Of a system of several parts: what each took of the machine."
    )
    held: HeldReport | None = Field(
        default=None, description="What each configuration held of its users."
    )
    power: list[PowerRow] = Field(
        default=[], description="What each meter read over the measured load."
    )
    density: DensityReport | None = Field(
        default=None, description="None: neither price, nor power, nor height is known."
    )
    graduated: GraduatedReport | None = Field(
        default=None, description="None: the load did not go through levels."
    )
    jobs: JobsReport | None = Field(default=None, description="None: the load were no jobs.")
    limits: list[LimitReport] = Field(
        default=[],
        description="What limited the system in the trials of each variant; none of a search, "
        "whose levels have their own.",
    )
    search: SearchReport | None = None
    scale: ScaleReport | None = None
    baseline: BaselineReport | None = Field(
        default=None, description="None: the placements were not measured themselves."
    )
