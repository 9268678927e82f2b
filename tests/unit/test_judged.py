"""A trial without the figure that it is judged by is not valid, whatever the workload is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ended_trials import ended, plan_for
from sample_frames import tick

from loadstone.cli.progress import trial_line
from loadstone.results.record import Status
from loadstone.workloads.registry import WORKLOADS, workload_of

WITHOUT: dict[str, tuple[dict[str, Any], ...]] = {
    "dss": ({"streams": 0}, {"refreshes": False}, {"streams": 0, "refreshes": False}),
    "cube": ({"cycles": 0},),
}
"""Workload: parameters that choose another headline."""


def experiments() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in WORKLOADS:
        for parameters in ({}, *WITHOUT.get(name, ())):
            yield name, parameters


@pytest.mark.parametrize("ticks", [0, 1])
@pytest.mark.parametrize(("name", "parameters"), list(experiments()))
def test_a_trial_that_measured_nothing_is_invalid(
    name: str, parameters: dict[str, Any], ticks: int, tmp_path: Path
) -> None:
    plan = plan_for(name, parameters)
    result = ended(plan, tmp_path, [tick([], at) for at in range(ticks)])
    assert result.status is Status.INVALID
    assert "no-figure" in {notice.code for notice in result.notices}
    assert result.judged_by == workload_of(plan.workload).judged_metric()


def test_another_figure_never_stands_for_the_one_that_is_missing(tmp_path: Path) -> None:
    plan = plan_for("oltp", {}, metric="delivery p99")
    result = ended(plan, tmp_path, [tick([("new-order", 10**6, 10, None)], 0)])
    assert result.metric("transactions_per_s") is not None
    assert result.status is Status.INVALID
    line = trial_line(result)
    assert line == f"{plan.trial}  invalid: this trial has no figure of what it is judged by: " + (
        "delivery p99"
    )


@pytest.mark.parametrize("metric", [None, "transactions_per_s", "new-order p95"])
def test_the_line_of_a_trial_has_the_figure_that_it_is_judged_by(
    metric: str | None, tmp_path: Path
) -> None:
    plan = plan_for("oltp", {}, metric=metric)
    result = ended(plan, tmp_path, [tick([("new-order", 10**6, 10, None)] * 3, 0)])
    assert result.status is Status.VALID, result.notices
    unit = {None: "new-orders/min", "transactions_per_s": "transactions/s"}.get(metric, "ms")
    assert f" {unit}  valid" in trial_line(result)
