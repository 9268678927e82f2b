"""What people's actions are on Superset 6.1: the requests of a browser, in its order.

They were recorded from Chromium. Left out are what it asks of other hosts, a PUT of colours that
Superset refuses to readers, and beacons before the log-in, which are refused too. Of the beacons
after it those of one action are sent as one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone.spec.dashboards import ACTIONS, LOG_IN, LOG_OUT, Chart, Content, Dashboard, Filter
from loadstone.targets.bi import FIRST_VISIT, Actions
from loadstone.targets.superset import beacons, queries
from loadstone.targets.superset.accounts_file import ADDRESS, LOGIN, USERNAME
from loadstone.targets.superset.provision import Provisioned, filter_id

PASSWORD = "password"  # noqa: S105 - the name of a value
PASSWORD_VARIABLE = "LOADSTONE_SECRET_0"  # noqa: S105
LIST = "/dashboard/list/"
_LANDING = f"/login/?next={LIST}"
_REFUSED_TOKEN = "/login/?next=%2Flogin"  # noqa: S105
_LOGGED_IN = "isAnonymous&#34;: false"
"""In each page of somebody who is logged in."""
_CHART_DATA = "/api/v1/chart/data"
_FORM_OF = "form_data=%7B%22slice_id%22%3A{}%7D"
"""Which chart is asked for, in the address: for the logs of the server."""
_CHOSEN, _CLICKED = "chosen", "clicked"
_CSRF = {"csrf": {"form": "csrf_token"}}
_FILES = Path(__file__).with_name("first_visit.txt")
_LISTED = (
    "(order_column:changed_on_delta_humanized,order_direction:desc,page:0,page_size:25,"
    "select_columns:!(id,dashboard_title,published,url,slug,changed_by,changed_by.id,"
    "changed_by.first_name,changed_by.last_name,changed_on_delta_humanized,owners,owners.id,"
    "owners.first_name,owners.last_name,tags.id,tags.name,tags.type,status,certified_by,"
    "certification_details,changed_on))"
)
_COLUMNS = (
    "(columns:!(id,slug,url,dashboard_title,published,css,theme,json_metadata,position_json,"
    "certified_by,certification_details,changed_by_name,changed_by,changed_on,created_by,charts,"
    "owners,roles,tags,changed_on_delta_humanized,created_on_delta_humanized,"
    "is_managed_externally,uuid))"
)
Step = dict[str, Any]


def actions_of(content: Content, numbers: Provisioned) -> Actions:
    """The requests of each action.

    In an application that others use, the list has more dashboards than those, and people log in by
    other names than they have in the content. Each of them has a browser of its own there, as a
    proxy may not hand on their addresses.

    Args:
        content: That was provisioned.
        numbers: Of what was provisioned.
    """
    known = _Known(content, numbers)
    shared = bool(numbers.names.mark)
    headers = {"X-Forwarded-For": f"${{{ADDRESS}}}"}
    if shared:
        headers["User-Agent"] = f"Mozilla/5.0 (X11; Linux x86_64) Loadstone/${{{LOGIN}}}"
    return Actions(
        form="requests",
        steps={
            FIRST_VISIT: [_together([_file(path) for path in first_visit_files()])],
            LOG_IN: _log_in(LOGIN if shared else USERNAME),
            "list": known.listed(),
            "open": [known.each(lambda one: {"steps": known.opened(one)}, draw=True)],
            "filter": [known.each(known.filtered)],
            "drill": [known.each(known.drilled)],
            "back": [known.each(lambda one: {"steps": known.back(one)})],
            LOG_OUT: _log_out(),
        },
        scenario={
            "headers": headers,
            "classes": CLASSES,
            "retry": {},
            "log_in_again": {"classes": ["session_expired", "not_logged_in"]},
        },
        secrets={PASSWORD: PASSWORD_VARIABLE},
    )


def first_visit_files() -> list[str]:
    """What a browser loads that has never been there: scripts, styles, fonts, images."""
    return _FILES.read_text(encoding="utf-8").split()


CLASSES: Sequence[Mapping[str, Any]] = (
    {"name": "log_in_form_expired", "location": _REFUSED_TOKEN, "operations": [LOG_IN]},
    {"name": "log_in_refused", "location": "/login/", "operations": [LOG_IN]},
    {"name": "session_expired", "location": "/login/", "operations": list(ACTIONS)},
    {"name": "not_logged_in", "status": [401], "operations": list(ACTIONS)},
    {"name": "csrf_expired", "status": [400], "text": ["CSRF"]},
    {"name": "rate_limited", "status": [429]},
    {"name": "accepted", "status": [202]},
    {"name": "pool_exhausted", "text": ["QueuePool limit"]},
    {"name": "chart_failed", "json": {"$.result[0].status": "failed"}},
)
"""What goes wrong with Superset, by its own name; the first that fits. A session that has expired
sends people from a page to the log-in, and their scripts get a 401."""


# -- log-in and log-out ------------------------------------------------------------------------
def _log_in(login: str) -> list[Step]:
    form = {"username": f"${{{login}}}", PASSWORD: f"${{{PASSWORD}}}", "csrf_token": "${csrf}"}
    return [
        _page("log-in form", _LANDING, text="csrf_token"),
        {
            "request": "log in",
            "post": "/login/",
            "query": {"next": LIST},
            "form": form,
            "retry": "none",
            "expect": {"text": [_LOGGED_IN]},
            "extract": _CSRF,
        },
    ]


def _log_out() -> list[Step]:
    return [{"request": "log out", "get": "/logout/", "retry": "none"}]


# -- the rest ----------------------------------------------------------------------------------
class _Known:
    """Content and numbers, of which each action makes its requests."""

    def __init__(self, content: Content, numbers: Provisioned) -> None:
        self._content = content
        self._numbers = numbers

    def each(
        self, alternative: Callable[[Dashboard], Step], *, draw: bool = False
    ) -> dict[str, Any]:
        """A step for the dashboard that a person has open, or draws."""
        alternatives = [alternative(each) for each in self._content.dashboards]
        return {"one_of": "dashboard", "draw": draw, "of": alternatives}

    def listed(self) -> list[Step]:
        """The page, then what its scripts ask for."""
        numbers = sorted(self._numbers.dashboards.values(), reverse=True)
        favourites = ",".join(map(str, numbers))
        return [
            _page("list page", LIST, text=_LOGGED_IN),
            _together(
                [
                    _asked(
                        "list of dashboards",
                        f"/api/v1/dashboard/?q={_LISTED}",
                        LIST,
                        expect=self._listed(),
                    ),
                    _asked("list rights", "/api/v1/dashboard/_info?q=(keys:!(permissions))", LIST),
                ]
            ),
            _together(
                [
                    _asked(
                        "list favourites",
                        f"/api/v1/dashboard/favorite_status/?q=!({favourites})",
                        LIST,
                    ),
                    beacons.sent("list events", [beacons.navigated(LIST)]),
                ]
            ),
        ]

    def opened(self, one: Dashboard) -> list[Step]:
        """The page, then what it says of the dashboard, then all charts."""
        at, number = self._page_of(one), self._number(one)
        api = f"/api/v1/dashboard/{self._slug(one)}"
        favourite = f"/api/v1/dashboard/favorite_status/?q=!({number})"
        rights = f"/api/v1/dataset/{self._numbers.dataset}/drill_info/?q=(dashboard_id:{number})"
        choices = queries.of_choices(one, filter_id(one), self._numbers.at(one))
        return [
            _page(f"{one.slug}: page", at, text=_LOGGED_IN),
            _together(
                [
                    _asked(f"{one.slug}: dashboard", f"{api}?q={_COLUMNS}", at),
                    _asked(f"{one.slug}: its charts", f"{api}/charts", at),
                    _asked(f"{one.slug}: its datasets", f"{api}/datasets", at),
                ]
            ),
            _together(
                [
                    _asked(f"{one.slug}: favourite", favourite, at),
                    *(self._chart(one, chart) for chart in one.charts),
                    self._state(one, "post", None),
                    _data(f"{one.slug}: choices", _CHART_DATA, choices, at),
                    _asked(f"{one.slug}: drill rights", rights, at),
                    self._events(one, [beacons.mounted(number), *self._drawn(one)]),
                ]
            ),
        ]

    def filtered(self, one: Dashboard) -> dict[str, Any]:
        """All charts with the chosen value; the state of the filter is kept on the server."""
        events = [beacons.filtered(self._number(one)), *self._drawn(one)]
        return {
            "pick": {_CHOSEN: {"of": list(one.filter.choices)}},
            "steps": [
                _together(
                    [
                        *(self._chart(one, chart, one.filter) for chart in one.charts),
                        self._state(one, "put", one.filter),
                        self._events(one, events),
                    ]
                ),
                self._state(one, "post", one.filter),
            ],
        }

    def drilled(self, one: Dashboard) -> dict[str, Any]:
        """A window with what a clicked value is made of."""
        clicked = one.drill.clicked
        return {
            "pick": {_CLICKED: {"of": list(clicked.choices)}},
            "steps": self._window(one, one.drilled.name, one.drill.group_by, clicked),
        }

    def back(self, one: Dashboard) -> list[Step]:
        """In that window one step back: the chart as it was."""
        whole = _whole(one)
        return self._window(one, whole.name, whole.group_by, None)

    # -- inside --------------------------------------------------------------------------------
    def _number(self, one: Dashboard) -> int:
        return self._numbers.dashboards[one.slug]

    def _slug(self, one: Dashboard) -> str:
        return self._numbers.names.slug(one)

    def _page_of(self, one: Dashboard) -> str:
        return f"/superset/dashboard/{self._slug(one)}/"

    def _listed(self) -> dict[str, Any]:
        """What the list of dashboards must have: ours, and no others where there are none."""
        if self._numbers.names.mark:
            return {"text": [self._slug(one) for one in self._content.dashboards]}
        return {"json": {"$.count": len(self._numbers.dashboards)}}

    def _chart(self, one: Dashboard, chart: Chart, chosen: Filter | None = None) -> Step:
        at = self._numbers.at(one, chart)
        more = [queries.chosen(chosen, f"${{{_CHOSEN}}}")] if chosen is not None else []
        path = f"{_CHART_DATA}?{_FORM_OF.format(at.chart)}&dashboard_id={at.dashboard}"
        body = queries.of_chart(chart, at, more)
        return _data(f"{one.slug}/{chart.name}", path, body, self._page_of(one))

    def _window(
        self, one: Dashboard, name: str, group_by: tuple[str, ...], clicked: Filter | None
    ) -> list[Step]:
        """A form is kept on the server, and its chart asked for."""
        at, page = self._numbers.at(one, _whole(one)), self._page_of(one)
        value = None if clicked is None else (clicked.column, "==", f"${{{_CLICKED}}}")
        body = queries.of_drill(replace(_whole(one), group_by=group_by), at, value)
        form = {
            "datasource_id": at.dataset,
            "datasource_type": "table",
            "form_data": _within_text(body["form_data"], _CLICKED, clicked),
        }
        path = f"{_CHART_DATA}?{_FORM_OF.format(0)}"
        return [
            _together(
                [
                    _changed(f"{one.slug}: form", "post", "/api/v1/explore/form_data", form, page),
                    _data(f"{one.slug}/{name}", path, body, page),
                    self._events(one, [beacons.drawn(at.dashboard, 0)]),
                ]
            )
        ]

    def _drawn(self, one: Dashboard) -> list[dict[str, Any]]:
        places = [self._numbers.at(one, chart) for chart in one.charts]
        return [beacons.drawn(at.dashboard, at.chart) for at in places]

    def _events(self, one: Dashboard, events: Sequence[Mapping[str, Any]]) -> Step:
        return beacons.sent(f"{one.slug}: events", events, self._number(one))

    def _state(self, one: Dashboard, method: str, chosen: Filter | None) -> Step:
        """The state of the filter: made, and changed, under a key that the server gave."""
        name, mask = filter_id(one), _mask(chosen)
        value = _within_text({name: {"id": name, **mask}}, _CHOSEN, chosen)
        key = "/${filter_key}" if method == "put" else ""
        path = f"/api/v1/dashboard/{self._number(one)}/filter_state{key}?tab_id=1"
        what = "state changed" if method == "put" else "state"
        step = _changed(f"{one.slug}: {what}", method, path, {"value": value}, self._page_of(one))
        return {**step, "extract": {"filter_key": {"json": "$.key"}}}


def _whole(one: Dashboard) -> Chart:
    """The chart that is drilled into, as it stands on the dashboard."""
    return next(each for each in one.charts if each.name == one.drill.chart)


def _mask(chosen: Filter | None) -> dict[str, Any]:
    """What a filter does, and shows."""
    if chosen is None:
        return {"extraFormData": {}, "filterState": {}, "ownState": {}}
    value = f"${{{_CHOSEN}}}"
    return {
        "extraFormData": {"filters": [{"col": chosen.column, "op": "IN", "val": [value]}]},
        "filterState": {"label": value, "value": [value], "excludeFilterValues": True},
        "ownState": {},
    }


def _within_text(data: Mapping[str, Any], name: str, chosen: Filter | None) -> str:
    """JSON within a text of JSON; a number stands there without quotes, as in the browser's."""
    text = json.dumps(data, separators=(",", ":"))
    if chosen is None or not all(isinstance(value, int) for value in chosen.choices):
        return text
    quoted, plain = f'"${{{name}}}"', f"${{{name}}}"
    return text.replace(quoted, plain).replace(f'"label":{plain}', f'"label":{quoted}')


# -- requests ----------------------------------------------------------------------------------
def _page(name: str, path: str, *, text: str) -> Step:
    """A page, which no script tries again, and whose token is used from then on."""
    return {
        "request": name,
        "get": path,
        "retry": "none",
        "expect": {"text": [text]},
        "extract": _CSRF,
    }


def _file(path: str) -> Step:
    return {"request": path.rpartition("/")[2], "get": path, "retry": "none"}


def _asked(name: str, path: str, at: str, *, expect: Mapping[str, Any] | None = None) -> Step:
    step: Step = {"request": name, "get": path, "headers": _headers(at)}
    return {**step, "expect": dict(expect)} if expect else step


def _changed(name: str, method: str, path: str, body: Mapping[str, Any], at: str) -> Step:
    return {
        "request": name,
        method: path,
        "headers": _headers(at),
        "json": dict(body),
        "expect": {"status": [200, 201]},
    }


def _data(name: str, path: str, body: Mapping[str, Any], at: str) -> Step:
    """The rows of a chart: an answer with an error in it is none."""
    return {
        "request": name,
        "post": path,
        "headers": _headers(at),
        "json": dict(body),
        "expect": {"status": 200, "json": {"$.result[0].error": None}},
        "marks": {"cached": {"json": "$.result[0].is_cached", "is": True}},
    }


def _headers(at: str) -> dict[str, str]:
    return {
        "Accept": "application/json",
        "X-CSRFToken": "${csrf}",
        "Referer": f"${{base}}{at}",
    }


def _together(requests: Sequence[Step]) -> Step:
    return {"parallel": list(requests)}
