"""A curve of scalability on a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.searching import ScaleFit, ScalePoint, ScaleReport
from loadstone.report.text import interval, number, percent


def scale_tables(scale: ScaleReport) -> list[RenderableType]:
    """The points beside the law, and the law's parameters with their intervals."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in (scale.label, scale.unit, "interval", "n", "law", "residual"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in scale.points:
        table.add_row(*_cells(point))
    law = _law(scale.fit) if scale.fit else scale.problem
    return [table, Text(f"\n{law}", style="dim")] if law else [table]


def _cells(point: ScalePoint) -> list[str]:
    return [
        f"{point.n:g}",
        number(point.median),
        interval(point.low, point.high),
        str(len(point.values)),
        "" if point.fitted is None else number(point.fitted),
        "" if point.residual_percent is None else percent(point.residual_percent),
    ]


def _law(fit: ScaleFit) -> str:
    contention, coherence = fit.contention_interval, fit.coherence_interval
    return (
        f"Law: contention {100 * fit.contention:.3g} % "
        f"({100 * contention[0]:.3g} to {100 * contention[1]:.3g}), "
        f"coherence {100 * fit.coherence:.3g} % "
        f"({100 * coherence[0]:.3g} to {100 * coherence[1]:.3g}); "
        f"largest residual {percent(fit.worst_residual_percent)}."
    )
