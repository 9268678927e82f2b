"""Frames as a driver writes them, for tests of what is made from them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hdrh.histogram import HdrHistogram

Operation = tuple[str, int, int, str | None]
"""Name, response and lag in nanoseconds, class of the error if it failed."""


def encoded(values: list[int]) -> str | None:
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values:
        histogram.record_value(max(1, value))
    return histogram.encode().decode() if values else None


def tick(operations: list[Operation], at: int, **fields: Any) -> dict[str, Any]:
    lines: dict[str, Any] = {}
    for name in {operation[0] for operation in operations}:
        of_name = [operation for operation in operations if operation[0] == name]
        good = [operation[1] for operation in of_name if operation[3] is None]
        errors = Counter(operation[3] for operation in of_name if operation[3] is not None)
        lines[name] = {"count": len(good), "errors": dict(errors), "retries": dict(errors)}
        if good:
            lines[name] |= {"response": encoded(good), "service": encoded(good)}
    value = {
        "frame": "tick",
        "t_s": at + 1.0,
        "seq": at,
        "phase": "measure",
        "phase_kind": "measure",
        "from_s": float(at),
        "to_s": at + 1.0,
        "operations": lines,
        "due": len(operations),
        "cpu_user_s": 0.25,
        "cpu_system_s": 0.25,
        "rss_bytes": 1000 + at,
        **fields,
    }
    lag = encoded([operation[2] for operation in operations])
    return value | ({"lag": lag} if lag else {})


def hello(threads: int = 2) -> dict[str, Any]:
    return {
        "frame": "hello",
        "t_s": 0.0,
        "version": 4,
        "driver": "0.1.0",
        "pid": 1,
        "threads": threads,
        "workload": "oltp",
        "operations": ["new-order", "payment"],
        "unix_time_s": 1.0,
        "monotonic_s": 100.0,
        "nofile": 1024,
        "clock_resolution_ns": 1,
    }


def phase(kind: str, name: str, t_s: float, **fields: int) -> dict[str, Any]:
    value: dict[str, Any] = {"frame": "event", "t_s": t_s, "kind": f"phase-{kind}"}
    return value | {"phase": name, "phase_kind": name, **fields}


FRAMES = [
    hello(),
    phase("begin", "warm-up", 0.0),
    tick([("new-order", 10**6, 10, None)], 0, phase="warm-up", phase_kind="warm-up"),
    phase("end", "warm-up", 1.0),
    phase("begin", "measure", 1.0),
    tick([("new-order", 10**6, 10, None)] * 3, 1),
    tick([("new-order", 10**6, 10, None), ("payment", 10**6, 10, "40001")], 2),
    phase("end", "measure", 3.0, drained=2, discarded=1),
    tick([("new-order", 10**9, 10, None)], 3),
]
