"""Queue-depth curves: what more requests in flight bring, and what they cost in time.

The knee is where power, throughput by response time, is largest (Kleinrock, "Power and
deterministic rules of thumb for probabilistic problems in computer communications", ICC 1979).
Beyond it time grows by more than throughput does. With N requests in flight the mean time in the
system is N / X (Little's law), so power is X^2 / N, and needs no percentile.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.report.headline import figure_of
from loadstone.report.model.steps import DepthCurve, DepthPoint, StepTitle
from loadstone.report.model.variants import VariantReport
from loadstone.units import format_size

_FEWEST = 3
"""Points that make a curve: two have no knee between them."""
_IN_FLIGHT = ("depth", "threads")


def depth_curves(steps: Sequence[StepTitle], variants: Sequence[VariantReport]) -> list[DepthCurve]:
    """The curves of all variants, of tests that differ in nothing but depth and threads.

    Args:
        steps: The tests, with what they do.
        variants: With the figures of the tests.
    """
    alike: dict[tuple[tuple[str, float | str], ...], list[StepTitle]] = {}
    for step in steps:
        if step.facts:
            key = tuple((k, v) for k, v in sorted(step.facts.items()) if k not in _IN_FLIGHT)
            alike.setdefault(key, []).append(step)
    curves = [
        _curve(variant, own)
        for own in alike.values()
        if len({_in_flight(step) for step in own}) >= _FEWEST
        for variant in variants
    ]
    return [curve for curve in curves if len(curve.points) >= _FEWEST]


def knee_of(points: Sequence[DepthPoint]) -> int | None:
    """The place with the most power, if it was passed."""
    power = [point.rate**2 / point.in_flight for point in points]
    most = power.index(max(power))
    return most if most < len(points) - 1 else None


def depths_said(curves: Sequence[DepthCurve], unit: str) -> list[str]:
    """Where each curve has its knee, a sentence each.

    Args:
        curves: Of the tests.
        unit: Of their rates.
    """
    said = []
    for curve in curves:
        if curve.knee is not None:
            at, last = curve.points[curve.knee], curve.points[-1]
            more = 100 * (last.rate / at.rate - 1)
            said.append(
                f"{curve.label} of {curve.variant}: the knee is at {at.in_flight:g} in flight, "
                f"{at.rate:,.4g} {unit}; {last.in_flight:g} bring {more:+.0f} %."
            )
    return said


def _curve(variant: VariantReport, steps: Sequence[StepTitle]) -> DepthCurve:
    points = []
    for step in sorted(steps, key=_in_flight):
        rate = _median(variant, step.metric)
        if rate is not None:
            points.append(
                DepthPoint(
                    title=step.title,
                    in_flight=_in_flight(step),
                    rate=rate,
                    p50_ms=_median(variant, step.figures.get("p50 ms")),
                    p99_ms=_median(variant, step.figures.get("p99 ms")),
                )
            )
    facts = steps[0].facts
    label = f"{facts.get('access', '')} {format_size(int(facts.get('block_bytes', 0)))}"
    return DepthCurve(variant=variant.name, label=label, points=points, knee=knee_of(points))


def _in_flight(step: StepTitle) -> float:
    return float(step.facts.get("depth", 1)) * float(step.facts.get("threads", 1))


def _median(variant: VariantReport, metric: str | None) -> float | None:
    figure = figure_of(variant, metric) if metric else None
    return None if figure is None else figure.median
