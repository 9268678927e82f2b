"""Figures that stand beside each other agree in sign with the change that stands with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from loadstone.cli.pairing import Side, _compare
from loadstone.report.comparisons import comparisons, comparisons_of_pairs
from loadstone.report.figures import metric_infos, own_means, with_compared
from loadstone.report.headline import figure_of, headline
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.searching import ScaleReport
from loadstone.report.reading import DesignRecord, PairRecord, RecordedExperiment, RecordedTrial
from loadstone.report.scaling import scale_report
from loadstone.report.terminal_scale import scale_tables
from loadstone.report.terminal_variants import variants_tables
from loadstone.report.variants import variant_reports
from loadstone.results.record import MetricValue, Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant

NAMES = ("baseline", "one", "two", "three", "four")
METRICS = ("operations_per_s", "driver_cpu_us")
Cells = dict[tuple[int, str], tuple[float, float]]
"""Block and variant of a trial: its two figures."""


@dataclass(frozen=True)
class Drawn:
    """An experiment whose trials are drawn: levels that hardly differ, much drift, some missing."""

    design: str
    pairs: list[PairRecord]
    cells: Cells


def ladder_pairs(names: Sequence[str]) -> list[PairRecord]:
    steps = [
        PairRecord(candidate=above, baseline=below, role="previous")
        for below, above in pairwise(names)
    ]
    return steps + to_first(names)


def to_first(names: Sequence[str]) -> list[PairRecord]:
    return [PairRecord(candidate=each, baseline=names[0], role="baseline") for each in names[1:]]


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    names = NAMES[: draw(st.integers(2, 5))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing, drift = draw(st.sampled_from([0.4, 0.2, 0.0])), draw(st.sampled_from([0.0, 0.05]))
    repeats = draw(st.integers(1, 6))
    design = draw(st.sampled_from(["ladder", "stages", "sweep", "compare"]))
    stages: list[Sequence[str]] = [names]
    pairs = ladder_pairs(names) if design == "ladder" else to_first(names)
    if design == "stages":  # of a ladder that keeps the better, each with blocks of its own
        stages = [[*pair] for pair in pairwise(names)]
        stages += [[names[0], names[-1]]] if len(names) > 2 else []
        pairs = [
            PairRecord(candidate=b, baseline=a, role="previous", decided_among=len(names) - 1)
            for a, b in pairwise(names)
        ]
        pairs.append(PairRecord(candidate=names[-1], baseline=names[0], role="baseline"))
    cells: Cells = {}
    block = 0
    for stage in stages:
        for _ in range(repeats):
            block += 1
            for name in stage:
                if rng.random() >= missing:
                    first, second = rng.normal(drift * block, 0.02, size=2)
                    cells[block, name] = (1000.0 * exp(first), 87.0 * exp(-second))
    return Drawn("ladder" if design == "stages" else design, pairs, cells)


DESIGNS = {
    "ladder": {"kind": "ladder", "rungs": [{"name": "one", "change": {"profile.users": 2}}]},
    "sweep": {"kind": "sweep", "factors": {"profile.users": [1, 2]}},
    "compare": {"kind": "compare", "factor": "profile.users", "levels": [1, 2]},
}


def recorded(of: Drawn) -> RecordedExperiment:
    experiment = Experiment.model_validate(
        {
            "name": "signs",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "design": DESIGNS[of.design],
            "metric": list(METRICS),
            "margin": "3%",
        }
    )
    names = list(
        dict.fromkeys(name for pair in of.pairs for name in (pair.baseline, pair.candidate))
    )
    variants = [Variant(name=name, changes=[], step=[]) for name in sorted(names, key=NAMES.index)]
    trials = [_trial(experiment, block, name, own) for (block, name), own in of.cells.items()]
    design = DesignRecord(variants=variants, pairs=of.pairs)
    return RecordedExperiment(Path("signs"), experiment, design, trials, [])


def _trial(
    experiment: Experiment, block: int, name: str, own: tuple[float, float]
) -> RecordedTrial:
    values = zip(METRICS, own, ("operations/s", "us"), (True, False), strict=True)
    result = TrialResult(
        experiment="signs", trial=f"b{block}-{name}", variant=name, block=block, order=block,
        status=Status.VALID, started_at="2026-11-20T10:00:00Z",
        metrics=[
            MetricValue(name=metric, value=value, unit=unit, higher_is_better=up)
            for metric, value, unit, up in values
        ],
    )  # fmt: skip
    plan = TrialPlan(
        experiment="signs", trial=result.trial, variant=Variant(name=name, changes=[], step=[]),
        block=block, order=block, seed=1, data_seed=1, workload=experiment.workload,
        target=experiment.target, profile=experiment.profile, cache="warm",
    )  # fmt: skip
    return RecordedTrial(Path(result.trial), plan, result, {})


def document_of(folder: RecordedExperiment) -> ReportDocument:
    """As far as tables and headline need it."""
    infos = metric_infos(folder.trials)
    judged = [next(info for info in infos if info.name == name) for name in METRICS]
    found, _ = comparisons(folder, judged)
    variants = with_compared(variant_reports(folder, infos), found)
    kind = folder.experiment.design.kind
    return ReportDocument.model_construct(
        design=kind,
        metric=METRICS[0],
        judged=list(METRICS),
        metrics=infos,
        variants=variants,
        comparisons=found,
        headline=headline(kind, judged, variants, found),
    )


def figure(text: str) -> float:
    return float(text.replace(",", ""))


Row = dict[str, list[str]]
"""Head of a column: the lines of its cell."""


def rows_of(table: Table) -> list[Row]:
    columns = {str(c.header): [str(each).split("\n") for each in c.cells] for c in table.columns}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def shown_changes(rows: list[Row], unit: str) -> Iterator[tuple[float, float, float]]:
    """Each change that a table shows: the figures of the two, and by how much it is above 0."""
    for place, row in enumerate(rows):
        for head, below in (("to previous", place - 1), ("x baseline", 0)):
            cell = row.get(head, [""])
            if not cell[0]:
                continue
            change = figure(cell[0].removesuffix(" %")) - (1.0 if head == "x baseline" else 0.0)
            if len(cell) > 2:
                first, second = (figure(each) for each in cell[2].split(" → "))
            else:
                first, second = (figure(rows[each][unit][0]) for each in (below, place))
            yield first, second, change


def agree(first: float, second: float, change: float) -> bool:
    return (second - first) * change >= 0


@given(drawn())
def test_every_change_in_a_table_agrees_with_the_figures_beside_it(of: Drawn) -> None:
    folder = recorded(of)
    if not of.cells:
        return
    document = document_of(folder)
    tables = [part for part in variants_tables(document) if isinstance(part, Table)]
    assert len(tables) == len(METRICS)
    for table, unit in zip(tables, ("operations/s", "us"), strict=True):
        for first, second, change in shown_changes(rows_of(table), unit):
            assert agree(first, second, change)


@given(drawn())
def test_every_comparison_of_a_document_has_its_own_figures(of: Drawn) -> None:
    folder = recorded(of)
    if not of.cells:
        return
    document = document_of(folder)
    infos = metric_infos(folder.trials)
    steps = comparisons_of_pairs(folder, infos)
    for each in [*document.comparisons, *steps]:
        assert each.baseline_mean is not None
        assert each.candidate_mean is not None
        assert each.candidate_mean / each.baseline_mean == pytest.approx(each.ratio)
        assert agree(each.baseline_mean, each.candidate_mean, each.effect_percent)
        if each.low is not None and each.high is not None:
            assert each.low <= each.ratio <= each.high
    of_steps = with_compared(variant_reports(folder, infos), steps)
    for report in of_steps:
        for metric in METRICS:
            step = next(
                (c for c in steps if (c.candidate, c.metric) == (report.name, metric)), None
            )
            if step is not None:
                below = next(each for each in of_steps if each.name == step.baseline)
                assert own_means(step, figure_of(below, metric), figure_of(report, metric)) is None


@given(drawn())
def test_the_headline_names_the_figure_of_its_ratio(of: Drawn) -> None:
    if not of.cells:
        return
    document = document_of(recorded(of))
    found = re.search(
        r'"(\w+)" is best: (\S+) operations/s(?: against (\S+))?, (\S+) times', document.headline
    )
    if found is not None:
        base = figure_of(document.variants[0], METRICS[0])
        assert base is not None
        assert base.compared is not None
        first = figure(found[3]) if found[3] else base.compared
        assert agree(first, figure(found[2]) * (1 + 1e-2), float(found[4]) - 1)


@given(drawn())
def test_two_results_are_shown_with_the_figures_of_their_change(of: Drawn) -> None:
    folder = recorded(of)
    pair = of.pairs[0]
    sides = [Side(name, folder, folder.trials_of(name)) for name in (pair.baseline, pair.candidate)]
    if not all(side.trials for side in sides):
        return
    for _, report in _compare(sides[0], sides[1], metric_infos(folder.trials), 3.0):
        assert report.baseline_mean is not None
        assert report.candidate_mean is not None
        assert agree(report.baseline_mean, report.candidate_mean, report.effect_percent)


def test_a_rung_that_contradicts_the_baseline_is_shown_with_its_own_figures() -> None:
    """Above the rung before, that above the baseline, and below the baseline in common blocks."""
    cells: Cells = {}
    for block in (1, 2):
        cells[block, "baseline"], cells[block, "one"] = (1000.0, 1.0), (1010.0, 1.0)
        cells[block + 2, "one"], cells[block + 2, "two"] = (1000.0, 1.0), (1010.0, 1.0)
        cells[block + 4, "baseline"], cells[block + 4, "two"] = (900.0, 1.0), (880.0, 1.0)
    folder = recorded(Drawn("ladder", ladder_pairs(NAMES[:3]), cells))
    table = next(part for part in variants_tables(document_of(folder)) if isinstance(part, Table))
    last = rows_of(table)[-1]
    assert last["to previous"][0] == "+1.0 %"
    assert last["x baseline"][2] == "900 → 880"


def _curve(levels: tuple[int, ...]) -> ScaleReport | None:
    rng = np.random.default_rng(4)
    experiment = Experiment.model_validate(
        {
            "name": "signs",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "design": {"kind": "scale", "over": "users", "levels": list(levels)},
        }
    )
    names = [f"users={n}" for n in levels]
    variants = [Variant(name=name, changes=[], step=[]) for name in names]
    trials = [
        _trial(experiment, block, name, (100 * n / (1 + 0.05 * n) * exp(rng.normal(0, 0.03)), 1.0))
        for block in (1, 2, 3)
        for n, name in zip(levels, names, strict=True)
    ]
    design = DesignRecord(variants=variants, pairs=[])
    folder = RecordedExperiment(Path("signs"), experiment, design, trials, [])
    return scale_report(folder, metric_infos(trials)[0])


def test_the_law_of_a_curve_and_its_residuals_agree() -> None:
    scale = _curve((1, 2, 3, 4, 6, 8))
    assert scale is not None
    assert scale.fit is not None
    for point in scale.points:
        assert point.fitted is not None
        assert point.residual_percent is not None
        assert agree(point.fitted, point.median, point.residual_percent)
    assert "times those at 1" in scale.text


def test_a_curve_of_which_no_ratio_may_be_made_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "8 slots share 2 processors"
    monkeypatch.setattr(TrialResult, "no_ratio", why)
    scale = _curve((1, 2, 3, 4, 6, 8))
    assert scale is not None
    assert (scale.no_ratio, scale.fit, scale.problem) == (why, None, f"no law is fitted: {why}")
    assert re.fullmatch(r"Most at 8 users: [0-9.,]+ \S+\.", scale.text)
    (table, *_) = scale_tables(scale)
    assert isinstance(table, Table)
    assert "of linear" not in [column.header for column in table.columns]


def test_verdicts_of_several_metrics_are_one_family() -> None:
    rng = np.random.default_rng(8)
    cells = {
        (block, name): (1000.0 * exp(rng.normal(0, 0.02)), 87.0 * exp(rng.normal(0, 0.02)))
        for block in range(1, 7)
        for name in NAMES[:3]
    }
    document = document_of(recorded(Drawn("sweep", to_first(NAMES[:3]), cells)))
    assert [(c.metric, c.candidate) for c in document.comparisons] == [
        (metric, name) for metric in METRICS for name in ("one", "two")
    ]
    smallest = min(document.comparisons, key=_p)
    assert smallest.p_adjusted == pytest.approx(min(1.0, 4 * _p(smallest)))
    assert "By driver cpu us: " in document.headline


def _p(comparison: ComparisonReport) -> float:
    assert comparison.p_value is not None
    return comparison.p_value
