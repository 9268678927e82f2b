"""What a published result consists of: where it is from, what it ran on, and its figures."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from loadstone.results.base import Record
from loadstone.spec.meters import Scope

Cell = float | str | bool | None
"""A figure, a text, or nothing where the source gives none."""


class ReferenceColumn(Record):
    """A column of a published table."""

    name: str
    label: str
    unit: str = Field(default="", description="Empty for texts and counts.")
    higher_is_better: bool | None = None
    ours: str = Field(
        default="",
        description="Name of our metric that means the same, or `users`, or of a load that went "
        "through levels `graduated overall`, `graduated peak rate`, `graduated peak watts`, "
        "`graduated idle watts`, or of jobs `jobs load`, `jobs count`, `jobs count pstm`, `jobs "
        "compact`, `jobs flow compact`: a result that stands beside the table has its figure "
        "there. Empty where we have none.",
    )


class ReferenceRow(Record):
    """A line of a published table."""

    name: str
    label: str = Field(description="The system, the change or the step that was measured.")
    values: dict[str, Cell] = Field(description="Column: figure, as printed.")


class ReferenceTable(Record):
    """A published table."""

    name: str
    title: str
    relative_to: str = Field(
        default="",
        description="What its figures are multiples of, in words: 1.00 is that. Empty: they are no "
        "multiples.",
    )
    columns: list[ReferenceColumn] = Field(min_length=1)
    rows: list[ReferenceRow] = Field(min_length=1)

    @model_validator(mode="after")
    def _cells(self) -> ReferenceTable:
        known = {column.name for column in self.columns}
        for row in self.rows:
            if unknown := set(row.values) - known:
                raise ValueError(f"row {row.name!r} has figures without a column: {unknown}")
        return self

    def column(self, name: str) -> ReferenceColumn:
        """The column of that name.

        Raises:
            KeyError: If the table has none.
        """
        return next(column for column in self.columns if column.name == name)


class ReferenceCurve(Record):
    """What of the first table grows with the system, users in proportion."""

    column: str = Field(description="Of its N: a number in each row.")
    over: str = Field(description="What N counts, as a scale calls it: `nodes`.")


class Reference(Record):
    """A published result."""

    version: Literal[1] = 1
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    kind: Literal["ladder", "table"] = Field(
        description="`ladder`: the first table's rows are cumulative rungs, the first the baseline."
    )
    workloads: list[str] = Field(description="Loadstone's workloads that are of this kind.")
    source: str = Field(description="Publisher and title.")
    date: str = Field(description="As precise as the source is.")
    hardware: str
    software: str = ""
    load: str = Field(default="", description="How it was loaded and for how long.")
    think_time_s: float | None = Field(
        default=None,
        gt=0,
        description="Mean of its users. Only results of closed users who think about as long stand "
        "beside it: otherwise so many users are another load.",
    )
    power_scope: Scope | None = Field(
        default=None,
        description="What its watts are of. Watts of ours stand beside them only if they are of "
        "the same.",
    )
    metric: str = Field(description="Column of the first table that comparisons are about.")
    tables: list[ReferenceTable] = Field(min_length=1)
    curve: ReferenceCurve | None = Field(
        default=None, description="None: its rows are of no system that grows."
    )
    remarks: list[str] = Field(default=[], description="What a reader must know, in plain words.")

    @model_validator(mode="after")
    def _headline(self) -> Reference:
        known = {column.name for column in self.tables[0].columns}
        for name in (self.metric, self.curve.column if self.curve else self.metric):
            if name not in known:
                raise ValueError(f"the first table has no column {name!r}")
        return self
