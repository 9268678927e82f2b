"""Baselines of placements, and how well they predict the rank of the system on them."""

from __future__ import annotations

from pydantic import Field

from loadstone.report.model.variants import Figure, MetricInfo
from loadstone.results.base import Record


class RankedTest(Record):
    """How a test's order of the placements agrees with that of the database."""

    metric: str
    tau: float | None = Field(
        description="Kendall's tau-b over the medians of the placements; 1: the same order. None: "
        "they are all equal."
    )
    p_value: float | None = Field(description="Exact and two-sided.")
    p_adjusted: float | None = Field(description="By Holm, over all tests.")
    low: float | None = Field(description="Of tau, over blocks drawn anew; None: too few blocks.")
    high: float | None
    by_block: list[float] = Field(description="Tau of each block by itself.")
    behind: bool = Field(description="The leader is shown to agree better.")


class RankedDatabase(Record):
    """What predicts the rank of one system: of all configurations that differ in placement only."""

    name: str = Field(description="Its levels of the other factors; empty if there are none.")
    variants: dict[str, str] = Field(description="Placement: the variant on it.")
    placements: list[str] = Field(description="Those with figures of all, which are ranked.")
    tests: list[RankedTest] = Field(description="Those that agree best come first.")
    leader: str | None = Field(description="Metric of the test that agrees best.")
    shown: bool = Field(description="Its agreement is no chance.")
    apart: bool = Field(description="It is shown to agree better than each other test.")
    text: str = Field(description="The result in a sentence or two.")


class PlacementReport(Record):
    """What a placement does by itself."""

    placement: str
    figures: list[Figure] = Field(description="Of each test.")
    trials: list[str] = Field(description="All that measured it, whatever their status.")
    missing: str = Field(default="", description="Why it takes no part in the ranks of a system.")


class BaselineReport(Record):
    """Baselines of the placements, and how well they predict the rank of the system on them."""

    about: str = Field(description="What each was measured with.")
    metric: str = Field(description="Of the system, that it is ranked by.")
    tests: list[MetricInfo] = Field(description="In the order of the profile.")
    placements: list[PlacementReport]
    databases: list[RankedDatabase]
    fewest_placements: int = Field(
        description="With as many a test that agrees perfectly can be shown to predict."
    )
