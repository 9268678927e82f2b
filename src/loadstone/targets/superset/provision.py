"""Makes the content of a BI server in Superset, by its REST interface."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.errors import TargetError
from loadstone.spec.dashboards import Chart, Content, Dashboard, Dataset
from loadstone.targets.connection import ServerConnection
from loadstone.targets.served import SqlClient
from loadstone.targets.superset import form_data
from loadstone.targets.superset.configuration import address
from loadstone.targets.superset.names import OWN, Names
from loadstone.targets.superset.queries import Place
from loadstone.targets.superset.rest import Rest

DATABASES = "/api/v1/database/"
GAMMA = "Gamma"
"""Superset's role of people who read dashboards of the data that they are given."""
_IN_A_ROW = 3
_WIDTH, _HEIGHT = 4, 50
_RIGHT_OF_ALL, _RIGHT_OF_ONE = "all_datasource_access", "datasource_access"


@dataclass(frozen=True)
class Provisioned:
    """The numbers that Superset gave to what was made."""

    dataset: int
    dashboards: Mapping[str, int]
    """Slug: number."""
    charts: Mapping[str, int]
    """Name of the chart: number."""
    roles: Mapping[str, int]
    """Region: the role that sees its rows alone; an empty one: the reader."""
    names: Names = OWN

    def at(self, dashboard: Dashboard, chart: Chart | None = None) -> Place:
        """Where a chart of a dashboard stands, or the dashboard itself."""
        number = 0 if chart is None else self.charts[chart.name]
        return Place(self.dataset, self.dashboards[dashboard.slug], number)


@dataclass(frozen=True)
class Warehouse:
    """Where the star lies, as the nodes reach it."""

    connection: ServerConnection
    schema: str


def provision(
    rest: Rest, content: Content, warehouse: Warehouse, *, reads_all: bool, names: Names
) -> Provisioned:
    """Makes everything but the accounts.

    Args:
        rest: Logged in as an administrator.
        content: What is to be there.
        warehouse: Where the star lies.
        reads_all: The reader may read all data sources, by one right instead of one for each.
        names: What all of it is called.

    Raises:
        TargetError: If Superset refuses any of it.
    """
    dataset = _dataset(rest, content, _database(rest, warehouse, names), warehouse.schema, names)
    dashboards: dict[str, int] = {}
    charts: dict[str, int] = {}
    for dashboard in content.dashboards:
        number = _dashboard(rest, dashboard, names)
        own = {
            chart.name: _chart(rest, chart, dataset, number, names) for chart in dashboard.charts
        }
        _arrange(rest, dashboard, number, own, dataset)
        dashboards[dashboard.slug] = number
        charts |= own
    roles = _roles(rest, content, dataset, names, reads_all=reads_all)
    return Provisioned(dataset, dashboards, charts, roles, names)


# -- data --------------------------------------------------------------------------------------
def _database(rest: Rest, warehouse: Warehouse, names: Names) -> int:
    made = rest.post(
        DATABASES,
        {
            "database_name": names.warehouse,
            "sqlalchemy_uri": address(warehouse.connection),
            "expose_in_sqllab": False,
        },
    )
    return int(made["id"])


def _dataset(rest: Rest, content: Content, database: int, schema: str, names: Names) -> int:
    """The virtual dataset, with each measure as a metric of it."""
    dataset = content.dataset
    made = rest.post(
        "/api/v1/dataset/",
        {
            "database": database,
            "schema": schema,
            "table_name": names.dataset(dataset),
            "sql": dataset.sql,
        },
    )["id"]
    _check_columns(rest, dataset, made)
    found = {each.name: each.expression for chart in content.charts for each in chart.measures}
    metrics = [{"metric_name": name, "expression": text} for name, text in found.items()]
    rest.put(f"/api/v1/dataset/{made}?override_columns=false", {"metrics": metrics})
    return int(made)


def _check_columns(rest: Rest, dataset: Dataset, number: int) -> None:
    """Superset has asked the warehouse for them.

    Raises:
        TargetError: If it found others.
    """
    columns = rest.get(f"/api/v1/dataset/{number}")["result"]["columns"]
    found = {each["column_name"] for each in columns}
    if missing := [name for name in dataset.columns if name not in found]:
        raise TargetError(f"Superset does not see column {missing[0]!r} of {dataset.name!r}")


# -- dashboards --------------------------------------------------------------------------------
def _dashboard(rest: Rest, dashboard: Dashboard, names: Names) -> int:
    title, slug = names.title(dashboard), names.slug(dashboard)
    made = rest.post(
        "/api/v1/dashboard/", {"dashboard_title": title, "slug": slug, "published": True}
    )
    return int(made["id"])


def _chart(rest: Rest, chart: Chart, dataset: int, dashboard: int, names: Names) -> int:
    form = form_data.of_chart(chart, dataset)
    made = rest.post(
        "/api/v1/chart/",
        {
            "slice_name": names.title(chart),
            "viz_type": form["viz_type"],
            "datasource_id": dataset,
            "datasource_type": "table",
            "params": json.dumps(form),
            "dashboards": [dashboard],
        },
    )
    return int(made["id"])


def _arrange(
    rest: Rest, dashboard: Dashboard, number: int, charts: Mapping[str, int], dataset: int
) -> None:
    """Puts the charts into rows, and the filter beside them."""
    metadata = {
        "native_filter_configuration": [_filter(dashboard, list(charts.values()), dataset)],
        "chart_configuration": {},
        "global_chart_configuration": {
            "scope": _everywhere(),
            "chartsInScope": list(charts.values()),
        },
        "color_scheme": "",
        "refresh_frequency": 0,
        "cross_filters_enabled": True,
    }
    rest.put(
        f"/api/v1/dashboard/{number}",
        {
            "position_json": json.dumps(_positions(dashboard, charts)),
            "json_metadata": json.dumps(metadata),
        },
    )


def filter_id(dashboard: Dashboard) -> str:
    """What the filter of a dashboard is called among its states."""
    return f"NATIVE_FILTER-{dashboard.slug}"


def _filter(dashboard: Dashboard, charts: Sequence[int], dataset: int) -> dict[str, Any]:
    column = dashboard.filter.column
    return {
        "id": filter_id(dashboard),
        "type": "NATIVE_FILTER",
        "filterType": "filter_select",
        "name": column,
        "description": "",
        "targets": [{"datasetId": dataset, "column": {"name": column}}],
        "controlValues": {
            "multiSelect": True,
            "enableEmptyFilter": False,
            "defaultToFirstItem": False,
            "inverseSelection": False,
            "searchAllOptions": False,
        },
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
        "cascadeParentIds": [],
        "scope": _everywhere(),
        "chartsInScope": list(charts),
        "tabsInScope": [],
    }


def _everywhere() -> dict[str, Any]:
    return {"rootPath": ["ROOT_ID"], "excluded": []}


def _positions(dashboard: Dashboard, charts: Mapping[str, int]) -> dict[str, Any]:
    """The tree of the page: rows of three charts."""
    grid = ["ROOT_ID", "GRID_ID"]
    found: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"type": "ROOT", "id": "ROOT_ID", "children": ["GRID_ID"]},
        "GRID_ID": {"type": "GRID", "id": "GRID_ID", "children": [], "parents": ["ROOT_ID"]},
        "HEADER_ID": {"type": "HEADER", "id": "HEADER_ID", "meta": {"text": dashboard.title}},
    }
    for place, (chart, number) in enumerate(zip(dashboard.charts, charts.values(), strict=True)):
        row, key = f"ROW-{place // _IN_A_ROW}", f"CHART-{number}"
        if row not in found:
            meta = {"background": "BACKGROUND_TRANSPARENT"}
            found[row] = {"type": "ROW", "id": row, "children": [], "parents": grid, "meta": meta}
            found["GRID_ID"]["children"].append(row)
        found[row]["children"].append(key)
        found[key] = {
            "type": "CHART",
            "id": key,
            "children": [],
            "parents": [*grid, row],
            "meta": {
                "chartId": number,
                "sliceName": chart.title,
                "width": _WIDTH,
                "height": _HEIGHT,
            },
        }
    return found


# -- who may see what --------------------------------------------------------------------------
def _roles(
    rest: Rest, content: Content, dataset: int, names: Names, *, reads_all: bool
) -> dict[str, int]:
    """The reader, and a role for each region whose rows alone it sees."""
    known = {each["name"]: each["id"] for each in rest.listed("/api/v1/security/roles/")}
    if GAMMA not in known:
        raise TargetError(f"Superset has no role {GAMMA}, whose rights readers get")
    rights = rest.get(f"/api/v1/security/roles/{known[GAMMA]}/permissions/")["result"]
    view = f"[{names.warehouse}].[{names.dataset(content.dataset)}](id:{dataset})"
    reader = _role(rest, names.reader)
    rest.post(
        f"/api/v1/security/roles/{reader}/permissions",
        {
            "permission_view_menu_ids": [
                *(each["id"] for each in rights),
                _right(rest, view, reads_all=reads_all),
            ]
        },
    )
    roles = {"": reader}
    for region in content.regions:
        roles[region] = _role(rest, names.region(region))
        told = region.replace("'", "''")
        rest.post(
            "/api/v1/rowlevelsecurity/",
            {
                "name": names.region(region),
                "description": "",
                "filter_type": "Regular",
                "tables": [dataset],
                "roles": [roles[region]],
                "group_key": "",
                "clause": f"{content.dataset.restricted_by} = '{told}'",
            },
        )
    return roles


def _role(rest: Rest, name: str) -> int:
    return int(rest.post("/api/v1/security/roles/", {"name": name})["id"])


def _right(rest: Rest, dataset: str, *, reads_all: bool) -> int:
    """The number of the right to read the dataset, or all of them."""
    wanted, view = (_RIGHT_OF_ALL, _RIGHT_OF_ALL) if reads_all else (_RIGHT_OF_ONE, dataset)
    for each in rest.listed("/api/v1/security/permissions-resources/"):
        if each["permission"]["name"] == wanted and each["view_menu"]["name"] == view:
            return int(each["id"])
    raise TargetError(f"Superset has no right {wanted} on {view}")


# -- what is there -----------------------------------------------------------------------------
def move_warehouse(catalogue: SqlClient, to: ServerConnection) -> None:
    """Has Superset look for the warehouse at another place; nothing if it knows of none."""
    catalogue.query(
        "UPDATE dbs SET sqlalchemy_uri = %s WHERE database_name = %s",
        (address(to), OWN.warehouse),
    )


def numbers_in(catalogue: SqlClient, content: Content) -> Provisioned:
    """The numbers of what was provisioned, as the catalogue has them.

    Raises:
        TargetError: If something of the content is not there.
    """
    datasets = dict(catalogue.query("SELECT table_name, id FROM tables"))
    dashboards = dict(catalogue.query("SELECT slug, id FROM dashboards"))
    titles = catalogue.query(
        "SELECT d.slug, s.slice_name, s.id FROM slices s JOIN dashboard_slices b ON b.slice_id = "
        "s.id JOIN dashboards d ON d.id = b.dashboard_id"
    )
    by_title = {(slug, title): number for slug, title, number in titles}
    roles, names = dict(catalogue.query("SELECT name, id FROM ab_role")), OWN
    try:
        return Provisioned(
            dataset=datasets[names.dataset(content.dataset)],
            dashboards={each.slug: dashboards[each.slug] for each in content.dashboards},
            charts={
                chart.name: by_title[each.slug, chart.title]
                for each in content.dashboards
                for chart in each.charts
            },
            roles={
                "": roles[names.reader],
                **{name: roles[names.region(name)] for name in content.regions},
            },
        )
    except KeyError as error:
        raise TargetError(f"Superset has no {error.args[0]!r} in its catalogue") from error
