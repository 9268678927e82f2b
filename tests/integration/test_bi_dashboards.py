"""The star and its dashboards on a real PostgreSQL, and what is found when an answer is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from target_context import context_in

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.results.answers import KeptAnswer
from loadstone.results.record import CheckResult
from loadstone.spec.dashboards import Account, Chart
from loadstone.spec.dashboards_sql import chart_sql
from loadstone.spec.target import TargetSpec
from loadstone.targets.bi import BiServer
from loadstone.targets.sql_dashboards import SqlDashboards
from loadstone.workloads.bi.loaded_star import compare_star
from loadstone.workloads.bi.parameters import BiParameters
from loadstone.workloads.bi.shown_values import check_values
from loadstone.workloads.bi.star_files import provide
from loadstone.workloads.bi.workload import BusinessIntelligence

SPEC = TargetSpec(engine="sql-dashboards")
WORKLOAD = BusinessIntelligence(BiParameters(scale=0.001, accounts=12))
CONTENT = WORKLOAD.content
CHARTS = {chart.name: chart for chart in CONTENT.charts}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BiServer, dict[str, float]]]:
    """A server with the star and its content, kept under `star`."""
    patch = pytest.MonkeyPatch()
    patch.setenv("LOADSTONE_CACHE", str(tmp_path_factory.mktemp("cache")))
    target = SqlDashboards(SPEC, context_in(tmp_path_factory.mktemp("dashboards")))
    try:
        target.open()
        target.empty(SPEC)

        def no_driver(*_: Any) -> dict[str, float]:
            raise AssertionError("the star is not loaded by the driver")

        facts = WORKLOAD.build(target, no_driver, seed=1)
        target.snapshot("star")
        yield target, facts
    finally:
        target.close()
        patch.undo()


@pytest.fixture
def server(built: tuple[BiServer, dict[str, float]]) -> BiServer:
    """As it was built, whatever another test has done to it."""
    built[0].restore("star", SPEC)
    return built[0]


def _account(region: str) -> Account:
    return next(each for each in CONTENT.accounts if each.region == region)


def _kept(server: BiServer, chart: Chart, account: Account, **chosen: Any) -> KeptAnswer:
    """What this person gets of a chart, as the load would keep it."""
    where = dict(chosen)
    if account.region:
        where[CONTENT.dataset.restricted_by] = account.region
    rows = server.warehouse().query(chart_sql(CONTENT.dataset, chart, where=where))
    columns = [*chart.group_by, *(measure.name for measure in chart.measures)]
    return KeptAnswer(
        draw=0.0,
        t_s=0.0,
        user=0,
        username=account.name,
        operation="open",
        request=f"sales-by-region/{chart.name}",
        body=None,
        values={"mine": "1 = 1", **chosen},
        answer={"columns": columns, "rows": [[_json(cell) for cell in row] for row in rows]},
    )


def _json(cell: Any) -> Any:
    return cell if isinstance(cell, int | str) else str(cell)


def _checked(server: BiServer, *kept: KeptAnswer) -> CheckResult:
    return check_values(server, CONTENT, kept, 1000)


def test_the_star_is_loaded_counted_and_restored(
    built: tuple[BiServer, dict[str, float]], server: BiServer
) -> None:
    _, facts = built
    files = provide(0.001, "csv")
    assert facts["rows"] == sum(files.rows.values())
    assert facts["accounts"] == 12
    assert facts["load_time_s"] == pytest.approx(facts["star_s"] + facts["provision_s"])
    first = WORKLOAD.fingerprint(server)
    assert first.rows == files.rows
    server.warehouse().execute("DELETE FROM sales WHERE line_number = 1;")
    assert WORKLOAD.fingerprint(server).digest != first.digest
    server.restore("star", SPEC)
    assert WORKLOAD.fingerprint(server).digest == first.digest


def test_every_chart_is_answered_for_everybody(server: BiServer) -> None:
    kept = [
        _kept(server, chart, _account(region))
        for chart in CONTENT.charts
        for region in ("", "ASIA")
    ]
    check = _checked(server, *kept)
    assert check.passed, check.detail
    assert check.detail == f"{len(kept)} answers of {len(CHARTS)} charts"


def test_a_filter_and_a_click_are_part_of_the_question(server: BiServer) -> None:
    nations = _kept(server, CHARTS["region-nations"], _account("EUROPE"), order_year=1995)
    clicked = _kept(
        server, CHARTS["region-suppliers-drilled"], _account(""), supplier_region="ASIA"
    )
    assert _checked(server, nations, clicked).passed


def test_a_row_that_was_changed_is_found(server: BiServer) -> None:
    kept = _kept(server, CHARTS["product-makers"], _account("ASIA"))
    kept.answer["rows"][2][1] = str(float(kept.answer["rows"][2][1]) * 1.0001)
    check = _checked(server, kept)
    assert not check.passed
    assert "product-makers of user000004: revenue of Manufacturer#" in check.detail


def test_the_rows_of_another_person_are_found(server: BiServer) -> None:
    kept = _kept(server, CHARTS["region-nations"], _account("ASIA"))
    check = _checked(server, KeptAnswer(**{**vars(kept), "username": _account("EUROPE").name}))
    assert not check.passed
    assert "does not belong there" in check.detail


def test_a_filter_that_was_not_applied_is_found(server: BiServer) -> None:
    kept = _kept(server, CHARTS["region-orders"], _account(""))
    check = _checked(server, KeptAnswer(**{**vars(kept), "values": {"order_year": 1995}}))
    assert not check.passed


def test_a_row_that_is_missing_is_found(server: BiServer) -> None:
    kept = _kept(server, CHARTS["region-nations"], _account(""))
    kept.answer["rows"].pop()
    assert "are right" in _checked(server, kept).detail


def test_a_warehouse_that_answers_otherwise_than_its_files_is_refused(server: BiServer) -> None:
    warehouse, files = server.warehouse(), provide(0.001, "csv")
    compare_star(warehouse, files, CONTENT)
    warehouse.execute("UPDATE parts SET maker = 'Manufacturer#9' WHERE part_id = 1;")
    with pytest.raises(LoadstoneError, match="chart product-makers"):
        compare_star(warehouse, files, CONTENT)
    warehouse.execute("UPDATE sales SET quantity = quantity + 1 WHERE order_id = 1;")
    with pytest.raises(LoadstoneError, match="sales holds"):
        compare_star(warehouse, files, CONTENT)


def test_accounts_and_dashboards_are_tables_and_a_file_without_passwords(server: BiServer) -> None:
    asked = server.warehouse().query("SELECT region, count(*) FROM accounts GROUP BY 1 ORDER BY 1")
    assert [count for _, count in asked] == [2] * 6
    assert server.warehouse().query("SELECT count(*) FROM dashboards") == [(3,)]
    lines = server.accounts_file(CONTENT).read_text().splitlines()
    assert lines[0] == "username,region,mine"
    assert lines[2] == "user000002,AFRICA,region = 'AFRICA'"


def test_the_statements_of_every_action_can_be_planned(server: BiServer) -> None:
    """Each with the values of one person, by the server's own EXPLAIN."""
    values = {
        "${username}": "'user000002'",
        "${mine:sql}": "region = 'AFRICA'",
        "${order_year}": "1995",
        "${supplier_region}": "'ASIA'",
        "${segment}": "'BUILDING'",
        "${maker}": "'Manufacturer#1'",
    }
    statements = list(_statements([*server.actions(CONTENT).steps.values()]))
    assert len(statements) == 2 + 3 * (7 + 6 + 1 + 1)
    for sql in statements:
        for name, value in values.items():
            sql = sql.replace(name, value)  # noqa: PLW2901
        assert "${" not in sql
        server.warehouse().query(f"EXPLAIN {sql}")


def _statements(steps: Any) -> Iterator[str]:
    if isinstance(steps, dict):
        if "sql" in steps:
            yield steps["sql"]
        for inner in ("of", "steps"):
            yield from _statements(steps.get(inner, []))
    elif isinstance(steps, list | tuple):
        for step in steps:
            yield from _statements(step)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_database_that_dashboards_cannot_be_on_is_refused(engine: str) -> None:
    spec = TargetSpec.model_validate(
        {"engine": "sql-dashboards", "parts": {"database": {"engine": engine}}}
    )
    with pytest.raises(WrongInputError, match=f"cannot have {engine} as its database"):
        SqlDashboards.describe(spec)
