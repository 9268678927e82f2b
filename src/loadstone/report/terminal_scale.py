"""A curve of scalability on a terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.searching import (
    PublishedCurve,
    ScaleFit,
    ScalePoint,
    ScaleReport,
)
from loadstone.report.text import interval, number, percent


def scale_tables(scale: ScaleReport) -> list[RenderableType]:
    """The points beside the law, and the law's parameters with their intervals."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    of_law = ("law", "residual") if scale.fit else ()
    of_first = () if scale.no_ratio else ("of linear",)
    for name in (scale.label, scale.unit, "interval", "n", *of_first, *of_law):
        table.add_column(name, justify="right", no_wrap=True)
    for point in scale.points:
        table.add_row(*_cells(point, None if scale.no_ratio else scale.points[0]))
    law = _law(scale.fit) if scale.fit else scale.problem
    said = [Text(f"\n{law}", style="dim")] if law else []
    return [table, *said, *(Text(_shape(each), style="dim") for each in scale.published), Text("")]


def _cells(point: ScalePoint, first: ScalePoint | None) -> list[str]:
    return [
        f"{point.n:g}",
        number(point.median),
        interval(point.low, point.high),
        str(len(point.values)),
        *([] if first is None else [_of_linear(point, first)]),
        *([] if point.fitted is None else [number(point.fitted)]),
        *([] if point.residual_percent is None else [percent(point.residual_percent)]),
    ]


def _of_linear(point: ScalePoint, first: ScalePoint) -> str:
    """Its share of what as many would do that are each as good as the first."""
    linear = first.median * point.n / first.n
    return f"{100 * point.median / linear:.0f} %" if linear > 0 else ""


def _shape(curve: PublishedCurve) -> str:
    """A published result as ratios: figures of other machines are not compared."""
    grown = ", ".join(f"{each.ratio:.2f} at {each.n:g}" for each in curve.points)
    return f"Published, times the first: {grown} ({curve.title})."


def _law(fit: ScaleFit) -> str:
    contention, coherence = fit.contention_interval, fit.coherence_interval
    return (
        f"Law: contention {100 * fit.contention:.3g} % "
        f"({100 * contention[0]:.3g} to {100 * contention[1]:.3g}), "
        f"coherence {100 * fit.coherence:.3g} % "
        f"({100 * coherence[0]:.3g} to {100 * coherence[1]:.3g}); "
        f"largest residual {percent(fit.worst_residual_percent)}."
    )
