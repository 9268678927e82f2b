"""One or two plain sentences: what the experiment found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loadstone.report.figures import own_means
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.variants import Figure, MetricInfo, VariantReport
from loadstone.report.text import interval, number, ratio, ratio_interval, verdict
from loadstone.results.statistics import Verdict

_MOST_NAMES = 5
_NOUNS = {"ladder": "rung", "compare": "level", "sweep": "cell"}


def headline(
    design: str,
    judged: Sequence[MetricInfo],
    variants: Sequence[VariantReport],
    comparisons: Sequence[ComparisonReport],
) -> str:
    """Says which variant is best, by how much, what had no effect, and what is unsafe.

    Of each further metric that verdicts are about, a sentence with the verdicts.

    Args:
        design: Kind of the design.
        judged: The metrics that verdicts are about, that of the headline first.
        variants: In the design's order, the baseline first.
        comparisons: All comparisons on those metrics.
    """
    metric = judged[0]
    if design == "crash":
        return crash_headline(variants[0])
    measured = [variant for variant in variants if figure_of(variant, metric.name) is not None]
    if not measured:
        if any(variant.figures for variant in variants):
            return f"No valid trial has a {metric.label}. The notices say why."
        return "No trial is valid: there is nothing to report. The notices say why."
    if design == "run" or len(variants) == 1:
        return _single(measured[0], metric)
    own = [each for each in comparisons if each.metric == metric.name]
    to_baseline = {c.candidate: c for c in own if c.role in ("baseline", "pair")}
    compared = [v for v in measured if v.name in to_baseline]
    if not compared:
        missing = "" if len(measured) == len(variants) else ": a level has no valid trial"
        return f"Nothing could be compared{missing}. The notices say why."
    known = {variant.name: variant for variant in variants}
    sentences = [_best(compared, known, metric, to_baseline, _NOUNS[design])]
    steps = [c for c in comparisons if c.role == ("previous" if design == "ladder" else c.role)]
    of_headline = [each for each in steps if each.metric == metric.name]
    if any(comparison.verdict != "too few repeats" for comparison in of_headline):
        sentences += [
            f"{words[0].upper()}{words[1:]}: {names}."
            for words, names in _by_verdict(of_headline)
            if not words.startswith("better")
        ]
    for further in judged[1:]:
        found = _by_verdict([each for each in steps if each.metric == further.name])
        told = "; ".join(f"{words}: {names}" for words, names in found)
        sentences += [f"By {further.label}: {told}."] if told else []
    return " ".join(sentences)


def crash_headline(variant: VariantReport) -> str:
    """What the crashes of the one configuration showed."""
    found = variant.durability
    if found is None:
        return "No crash shows anything. The notices say why."
    text = f"{found.text[0].upper()}{found.text[1:]}"
    if found.loss_probability_upper is not None:
        text += (
            f": none of {found.acknowledged:,} acknowledged commits is lost. The chance of a loss "
            f"is below {100 * found.loss_probability_upper:.2g} %, at a confidence of "
            f"{100 * found.confidence:g} %"
        )
    return f"{text}{_unsafe(variant)}."


def figure_of(variant: VariantReport, metric: str) -> Figure | None:
    """The variant's figure of that metric, if it has one."""
    return next((figure for figure in variant.figures if figure.metric == metric), None)


def mean_of(figure: Figure) -> float:
    """What verdicts are about; the median of figures that no ratio can be made of."""
    return figure.median if figure.compared is None else figure.compared


def _single(variant: VariantReport, metric: MetricInfo) -> str:
    figure = figure_of(variant, metric.name)
    if figure is None:
        return "No trial is valid: there is nothing to report."
    text = f"{number(figure.median)} {metric.unit}".strip()
    if figure.n == 1:
        text += ", from one trial: repeat it to learn how much it scatters"
    elif figure.low is not None and figure.high is not None:
        kind = "range" if figure.interval_is_range else "interval"
        text += f", median of {figure.n} trials ({kind} {interval(figure.low, figure.high)})"
    return f"{text}{_unsafe(variant)}."


def _best(
    judged: Sequence[VariantReport],
    known: Mapping[str, VariantReport],
    metric: MetricInfo,
    to_baseline: dict[str, ComparisonReport],
    noun: str,
) -> str:
    up = metric.higher_is_better is not False
    baselines = {to_baseline[each.name].baseline for each in judged}
    against = _quoted(*baselines) if len(baselines) == 1 else "its reference"
    winners = [v for v in judged if to_baseline[v.name].verdict == "better"]
    short = [c for c in to_baseline.values() if c.verdict == "too few repeats"]
    if not winners and short:
        needed = max(c.repeats_needed or 0 for c in short)
        return (
            f"So few trials can show no difference from {against}, however large: "
            f"{needed} of each are needed."
        )
    if not winners:
        open_yet = any(c.verdict == "not decided yet" for c in to_baseline.values())
        yet = ", as far as it was run" if open_yet else ""
        return f"No {noun} is shown to be better than {against} in {metric.label}{yet}."
    best = _largest(winners, to_baseline, up)
    comparison = to_baseline[best.name]
    text = _ratio_sentence(best, known[comparison.baseline], metric, comparison)
    safe = [variant for variant in winners if not variant.unsafe]
    if best.unsafe and safe:
        runner = _largest(safe, to_baseline, up)
        ratio = to_baseline[runner.name].ratio
        text += f" The best safe one is {_quoted(runner.name)}, at {ratio:.2f} times."
    return text


def _largest(
    variants: Sequence[VariantReport], to_baseline: dict[str, ComparisonReport], up: bool
) -> VariantReport:
    """The variant that is furthest from the baseline, by the ratio that is reported."""

    def gain(variant: VariantReport) -> float:
        ratio = to_baseline[variant.name].ratio
        return ratio if up else -ratio

    return max(variants, key=gain)


def _ratio_sentence(
    best: VariantReport, baseline: VariantReport, metric: MetricInfo, comparison: ComparisonReport
) -> str:
    figure = figure_of(best, metric.name)
    own = own_means(comparison, figure_of(baseline, metric.name), figure)
    mean = "" if figure is None else f"{number(mean_of(figure))} {metric.unit}, "
    if own is not None:
        mean = f"{number(own[1])} {metric.unit} against {number(own[0])}, "
    span = ""
    if comparison.low is not None and comparison.high is not None:
        span = f" (interval {ratio_interval(comparison.low, comparison.high)})"
    most = f", {verdict(comparison)}" if comparison.within_margin else ""
    return (
        f"{_quoted(best.name)} is best: {mean}"
        f"{ratio(comparison.ratio, comparison.low, comparison.high)} times "
        f"{_quoted(baseline.name)}{span}{most}{_unsafe(best)}."
    )


def _quoted(name: str) -> str:
    """Names are the user's words: quoted, they do not run into the sentence."""
    return f'"{name}"'


def _unsafe(variant: VariantReport) -> str:
    if not variant.unsafe:
        return ""
    return f", unsafe: {', '.join(variant.unsafe)} can lose acknowledged commits"


def _by_verdict(steps: Sequence[ComparisonReport]) -> list[tuple[str, str]]:
    """Each verdict in words, and the names of those that have it."""
    found: dict[str, dict[str, None]] = {}
    for kind in Verdict:
        for each in steps:
            if each.verdict == kind:
                few = kind is Verdict.TOO_FEW_REPEATS
                words = "too few repeats to tell of" if few else verdict(each)
                found.setdefault(words, {})[_quoted(each.candidate)] = None
    told = []
    for words, members in found.items():
        names = list(members)
        if len(names) > _MOST_NAMES:
            names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
        told.append((words, ", ".join(names)))
    return told
