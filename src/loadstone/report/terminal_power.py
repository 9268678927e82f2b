"""Power, cost and density on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from loadstone.report.model.power import DensityReport, DensityRow, PowerFigures, PowerRow
from loadstone.report.terminal_table import figure_table
from loadstone.report.terminal_wide import WideColumn, WidePart, WideTables
from loadstone.report.text import interval, number


# -- meters ------------------------------------------------------------------------------------
def power_tables(rows: Sequence[PowerRow]) -> list[RenderableType]:
    """A line for each meter in each configuration; scopes are never added or compared.

    Args:
        rows: Of the document; none without a meter.
    """
    if not rows:
        return []
    several = len({figures.variant for row in rows for figures in row.figures}) > 1
    table = figure_table(
        "Power over the measured load",
        "meter", "scope", "W", "interval", "covered", "accuracy", "J a trial",
    )  # fmt: skip
    for row in rows:
        for figures in row.figures:
            own = f": {figures.variant}" if several else ""
            table.add_row(f"{_name(row)}{own}", *_cells(row, figures))
    return [Text(""), table, *(Text(line, style="dim") for line in _said(rows))]


def _name(row: PowerRow) -> str:
    return row.meter if row.channel in ("", row.meter) else f"{row.meter} {row.channel}"


def _cells(row: PowerRow, figures: PowerFigures) -> list[str]:
    mark = f" ({row.mark})" if row.mark else ""
    return [
        row.scope,
        "-" if figures.watts is None else f"{number(figures.watts)}{mark}",
        interval(figures.low, figures.high),
        "-" if figures.covered is None else f"{100 * figures.covered:.0f} %",
        "-" if row.accuracy_percent is None else f"{row.accuracy_percent:g} %",
        "-" if figures.joules is None else f"{number(figures.joules)}{mark}",
    ]


def _said(rows: Sequence[PowerRow]) -> Iterator[str]:
    """Which is the experiment's, what a sum is of, why there are no watts, what was lost."""
    for row in rows:
        if row.main and len(rows) > 1:
            yield f"Figures per watt are by {_name(row)}, {row.scope}."
        if row.parts:
            yield f"{_name(row)} is the sum of {', '.join(row.parts)}."
        for figures in row.figures:
            if figures.reason:
                yield f"{_name(row)}, {figures.variant}: {figures.reason}."
            if figures.invalid:
                yield f"{_name(row)}, {figures.variant}: {figures.invalid:,} invalid readings."


# -- cost and density --------------------------------------------------------------------------
def density_tables(density: DensityReport | None) -> list[RenderableType]:
    """What each configuration does for its price, its watts and its height.

    Args:
        density: None where none of the three is known.
    """
    if density is None:
        return []
    names = [row.variant for row in density.rows]
    return [
        Text("\nCost, power and height", style="bold"),
        WideTables(names, [WidePart("", list(_columns(density)))], first="configuration"),
        *(Text(line, style="dim") for line in remarks(density)),
    ]


def _columns(density: DensityReport) -> Iterator[WideColumn]:
    """Those that any configuration has a figure of; a mark stands behind figures of power."""
    unit, currency = density.unit or density.label, density.currency
    plain: list[tuple[str, Callable[[DensityRow], float | None], bool]] = [
        ("W", lambda row: row.watts, True),
        (f"{unit}/W", lambda row: row.rate_per_watt, True),
        ("users/W", lambda row: row.users_per_watt, True),
        ("rack units", lambda row: row.rack_units, False),
        (f"{unit}/rack unit", lambda row: row.rate_per_rack_unit, False),
        ("users/rack unit", lambda row: row.users_per_rack_unit, False),
        (f"price, {currency}", lambda row: row.price, False),
        (f"{unit}/{currency}", lambda row: row.rate_per_price, False),
        ("kWh a year", lambda row: row.kwh_per_year, True),
        (f"energy a year, {density.energy_currency}", lambda row: row.energy_cost_per_year, True),
    ]
    for heading, figure, of_power in plain:
        values = [figure(row) for row in density.rows]
        if any(value is not None for value in values):
            marks = [row.mark if of_power else "" for row in density.rows]
            yield WideColumn(heading, list(map(_marked, values, marks)))


def _marked(value: float | None, mark: str) -> Text:
    if value is None:
        return Text("-", style="dim")
    return Text(f"{number(value)}\n({mark})" if mark else number(value))


def remarks(density: DensityReport) -> list[str]:
    """What the figures are of, a sentence each."""
    found = list(density.remarks)
    if density.graduated:
        found.append(
            "Watts are the mean of the levels, active idle among them; the rate for each watt is "
            "of all levels, other rates are those of the highest load."
        )
    if any(row.kwh_per_year is not None for row in density.rows):
        price = density.energy_price
        cost = "" if price is None else f"; a kWh costs {price:g} {density.energy_currency}"
        found.append(f"A year is {density.hours:,g} hours at these watts{cost}.")
    return found
