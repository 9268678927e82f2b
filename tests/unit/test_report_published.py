"""Published tables beside a result, and what of it stands in them."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import sample_web
from rich.console import Console
from sample_trials import result_of

from loadstone.experiments.designs import design_of, stages_of
from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.report.published import LEVELS, PEAK, USERS, scale_to
from loadstone.report.published_jobs import JOBS
from loadstone.report.terminal import print_report
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import LatencySummary, MetricValue, OperationSummary
from loadstone.results.references import list_references, load_reference
from loadstone.workloads.registry import WORKLOADS

BI = "oracle-bi-users"
AS_LONG = {"distribution": "negative-exponential", "mean_s": 48.2}
RESPONSE = LatencySummary(
    count=100, mean_s=0.15, p50_s=0.1, p90_s=0.2, p95_s=0.3, p99_s=0.4, p999_s=0.5, max_s=0.6
)
FIGURES = {"transactions_per_s": (1034.0, "transactions/s"), "response_mean_ms": (150.0, "ms")}


def document(results: Path, scenario: dict[str, Any], **fields: Any) -> ReportDocument:
    """Of trials of a web application that all had the same figures."""
    spec = sample_web.experiment(sample_web.scenario(**scenario), **fields)
    folder = ExperimentFolder.create(results, spec.name)
    folder.write_experiment(spec)
    design = design_of(spec)
    pairs = [asdict(pair) for pair in design.pairs(spec)]
    folder.write_design(design.variants(spec), pairs, "loadstone run web.yaml")
    metrics = [
        MetricValue(name=name, value=value, unit=unit) for name, (value, unit) in FIGURES.items()
    ]
    for plan in stages_of(spec).next([]):
        with folder.trial(plan) as trial:
            result = result_of(plan, metrics)
            page = OperationSummary(name="page", count=100, response=RESPONSE)
            trial.write_result(result.model_copy(update={"operations": [page]}))
    return build_document(folder.path)


def own_rows(of: ReportDocument) -> dict[str, list[str]]:
    tables = [table for report in of.published for table in report.tables]
    return {row.label: row.cells for table in tables for row in table.rows if row.own}


def printed(of: ReportDocument, folder: Path) -> str:
    stream = io.StringIO()
    print_report(of, folder, Console(file=stream, width=80))
    return stream.getvalue()


def test_users_who_think_as_long_stand_beside_the_published_ones(tmp_path: Path) -> None:
    profile = {"users": 50_000, "think_time": "specified"}
    found = document(tmp_path, {"think_time": AS_LONG}, profile=profile)
    assert [each.name for each in found.published] == [BI]
    table = found.published[0].tables[0]
    cells = dict(zip(table.columns, own_rows(found)["this result"], strict=True))
    assert {name: cell for name, cell in cells.items() if cell} == {
        "users": "50,000",
        "average response, s": "0.15",
        "transactions, transactions/s": "1,034",
    }
    published = dict(zip(table.columns, table.rows[2].cells, strict=True))
    assert published["memory used, GB"] == "172.21"
    assert published["average power, W"] == "3,283"
    lines = printed(found, tmp_path).splitlines()
    users = next(line for line in lines if line.startswith("users  "))
    assert users.split()[-4:] == ["7,500", "28,000", "50,000", "50,000"]
    assert "nothing is compared across" in " ".join(lines)


@pytest.mark.parametrize(
    ("scenario", "profile"),
    [
        pytest.param({}, {"users": 50_000}, id="no think time"),
        pytest.param({"think_time": {**AS_LONG, "mean_s": 40}}, {"users": 50_000}, id="shorter"),
        pytest.param(
            {"think_time": AS_LONG}, {"load": "open", "rate_per_s": 1000.0}, id="open load"
        ),
    ],
)
def test_another_load_stands_beside_nothing(
    tmp_path: Path, scenario: dict[str, Any], profile: dict[str, Any]
) -> None:
    found = document(tmp_path, scenario, profile=profile)
    assert found.published == []
    assert "Beside" not in printed(found, tmp_path)


def test_each_configuration_that_thinks_as_long_has_a_row(tmp_path: Path) -> None:
    levels = [10_000, 20_000, 30_000, 40_000]
    design = {"kind": "sweep", "factors": {"profile.users": levels}}
    found = document(tmp_path, {}, profile={"think_time": "48s"}, design=design)
    rows = own_rows(found)
    assert [cells[0] for cells in rows.values()] == ["20,000", "30,000", "40,000"]
    assert list(rows)[-1] == "this result: users=40000"


@pytest.mark.parametrize("name", list_references())
def test_columns_of_ours_are_metrics_of_the_workloads(name: str) -> None:
    reference = load_reference(name)
    columns = [each for table in reference.tables for each in table.columns if each.ours]
    for workload in set(reference.workloads) & set(WORKLOADS) if columns else ():
        units = {spec.name: spec.unit for spec in WORKLOADS[workload].metrics}
        for column in columns:
            of_load = column.ours in (USERS, PEAK, *LEVELS) or column.ours.startswith(JOBS)
            assert of_load or scale_to(units[column.ours], column) > 0


def test_think_time_of_a_reference_is_that_of_its_figures() -> None:
    """Little's law: users / rate - response."""
    reference = load_reference(BI)
    for row in reference.tables[0].rows:
        users, rate, response = (
            float(str(row.values[name]))
            for name in ("users", "transactions_per_s", "response_mean_s")
        )
        assert users / rate - response == pytest.approx(reference.think_time_s, rel=0.005)
