"""Figures of others beside ours: published results, and those of other programs."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class ReferenceRung(Record):
    """A rung of a published ladder, as ratios to the rung before and to the baseline."""

    name: str
    change: str
    value: float
    unit: str
    ratio_to_previous: float | None
    ratio_to_baseline: float


class ReferenceReport(Record):
    """A published result beside ours: shapes are compared, never figures."""

    name: str
    title: str
    source: str
    hardware: str
    rungs: list[ReferenceRung]


class PublishedRow(Record):
    """A line of it; empty where the source gives none."""

    label: str
    cells: list[str]
    own: bool = Field(default=False, description="A configuration of this result, not published.")


class PublishedTable(Record):
    """A published table, as printed."""

    title: str
    columns: list[str] = Field(description="Label with unit.")
    rows: list[PublishedRow]


class PublishedReport(Record):
    """A published result of the same kind of work. Nothing is compared across the two."""

    caveat: str = (
        "Other hardware, other software, other years: they say what the work is known from, and "
        "nothing is compared across."
    )
    name: str
    title: str
    source: str
    hardware: str
    tables: list[PublishedTable]
    power: str = Field(
        default="", description="What its watts and ours are of; empty where one has none."
    )
    remarks: list[str]


class BesideRow(Record):
    """A figure of another program, and the test of ours that is equal to its test."""

    label: str = Field(description="As that program calls it.")
    value: float
    metric: str | None = Field(
        description="Of ours: access, block, depth and threads are the same; None: no test is."
    )
    why: str = Field(default="", description="Why it stands beside none.")


class BesideReport(Record):
    """What another program measured, beside our tests: one number each, so no verdict."""

    name: str
    title: str
    hardware: str
    unit: str
    rows: list[BesideRow]
    remarks: list[str]
