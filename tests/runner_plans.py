"""Plans for the runner."""

import copy
import json
import re
from pathlib import Path
from typing import Any


def noop_plan() -> dict[str, Any]:
    """A plan that has all it must have, for two users over a second."""
    return {
        "version": 4,
        "workload": {"name": "any"},
        "connection": {"protocol": "duckdb", "database": "a.db"},
        "phases": [
            {
                "name": "measure",
                "kind": "measure",
                "duration_s": 1.0,
                "load": {"model": "closed", "users": {"from": 2, "to": 2}},
            }
        ],
    }


def archive_plan(
    database: Path | str, *, stations: int = 3, duration_s: float = 2.0
) -> dict[str, Any]:
    """A short run with many switches: a segment is full after half a second."""
    users = 2 + 1 + stations
    return {
        "version": 4,
        "seed": 5,
        "tick_s": 0.5,
        "workload": {
            "name": "archive",
            "parameters": {
                "stations": stations,
                "events_per_s": 1000.0,
                "elements": 50,
                "path": "direct",
                "segment_events": 500 * stations,
                "preallocate": True,
                "index": "live",
                "compress": False,
                "move": False,
                "buffer_events": 20_000,
                "batch_events": 400,
                "interval_s": 0.1,
                "threshold_ms": 1000.0,
                "late_share": 0.02,
                "late_by_s": 0.3,
                "disorder_share": 0.01,
                "operators": 1,
                "events": None,
            },
        },
        "connection": {"protocol": "duckdb", "database": str(database)},
        "pacing": {
            "default": {"every_s": 0.1},
            "operations": {
                "switch": {"every_s": 0.02},
                "preallocate": {"every_s": 0.02},
                "close": {"every_s": 0.05},
            },
        },
        "phases": [
            {
                "name": "measure",
                "kind": "measure",
                "duration_s": duration_s,
                "load": {"model": "closed", "users": {"from": users, "to": users}},
            }
        ],
    }


def changed(plan: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a plan with another value at a path, as `phases[0].load.users.to`."""
    copied = copy.deepcopy(plan)
    *parts, last = re.findall(r"\w+", path)
    at: Any = copied
    for part in parts:
        at = at[int(part) if part.isdigit() else part]
    at[last] = value
    return copied


def encoded(plan: dict[str, Any]) -> bytes:
    """The line that a runner reads."""
    return json.dumps(plan).encode() + b"\n"
