"""Figures near the limits of a float: every statistic, and the report's JSON, stays finite."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW

from loadstone.report.comparisons import comparison_report
from loadstone.report.figures import with_compared
from loadstone.report.model.variants import Figure, MetricInfo, VariantReport
from loadstone.report.reading import PairRecord
from loadstone.results.statistics import Contrast, judge, unpaired, within_blocks
from loadstone.results.statistics.coincidence import coincidences, usual_limit
from loadstone.results.statistics.summary import median_of

SMALLEST, LARGEST = 5e-324, 1.79e308
METRIC = MetricInfo(name="rate", label="rate", unit="operations/s", higher_is_better=True)
sizes = st.floats(SMALLEST, LARGEST) | st.sampled_from([SMALLEST, 1.0, LARGEST])
levels = st.lists(st.tuples(sizes, sizes), min_size=1, max_size=9)


def as_json(contrast: Contrast, values: Sequence[Sequence[float]]) -> None:
    """Writes the comparison and both variants as the report does; NaN and Infinity are refused."""
    (comparison,) = judge([contrast], higher_is_better=[True])
    pair = PairRecord(candidate="b", baseline="a", role="baseline")
    report = comparison_report(comparison, pair, METRIC, [], None)
    json.dumps(report.model_dump(), allow_nan=False)
    variants = with_compared([variant("a", values[0]), variant("b", values[1])], [report])
    assert all(each.figures[0].compared is not None for each in variants)
    json.dumps([each.model_dump() for each in variants], allow_nan=False)


def variant(name: str, values: Sequence[float]) -> VariantReport:
    figure = Figure(
        metric="rate",
        n=len(values),
        median=median_of(values),
        low=None,
        high=None,
        values=list(values),
        trials=[f"{name}{at}" for at in range(len(values))],
    )
    return VariantReport.model_validate(
        {"name": name, "previous": None, "step": [], "levels": {}, "several": False, "because": "",
         "unsafe": [], "kept": None, "trials": figure.trials, "disturbed": 0, "figures": [figure],
         "durability": None}
    )  # fmt: skip


@given(levels)
@SLOW
def test_a_comparison_of_any_sizes_is_valid_json(pairs: list[tuple[float, float]]) -> None:
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    blocks = {name: dict(enumerate(values)) for name, values in (("a", a), ("b", b))}
    as_json(within_blocks(blocks, "b", "a"), (a, b))
    as_json(unpaired(a, b), (a, b))


@pytest.mark.parametrize("unit", [1e-290, 1e290])
def test_a_comparison_does_not_depend_on_the_unit(unit: float) -> None:
    rng = np.random.default_rng(1)
    figures = {name: dict(enumerate(rng.lognormal(0, 0.02, 6))) for name in "ab"}
    scaled = {
        name: {block: unit * each for block, each in own.items()} for name, own in figures.items()
    }
    one, other = (
        judge([within_blocks(each, "b", "a")], higher_is_better=[True])[0]
        for each in (figures, scaled)
    )
    assert other.p_value == pytest.approx(one.p_value, rel=1e-6)
    assert other.effect_percent == pytest.approx(one.effect_percent, rel=1e-6)


@given(st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=12))
def test_a_median_lies_between_the_values(values: list[float]) -> None:
    assert min(values) <= median_of(values) <= max(values)


@given(st.lists(st.floats(-LARGEST, LARGEST), min_size=20, max_size=40))
@SLOW
def test_what_is_usual_is_finite(values: list[float]) -> None:
    limit = usual_limit(np.array(values))
    assert limit is not None
    assert np.isfinite(limit)


def test_a_trial_without_windows_has_no_coincidences() -> None:
    nothing = np.zeros(0, dtype=np.bool_)
    assert coincidences(np.zeros(1), nothing, {"checkpoint": [(0.0, 0.0)]}, tolerance_s=0.0) == []
