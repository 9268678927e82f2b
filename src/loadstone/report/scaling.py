"""A curve of scalability in the report: its points, the law and what it says."""

from __future__ import annotations

from loadstone.experiments.designs.scale import Scaled, numbers, scaled_by
from loadstone.factors.registry import factor_kind
from loadstone.report.figures import values_of
from loadstone.report.model.searching import (
    CurvePoint,
    PublishedCurve,
    PublishedPoint,
    ScaleFit,
    ScalePoint,
    ScaleReport,
)
from loadstone.report.model.variants import MetricInfo
from loadstone.report.processors import FULL_PERCENT, host_cpu_percent
from loadstone.report.reading import RecordedExperiment
from loadstone.report.text import number
from loadstone.results.references import Reference, list_references, load_reference
from loadstone.results.statistics import summarize
from loadstone.results.statistics.scalability import Scalability, scalability
from loadstone.spec.design import ScaleDesign
from loadstone.spec.model import Experiment


def scale_report(folder: RecordedExperiment, metric: MetricInfo) -> ScaleReport | None:
    """The curve of an experiment, as far as its trials go.

    Returns:
        None where the experiment is no curve.
    """
    experiment = folder.experiment
    if not isinstance(experiment.design, ScaleDesign):
        return None
    scaled = scaled_by(experiment)
    points, no_ratio = _points(folder, metric), _no_ratio(folder)
    fit: Scalability | None = None
    problem = ""
    try:
        _refuse_without_ratio(no_ratio)
        _refuse_full_host(folder, points, scaled)
        fit = _fit(points, metric, experiment.confidence, experiment.seed)
    except ValueError as error:
        problem = f"no law is fitted: {error}"
    return ScaleReport(
        over=scaled.factor,
        label=scaled.label,
        users_each=scaled.users_each,
        metric=metric.name,
        unit=metric.unit,
        text=_text(points, fit, scaled, metric, experiment.confidence, no_ratio=no_ratio),
        points=[_fitted(point, fit) for point in points],
        no_ratio=no_ratio,
        fit=_report(fit) if fit else None,
        problem=problem,
        published=published_curves(experiment, scaled, metric) if points else [],
    )


def _no_ratio(folder: RecordedExperiment) -> str:
    """Why points must not be set in relation to each other, by the first trial that says so."""
    reasons = (
        trial.result.no_ratio
        for variant in folder.design.variants
        for trial in folder.valid_trials_of(variant.name)
    )
    return next(filter(None, reasons), "")


def _refuse_without_ratio(no_ratio: str) -> None:
    if no_ratio:
        raise ValueError(no_ratio)


def _refuse_full_host(folder: RecordedExperiment, points: list[ScalePoint], scaled: Scaled) -> None:
    """The law of a system is not that of the machine on which all of its N stand.

    Where load is scaled, a full machine is what the law tells of.

    Raises:
        ValueError: If the processors of this machine were busy all the time at the largest N.
    """
    kind, _ = factor_kind(scaled.factor)
    if kind.of_load or not points:
        return
    last = points[-1]
    busy = host_cpu_percent(folder.valid_trials_of(last.variant))
    if busy is not None and busy > FULL_PERCENT:
        raise ValueError(
            f"at {last.n:g} {scaled.label} the processors of this machine were busy for "
            f"{busy:.0f} % of the time: the curve tells where the machine ends, not how they scale"
        )


def published_curves(
    experiment: Experiment, scaled: Scaled, metric: MetricInfo
) -> list[PublishedCurve]:
    """Published results of that kind of work whose users are in proportion to the same N.

    Args:
        experiment: A scale.
        scaled: What it scales.
        metric: That its points are of.
    """
    if scaled.users_each is None:
        return []
    known = (load_reference(name) for name in list_references())
    return [
        _curve(reference, reference.curve.column)
        for reference in known
        if reference.curve is not None
        and reference.curve.over == scaled.label
        and reference.metric == metric.name
        and experiment.workload.name in reference.workloads
    ]


def _curve(reference: Reference, column: str) -> PublishedCurve:
    table = reference.tables[0]
    found = sorted(
        (float(n), float(value))
        for row in table.rows
        if (n := row.values.get(column)) is not None
        and (value := row.values.get(reference.metric)) is not None
    )
    first = found[0][1]
    return PublishedCurve(
        name=reference.name,
        title=reference.title,
        unit=table.column(reference.metric).unit,
        points=[PublishedPoint(n=n, value=value, ratio=value / first) for n, value in found],
    )


def _points(folder: RecordedExperiment, metric: MetricInfo) -> list[ScalePoint]:
    """One for each N that has a valid trial."""
    found = []
    for n, variant in zip(numbers(folder.experiment), folder.design.variants, strict=False):
        values, trials = values_of(folder.valid_trials_of(variant.name), metric.name)
        if values:
            summary = summarize(values, confidence=folder.experiment.confidence)
            found.append(
                ScalePoint(
                    n=n,
                    variant=variant.name,
                    median=summary.median,
                    low=summary.low,
                    high=summary.high,
                    values=values,
                    trials=trials,
                )
            )
    return found


def _fit(points: list[ScalePoint], metric: MetricInfo, confidence: float, seed: int) -> Scalability:
    if metric.higher_is_better is False:
        raise ValueError(f"the law is about throughput, and {metric.label} is none")
    return scalability({point.n: point.values for point in points}, confidence=confidence, rng=seed)


def _fitted(point: ScalePoint, fit: Scalability | None) -> ScalePoint:
    if fit is None:
        return point
    share = fit.residuals[point.n]
    return point.model_copy(
        update={"fitted": float(fit.law.at(point.n)), "residual_percent": 100 * share}
    )


def _report(fit: Scalability) -> ScaleFit:
    return ScaleFit(
        rate=fit.law.rate,
        contention=fit.law.contention,
        coherence=fit.law.coherence,
        rate_interval=fit.rate_interval,
        contention_interval=fit.contention_interval,
        coherence_interval=fit.coherence_interval,
        peak_n=fit.peak_n,
        peak_interval=fit.peak_interval,
        peak_value=None if fit.peak_n is None else float(fit.law.at(fit.peak_n)),
        peak_value_interval=fit.peak_value_interval,
        worst_residual_percent=100 * max(fit.residuals.values(), key=abs),
        curve=[CurvePoint(n=n, value=x, low=low, high=high) for n, x, low, high in fit.curve],
    )


def _text(
    points: list[ScalePoint],
    fit: Scalability | None,
    scaled: Scaled,
    metric: MetricInfo,
    confidence: float,
    *,
    no_ratio: str,
) -> str:
    if not points:
        return "No trial is valid: there is nothing to report. The notices say why."
    first, last = points[0], points[-1]
    best = max(points, key=lambda point: point.median)
    text = f"Most at {best.n:g} {scaled.label}: {number(best.median)} {metric.unit}"
    text += "." if no_ratio else f", {best.median / first.median:.2f} times those at {first.n:g}."
    if fit is None:
        return text
    if fit.peak_n is None or fit.peak_interval is None:
        return f"{text} The law has no peak within {first.n:g} to {last.n:g} {scaled.label}."
    low, high = fit.peak_interval
    beyond = " or more" if fit.peak_open else ""
    return (
        f"{text} The law peaks at {fit.peak_n:.3g} {scaled.label} ({low:.3g} to {high:.3g}{beyond}"
        f", at a confidence of {100 * confidence:g} %)."
    )
