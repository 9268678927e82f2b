"""The requests of Superset's front end, held against those that were recorded from a browser."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import TargetError
from loadstone.results.answers import KeptAnswer
from loadstone.spec.dashboards import ACTIONS, LOG_IN, LOG_OUT, Chart, Dashboard, default_content
from loadstone.targets.bi import FIRST_VISIT
from loadstone.targets.superset import queries
from loadstone.targets.superset.actions import (
    PASSWORD,
    PASSWORD_VARIABLE,
    actions_of,
    first_visit_files,
)
from loadstone.targets.superset.provision import Provisioned, filter_id
from loadstone.targets.superset.queries import Place
from loadstone.targets.superset.shown import shown

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "superset_chart_data.json").read_text())
CONTENT = default_content(12)
CHARTS = [chart for one in CONTENT.dashboards for chart in one.charts]
NUMBERS = Provisioned(
    dataset=1,
    dashboards={one.slug: number for number, one in enumerate(CONTENT.dashboards, 1)},
    charts={chart.name: number for number, chart in enumerate(CHARTS, 1)},
    roles={},
)


def dashboard_of(number: int) -> Dashboard:
    return CONTENT.dashboards[number - 1]


def body_of(recorded: dict[str, Any]) -> dict[str, Any]:
    """What we would ask where the browser asked this."""
    form = recorded["form_data"]
    one = dashboard_of(form["dashboardId"])
    if form["viz_type"] == "filter_select":
        return queries.of_choices(one, filter_id(one), NUMBERS.at(one))
    more = [(each["col"], each["op"], each["val"]) for each in recorded["queries"][0]["filters"]]
    if form["slice_id"] == 0:
        whole = next(each for each in one.charts if each.name == one.drill.chart)
        chart = replace(whole, group_by=tuple(form["groupby"]))
        return queries.of_drill(chart, NUMBERS.at(one, whole), more[0] if more else None)
    chart = CHARTS[form["slice_id"] - 1]
    chosen = [each for each in more if each[0] not in dict(chart.filters)]
    return queries.of_chart(chart, NUMBERS.at(one, chart), chosen)


@pytest.mark.parametrize("place", range(len(RECORDED)))
def test_the_body_is_the_browsers(place: int) -> None:
    recorded = RECORDED[place]
    body = body_of(recorded)
    assert body["queries"] == recorded["queries"]
    assert body["datasource"] == recorded["datasource"]
    form = body["form_data"]
    assert {name: form.get(name) for name in recorded["form_data"]} == recorded["form_data"]


def test_every_chart_was_recorded_as_it_opens_and_as_it_is_filtered() -> None:
    seen = Counter(
        (each["action"], each["form_data"]["slice_id"])
        for each in RECORDED
        if each["form_data"].get("slice_id")
    )
    assert seen == {(action, n): 1 for action in ("open", "filter") for n in range(1, 19)}


def requests_in(step: Any) -> Iterator[dict[str, Any]]:
    if isinstance(step, list):
        for each in step:
            yield from requests_in(each)
    elif "parallel" in step:
        yield from step["parallel"]
    else:
        yield step


def alternatives(action: str) -> list[dict[str, Any]]:
    (step,) = actions_of(CONTENT, NUMBERS).steps[action]
    assert step["one_of"] == "dashboard"
    assert step["draw"] == (action == "open")
    found: list[dict[str, Any]] = step["of"]
    return found


def test_an_open_dashboard_takes_fourteen_requests_and_a_beacon() -> None:
    for one, alternative in zip(CONTENT.dashboards, alternatives("open"), strict=True):
        page, said, rest = alternative["steps"]
        assert page["get"] == f"/superset/dashboard/{one.slug}/"
        assert page["extract"] == {"csrf": {"form": "csrf_token"}}
        assert len(said["parallel"]) == 3
        names = [each["request"] for each in rest["parallel"]]
        assert [f"{one.slug}/{chart.name}" for chart in one.charts] == names[1:7]
        assert 1 + 3 + len(names) == 14 + 1


def test_each_request_is_named_once_in_an_action_and_tried_again_by_scripts_alone() -> None:
    actions = actions_of(CONTENT, NUMBERS)
    assert set(actions.steps) == {FIRST_VISIT, LOG_IN, LOG_OUT, *ACTIONS}
    for action, steps in actions.steps.items():
        found = [
            request
            for step in steps
            for one in step.get("of", [{"steps": [step]}])
            for request in requests_in(one["steps"])
        ]
        names = Counter(each["request"] for each in found)
        assert max(names.values()) == 1, (action, names)
        for each in found:
            is_api = any("/api/" in str(value) for value in each.values())
            assert (each.get("retry") == "none") == (not is_api), each["request"]


def test_a_change_carries_the_token_and_where_it_comes_from() -> None:
    for one, alternative in zip(CONTENT.dashboards, alternatives("filter"), strict=True):
        state = alternative["steps"][-1]
        assert state["headers"]["X-CSRFToken"] == "${csrf}"
        assert state["headers"]["Referer"] == f"${{base}}/superset/dashboard/{one.slug}/"
        assert state["extract"] == {"filter_key": {"json": "$.key"}}


def test_what_is_chosen_stands_in_a_text_as_the_browser_has_it() -> None:
    by_slug = {
        one.slug: alternative["steps"][-1]["json"]["value"]
        for one, alternative in zip(CONTENT.dashboards, alternatives("filter"), strict=True)
    }
    number = by_slug["sales-by-region"].replace("${chosen}", "1995")
    (mask,) = json.loads(number).values()
    assert mask["extraFormData"] == {"filters": [{"col": "order_year", "op": "IN", "val": [1995]}]}
    assert mask["filterState"] == {"label": "1995", "value": [1995], "excludeFilterValues": True}
    (mask,) = json.loads(by_slug["products"].replace("${chosen}", "BUILDING")).values()
    assert mask["filterState"]["value"] == ["BUILDING"]


def test_the_password_is_a_value_that_the_environment_has() -> None:
    actions = actions_of(CONTENT, NUMBERS)
    assert actions.secrets == {PASSWORD: PASSWORD_VARIABLE}
    form = actions.steps[LOG_IN][1]["form"]
    assert form == {"username": "${username}", "password": "${password}", "csrf_token": "${csrf}"}


def test_a_first_visit_loads_each_file_once() -> None:
    files = first_visit_files()
    assert len(files) == len(set(files)) > 50
    assert all(each.startswith("/static/") for each in files)


# -- what answers showed -----------------------------------------------------------------------
def chart_of(name: str) -> tuple[Dashboard, Chart]:
    return next(
        (one, chart)
        for one in CONTENT.dashboards
        for chart in (*one.charts, one.drilled)
        if chart.name == name
    )


def kept(name: str, rows: Any, filters: list[dict[str, Any]], **more: Any) -> KeptAnswer:
    one, _ = chart_of(name)
    answer = {"result": [{"data": rows, "is_cached": None, **more}]}
    return KeptAnswer(
        draw=0.5,
        t_s=1.0,
        user=1,
        username="user000001",
        operation="open",
        request=f"{one.slug}/{name}",
        body={"queries": [{"filters": filters}]},
        values={},
        answer=answer,
    )


def test_rows_are_by_name_without_what_the_server_added() -> None:
    rows = [{"maker": "Manufacturer#1", "revenue": 2.0, "revenue__contribution": 1.0}]
    found = shown(CONTENT, kept("product-makers", rows, [], is_cached=True))
    assert found is not None
    assert found.rows == [{"maker": "Manufacturer#1", "revenue": 2.0}]
    assert (found.where, found.cached) == ({}, True)


def test_lines_of_several_series_are_turned_back() -> None:
    rows = [{"order_year": 1992, "Manufacturer#1": 3.0, "Manufacturer#2": None}]
    filters = [{"col": "segment", "op": "IN", "val": ["BUILDING"]}]
    found = shown(CONTENT, kept("product-years", rows, filters))
    assert found is not None
    assert found.rows == [{"order_year": 1992, "maker": "Manufacturer#1", "quantity": 3.0}]
    assert (found.where, found.cached) == ({"segment": "BUILDING"}, False)


def test_the_own_condition_of_a_chart_was_not_chosen() -> None:
    own = {"col": "priority", "op": "==", "val": "1-URGENT"}
    chosen = {"col": "maker", "op": "IN", "val": ["Manufacturer#3"]}
    rows = [{"ship_mode": "AIR", "order_lines": 7}]
    found = shown(CONTENT, kept("customer-shipping", rows, [chosen, own]))
    assert found is not None
    assert found.where == {"maker": "Manufacturer#3"}


def test_a_drilled_chart_is_one_of_its_own() -> None:
    rows = [{"supplier_nation": "FRANCE", "revenue": 1.5}]
    clicked = {"col": "supplier_region", "op": "==", "val": "EUROPE"}
    found = shown(CONTENT, kept("region-suppliers-drilled", rows, [clicked]))
    assert found is not None
    assert found.chart == "region-suppliers-drilled"
    assert found.where == {"supplier_region": "EUROPE"}


def test_an_answer_without_rows_is_named() -> None:
    broken = replace(kept("product-makers", [], []), answer={"errors": ["no"]})
    with pytest.raises(TargetError, match="products/product-makers has no rows"):
        shown(CONTENT, broken)


def test_other_answers_show_no_chart() -> None:
    other = replace(kept("product-makers", [], []), request="products: choices")
    assert shown(CONTENT, other) is None


def test_places_are_numbers_of_dashboard_and_chart() -> None:
    one, chart = chart_of("customer-ranking")
    assert NUMBERS.at(one, chart) == Place(1, 3, 16)
    assert NUMBERS.at(one) == Place(1, 3)
