"""What the front end tells the server of what people do: events, in beacons nobody waits for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

_BOUNDARY = "----LoadstoneFormBoundary"
Event = dict[str, Any]


def sent(
    name: str, events: Sequence[Mapping[str, Any]], dashboard: int | None = None
) -> dict[str, Any]:
    """The request: a form in parts, as a browser sends it.

    Args:
        name: In figures.
        events: At least one.
        dashboard: Number of the dashboard that they are of.
    """
    told = json.dumps([{**_COMMON, **event} for event in events], separators=(",", ":"))
    told = told.replace('"${now_ms}"', "${now_ms}")
    body = (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="events"\r\n\r\n'
        f"{told}\r\n--{_BOUNDARY}--\r\n"
    )
    of = f"&dashboard_id={dashboard}" if dashboard is not None else ""
    return {
        "request": name,
        "post": f"/superset/log/?explode=events{of}",
        "headers": {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"},
        "retry": "none",
        "body": body,
    }


def navigated(path: str) -> Event:
    """Somebody came to a page."""
    return {"event_name": "spa_navigation", "path": path, "event_type": "user"}


def mounted(dashboard: int) -> Event:
    """A dashboard stands on the page."""
    return {
        **_of(dashboard),
        "event_name": "mount_dashboard",
        "is_soft_navigation": False,
        "is_edit_mode": False,
        "mount_duration": 455,
        "is_empty": False,
        "is_published": True,
        "event_type": "user",
    }


def filtered(dashboard: int) -> Event:
    """A filter was applied."""
    return {**_of(dashboard), "event_name": "change_dashboard_filter", "event_type": "user"}


def drawn(dashboard: int, chart: int) -> Event:
    """The rows of a chart have come.

    Args:
        dashboard: Number of it.
        chart: Number of it; 0 for one that was not saved.
    """
    return {
        **_of(dashboard),
        "event_name": "load_chart",
        "slice_id": chart,
        "applied_filters": [],
        "force_refresh": False,
        "start_offset": 1010,
        "duration": 999,
        "has_extra_filters": False,
        "event_type": "timing",
    }


_COMMON: Event = {
    "impression_id": "${unique}",
    "version": "v2",
    "ts": "${now_ms}",
    "event_id": "${unique}",
    "visibility": "visible",
}


def _of(dashboard: int) -> Event:
    return {"source": "dashboard", "source_id": dashboard, "dashboard_id": dashboard}
