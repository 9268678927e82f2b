"""What configurations held of their users, and when a curve of them has a law."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_web
from rich.console import Console
from sample_trials import result_of

from loadstone.experiments.designs import design_of, stages_of
from loadstone.experiments.designs.scale import Scaled
from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.held import HeldReport
from loadstone.report.model.searching import PublishedCurve
from loadstone.report.model.variants import MetricInfo
from loadstone.report.processors import busy_percent
from loadstone.report.scaling import published_curves
from loadstone.report.terminal import print_report
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import LatencySummary, MetricValue, OperationSummary, PhaseTiming
from loadstone.results.samples import SAMPLES_TABLE, SCHEMA
from loadstone.results.usage import PartUsage
from loadstone.spec.model import WorkloadSpec

LEVELS = [0.1, 0.2, 0.3, 0.4, 0.6, 0.8]
EACH = 400
USERS = [40, 80, 120, 160, 240, 320]
OVER = "host.server.quota"
"""A factor of the system, whose levels any machine has."""
PHASES = [
    PhaseTiming(name="ramp", kind="ramp", from_s=0.0, to_s=5.0, errors={"status_500": 3}),
    PhaseTiming(name="warm-up", kind="warm-up", from_s=5.0, to_s=10.0, errors={"reset": 1}),
    PhaseTiming(name="measure", kind="measure", from_s=10.0, to_s=30.0, errors={"reset": 2}),
    PhaseTiming(name="drain", kind="drain", from_s=30.0, to_s=32.0, errors={"reset": 50}),
]
INVENTORY = {"host": {"limits": {"cpus_allowed": "2"}, "cgroup": {}}}


def curve(**design: Any) -> dict[str, Any]:
    """A scale over a part of the system, users in proportion unless something else is said."""
    return {"design": {"kind": "scale", "over": OVER, "levels": LEVELS, **design}}


def latency(mean_s: float) -> LatencySummary:
    return LatencySummary(
        count=100, mean_s=mean_s, p50_s=mean_s, p90_s=mean_s, p95_s=2 * mean_s, p99_s=3 * mean_s,
        p999_s=mean_s, max_s=mean_s,
    )  # fmt: skip


def samples(busy: float) -> pa.Table:
    """Of a machine that is idle but for the measured phase, in which it is so busy."""
    rows = [(0.5 + t, "host", name, value) for t in range(32) for name, value in (
        ("cpu_idle_percent", 100.0 - busy - 1.0 if 10 <= t < 30 else 100.0),
        ("cpu_iowait_percent", 1.0 if 10 <= t < 30 else 0.0),
        ("cpu_user_percent", busy if 10 <= t < 30 else 0.0),
    )]  # fmt: skip
    columns = list(zip(*rows, strict=True))
    return pa.table([pa.array(each) for each in columns], schema=SCHEMA)


def document(
    results: Path,
    *,
    busy: float = 50.0,
    parts: Mapping[str, Any] | None = None,
    **fields: Any,
) -> ReportDocument:
    """Of one trial for each configuration, whose rate is that of its users."""
    spec = sample_web.experiment(**fields)
    folder = ExperimentFolder.create(results, spec.name)
    folder.write_experiment(spec)
    design = design_of(spec)
    pairs = [asdict(pair) for pair in design.pairs(spec)]
    folder.write_design(design.variants(spec), pairs, "loadstone scale web.yaml")
    for plan in stages_of(spec).next([]):
        with folder.trial(plan) as trial:
            rate = MetricValue(
                name="transactions_per_s", value=plan.profile.users / 10, unit="transactions/s",
                higher_is_better=True, label="transactions",
            )  # fmt: skip
            made = result_of(plan, [rate]).model_copy(
                update={"operations": operations(), "phases": PHASES, "parts": usages(parts)}
            )
            trial.write_result(made)
            (trial.path / "inventory.json").write_text(json.dumps(INVENTORY))
        pq.write_table(samples(busy), trial.path / SAMPLES_TABLE, write_page_checksum=True)
    return build_document(folder.path)


def operations() -> list[OperationSummary]:
    page = OperationSummary(name="page", count=300, response=latency(0.1))
    return [page, OperationSummary(name="log-in", count=900, response=latency(9.0))]


def usages(parts: Mapping[str, Any] | None) -> list[PartUsage]:
    return [
        PartUsage(name=name, cpu_s=1.0, cpu_percent=50.0, memory_bytes=1e6, **told)
        for name, told in (parts or {}).items()
    ]


def held_of(found: ReportDocument) -> HeldReport:
    assert found.held is not None
    return found.held


def printed(of: ReportDocument, folder: Path) -> str:
    stream = io.StringIO()
    print_report(of, folder, Console(file=stream, width=100))
    return " ".join(stream.getvalue().split())


# -- figures -----------------------------------------------------------------------------------
def test_each_configuration_has_users_rate_response_and_errors_apart(tmp_path: Path) -> None:
    rows = held_of(document(tmp_path, **curve(users_each=EACH))).rows
    assert [row.users for row in rows] == USERS
    assert [row.rate for row in rows] == [users / 10 for users in USERS]
    assert {(row.errors_before, row.errors_measured) for row in rows} == {(4, 2)}
    assert [row.host_cpu_percent for row in rows] == pytest.approx([50.0] * len(LEVELS))
    first = rows[0]
    assert first.response_mean_ms == pytest.approx(100.0)  # the log-in is no transaction
    (page,) = first.transactions
    assert (page.operation, page.per_s, page.p95_ms) == ("page", 15.0, 200.0)


def test_a_part_is_told_in_percent_of_what_it_may_use(tmp_path: Path) -> None:
    parts = {"nodes": {"quota": 0.5}, "nodes.1": {"quota": 0.25}, "database": {"quota": 8.0}}
    row = held_of(document(tmp_path, parts=parts)).rows[0]
    tiers = {tier.part: (tier.cpu_percent, tier.processors) for tier in row.tiers}
    assert tiers == {"nodes": (100.0, 0.5), "database": (25.0, 2.0)}


def test_nothing_is_said_where_there_is_neither_a_curve_nor_a_part(tmp_path: Path) -> None:
    found = document(tmp_path)
    assert found.held is None
    assert "What was held" not in printed(found, tmp_path)


def test_how_busy_the_machine_was_is_of_the_measured_phases() -> None:
    assert busy_percent(samples(60.0), PHASES) == pytest.approx(60.0)
    assert busy_percent(samples(60.0), PHASES[:2]) is None  # neither is measured
    assert busy_percent(None, PHASES) is None


# -- power and height --------------------------------------------------------------------------
STATED = {"watts": 16.0, "rack_units": 2.0, "covers": "two servers"}


def test_users_per_watt_are_of_the_largest_n_and_said_to_be_stated(tmp_path: Path) -> None:
    found = document(tmp_path, system=STATED, **curve(users_each=EACH))
    assert found.density is not None
    *others, last = found.density.rows
    assert all(row.users_per_watt is row.users_per_rack_unit is None for row in others)
    assert last.users_per_watt == 320 / 16
    assert last.users_per_rack_unit == 160
    assert last.watts_from == "stated"
    text = printed(found, tmp_path)
    assert "Watts are stated by the owner, not measured: two servers." in text


def test_nothing_is_computed_of_what_was_not_given(tmp_path: Path) -> None:
    found = document(tmp_path, system={"rack_units": 2.0})
    assert found.density is not None
    (row,) = found.density.rows
    assert row.users is not None
    assert row.users_per_watt is None
    assert row.users_per_rack_unit == row.users / 2


@pytest.mark.parametrize("system", [{}, {"covers": "a rack"}, {"watts": 0}, {"rack_units": -1}])
def test_a_system_that_says_nothing_is_refused(system: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"watts|rack_units"):
        sample_web.experiment(system=system)


# -- the law -----------------------------------------------------------------------------------
def test_a_full_machine_has_no_law_of_what_stands_on_it(tmp_path: Path) -> None:
    scale = document(tmp_path, busy=97.0, **curve(users_each=EACH)).scale
    assert scale is not None
    assert scale.fit is None
    assert "at 0.8 server.quota the processors of this machine were busy for 97 %" in scale.problem


def test_a_machine_with_room_has_one(tmp_path: Path) -> None:
    scale = document(tmp_path, busy=90.0, **curve(users_each=EACH)).scale
    assert scale is not None
    assert scale.problem == ""
    assert scale.fit is not None
    assert scale.users_each == EACH


def test_a_load_that_fills_the_machine_has_one(tmp_path: Path) -> None:
    scale = document(tmp_path, busy=99.0, **curve(over="users", levels=[1, 2, 3, 4, 6, 8])).scale
    assert scale is not None
    assert scale.fit is not None


def nodes(users_each: float | None, workload: str = "bi") -> list[PublishedCurve]:
    """What was published over the nodes of a system."""
    spec = WorkloadSpec(name=workload)
    given = sample_web.experiment().model_copy(update={"workload": spec})
    metric = MetricInfo(name="transactions_per_s", label="", unit="")
    return published_curves(given, Scaled("target.nodes", "nodes", users_each), metric)


def test_published_growth_stands_beside_users_in_proportion_as_times_the_first() -> None:
    (found,) = nodes(EACH)
    assert [point.n for point in found.points] == [1, 4, 8]
    assert [point.ratio for point in found.points] == pytest.approx([1, 580 / 155, 1031 / 155])
    assert nodes(None) == []
    assert nodes(EACH, "oltp") == []


def test_a_curve_without_users_in_proportion_has_nothing_published_beside_it(
    tmp_path: Path,
) -> None:
    scale = document(tmp_path, **curve()).scale
    assert scale is not None
    assert scale.published == []
