"""What each configuration held of its users, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from loadstone.report.model.held import HeldReport, HeldRow, TierFigures
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import number
from loadstone.units import format_size


def held_tables(held: HeldReport) -> list[RenderableType]:
    """Users, rate, response and errors of each configuration; below it parts and transactions."""
    names = [row.variant for row in held.rows]
    parts = [WidePart("", _figures(held)), *_tiers(held.rows), *_transactions(held.rows)]
    return [
        Text("What was held, medians of the trials", style="bold"),
        WideTables(names, parts, first="configuration"),
        Text("CPU is of what a part may use; errors are those of all trials.", style="dim"),
        Text(""),
    ]


def _figures(held: HeldReport) -> list[WideColumn]:
    return [
        WideColumn("users", [Text(f"{row.users:,}") for row in held.rows]),
        WideColumn(held.unit or held.label, [_number(row.rate) for row in held.rows]),
        WideColumn("mean ms", [_number(row.response_mean_ms) for row in held.rows]),
        WideColumn("errors before", [Text(f"{row.errors_before:,}") for row in held.rows]),
        WideColumn("errors measured", [Text(f"{row.errors_measured:,}") for row in held.rows]),
        WideColumn("host CPU", [_percent(row.host_cpu_percent) for row in held.rows]),
    ]


def _tiers(rows: Sequence[HeldRow]) -> list[WidePart]:
    names = dict.fromkeys(tier.part for row in rows for tier in row.tiers)
    return [
        WidePart(
            name,
            [
                WideColumn("CPU", [_percent(at.cpu_percent if at else None) for at in own]),
                WideColumn("of processors", [_number(at.processors if at else None) for at in own]),
                WideColumn("memory", [_size(at.memory_bytes if at else None) for at in own]),
            ],
        )
        for name in names
        for own in [[_tier(row, name) for row in rows]]
    ]


def _tier(row: HeldRow, name: str) -> TierFigures | None:
    return next((tier for tier in row.tiers if tier.part == name), None)


def _transactions(rows: Sequence[HeldRow]) -> list[WidePart]:
    names = dict.fromkeys(each.operation for row in rows for each in row.transactions)
    if len(names) < 2:
        return []
    found = [{each.operation: each for each in row.transactions} for row in rows]
    return [
        WidePart(
            "response by transaction, mean ms",
            [
                WideColumn(name, [_number(own[name].mean_ms if name in own else None)
                                  for own in found])
                for name in names
            ],
        )
    ]  # fmt: skip


def _number(value: float | None) -> Text:
    return Text("-", style="dim") if value is None else Text(number(value))


def _percent(value: float | None) -> Text:
    return Text("-", style="dim") if value is None else Text(f"{number(value)} %")


def _size(value: float | None) -> Text:
    return Text("-", style="dim") if value is None else Text(format_size(round(value)))
