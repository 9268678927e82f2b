"""What was measured of power, and what a configuration costs, draws and takes up."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.results.base import Record


class PowerFigures(Record):
    """A meter in a configuration over the measured load: medians of the valid trials."""

    variant: str
    trials: int = Field(description="How many have a figure.")
    watts: float | None
    low: float | None = Field(description="Of the interval of the median; None: of one trial.")
    high: float | None
    joules: float | None = Field(description="Of one trial, over its measured load.")
    covered: float | None = Field(
        description="Share of the measured time for which there are readings, 0 to 1: the least "
        "of the trials."
    )
    invalid: int = Field(description="Readings that were none, of all trials.")
    lag_s: float | None = Field(description="By which its readings come late: the most.")
    resolution_w: float | None = Field(description="Least step of its readings.")
    reason: str = Field(default="", description="Why a trial has no watts.")


class PowerRow(Record):
    """A channel of a meter, in each configuration. Scopes are never added or compared."""

    meter: str
    kind: str
    channel: str
    scope: str = Field(description="What it measures: `wall`, `package`, ...")
    main: bool = Field(description="The experiment's meter: figures per watt are of it.")
    mark: str = Field(default="", description="`simulated`, `estimated`: behind every figure.")
    accuracy_percent: float | None = Field(description="None: not known.")
    parts: list[str] = Field(default=[], description="Of a sum: what was added.")
    figures: list[PowerFigures]


class DensityRow(Record):
    """What a configuration does for its price, its power and its height; None: not known."""

    variant: str
    rate: float | None = Field(description="Median of the headline; None: it is no rate.")
    users: int | None = Field(default=None, description="Closed users that it held.")
    price: float | None
    rate_per_price: float | None = Field(description="For a unit of the currency.")
    watts: float | None
    watts_from: Literal["measured", "stated", ""] = Field(
        description="Of the experiment's meter, or by the owner's word."
    )
    watts_of: str = Field(
        default="", description="Which meter and scope, or what the owner's word covers."
    )
    mark: str = Field(default="", description="`simulated`, `estimated`: behind each figure.")
    rate_per_watt: float | None
    users_per_watt: float | None
    rack_units: float | None
    rate_per_rack_unit: float | None
    users_per_rack_unit: float | None
    kwh_per_year: float | None
    energy_cost_per_year: float | None


class DensityReport(Record):
    """Cost and density of the configurations, as far as price, power and height are known."""

    label: str = Field(description="Of the rate; empty: the headline is none.")
    unit: str
    currency: str = Field(default="", description="Of the price.")
    energy_currency: str = Field(default="", description="Of the price of a kWh.")
    energy_price: float | None = Field(default=None, description="Of a kWh.")
    hours: float = Field(description="A year, that the system runs at these watts.")
    graduated: bool = Field(
        description="Watts are the mean of all levels, the rate for each watt is that of all "
        "levels, and the rate itself is that of the highest load."
    )
    rows: list[DensityRow]
    remarks: list[str] = Field(default=[], description="Where the figures are from.")
