"""Whether a warehouse holds the star that was loaded, and answers of it what DuckDB answers."""

from __future__ import annotations

from loadstone.errors import LoadstoneError
from loadstone.spec.dashboards import Content
from loadstone.spec.dashboards_sql import chart_sql
from loadstone.targets.database import Database
from loadstone.workloads.bi.shown_values import difference
from loadstone.workloads.bi.star import summed
from loadstone.workloads.bi.star_files import StarFiles


def compare_star(warehouse: Database, files: StarFiles, content: Content) -> None:
    """Compares rows and sums of all tables with the files, and the answers of all charts.

    Raises:
        LoadstoneError: With the first that differs.
    """
    found = warehouse.fingerprint(summed(warehouse.dialect))
    for table, rows in files.rows.items():
        if found.rows[table] != rows or found.sums[table] != files.sums[table]:
            raise LoadstoneError(
                f"{table} holds {found.rows[table]:,} rows with sum {found.sums[table]} after "
                f"the load; its files hold {rows:,} with sum {files.sums[table]}"
            )
    for chart in content.charts:
        names = [*chart.group_by, *(each.name for each in chart.measures)]
        answered = warehouse.query(chart_sql(content.dataset, chart))
        shown = [dict(zip(names, row, strict=True)) for row in answered]
        right = [dict(zip(names, row, strict=True)) for row in files.answers[chart.name]]
        if fault := difference(chart, shown, right):
            raise LoadstoneError(
                f"the warehouse answers chart {chart.name} otherwise than the files it was "
                f"loaded from: {fault}"
            )
