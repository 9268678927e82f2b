"""What is recorded: seven kinds of load, each with levels that are equal or known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A load whose trials are recorded.

    Attributes:
        name: Of the kind.
        figure: The metric that is judged.
        up_is_good: Whether more of it is better.
        file: The experiment, without its name, repeats and seed.
        planted: Variant: how much more time its operations take, in per cent. All others are equal.
        blocks: Of a session on the idle machine.
        in_memory: Its data lie in memory.
    """

    name: str
    figure: str
    up_is_good: bool
    file: Mapping[str, Any]
    planted: Mapping[str, float]
    blocks: int
    in_memory: bool = False


_SERVICE_US = (2000, 2000, 2040, 2100, 2200)
_PLANTED = {"2040": 2.0, "2100": 5.0, "2200": 10.0}


def noop(**profile: Any) -> dict[str, Any]:
    """The toy workload, with levels of known slowness."""
    return {
        "workload": {"name": "noop", "parameters": {"service_time_us": 2000}},
        "target": {"engine": "none"},
        "profile": {"warm_up": "200ms", "measure": "1s", **profile},
        "design": levels("workload.service_time_us", _SERVICE_US),
    }


def levels(factor: str, values: Sequence[object]) -> dict[str, Any]:
    """A comparison of them."""
    return {"kind": "compare", "factor": factor, "levels": list(values)}


def _oltp(data: str) -> dict[str, Any]:
    return {
        "workload": {"name": "oltp", "parameters": {"warehouses": 1}},
        "target": {"engine": "postgresql", "server": "embedded", "data": data},
        "profile": {"users": 4, "warm_up": "1s", "measure": "3s"},
        "design": levels("target.shared_buffers", ["256MB"] * 3),
        "metric": "new_orders_per_min",
    }


_DSS = {
    "workload": {
        "name": "dss",
        "parameters": {"scale": 0.1, "streams": 0, "refreshes": False, "plans": False},
    },
    "target": {"engine": "duckdb", "settings": {"threads": 2}},
    "design": levels("target.memory_limit", ["2GB"] * 3),
    "metric": "geometric_mean_s",
}
_HTTP = {
    "workload": {
        "name": "http",
        "parameters": {
            "scenario": {
                "transactions": [
                    {
                        "name": "items",
                        "steps": [{"request": "list", "get": "/api/items?page=2"}],
                    }
                ]
            }
        },
    },
    "target": {"engine": "http", "url": "http://127.0.0.1:PORT"},
    "profile": {"warm_up": "200ms", "measure": "1s"},
    "design": levels("profile.users", [4] * 3),
}
STORAGE: dict[str, Any] = {
    "workload": {
        "name": "storage",
        "parameters": {
            "profile": "database",
            "file_size": "64MB",
            "test": "Pages 8K and log mix",
            "passes": 1,
            "pass_length": "1s",
            "pause": "0s",
        },
    },
    "target": {"engine": "folder", "data": "DATA"},
    "design": levels("workload.passes", [1] * 3),
}

KINDS = (
    Kind("noop closed", "operations_per_s", True, noop(users=4), _PLANTED, 24),
    Kind("noop open", "response_p50_ms", False, noop(load="open", rate_per_s=400), _PLANTED, 12),
    Kind("oltp memory", "new_orders_per_min", True, _oltp("MEMORY"), {}, 12, in_memory=True),
    Kind("oltp disk", "new_orders_per_min", True, _oltp("DATA"), {}, 12),
    Kind("dss", "geometric_mean_s", False, _DSS, {}, 12),
    Kind("http", "transactions_per_s", True, _HTTP, {}, 12),
    Kind("storage", "baseline_mb_per_s", True, STORAGE, {}, 12),
)
