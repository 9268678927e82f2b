"""Uses of the driver, with the CPU time that it took."""

from __future__ import annotations

from typing import Any

from loadstone.load.driver import Driver
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.protocol.frames import PROTOCOL_VERSION, parse_frame

MEASURE_S = 5.0


def drive(plan: dict[str, Any]) -> LoadLog:
    """Runs the driver and returns all it said."""
    log = LoadLog()
    with Driver(plan, lambda frame: log.add(parse_frame(frame))) as driver:
        driver.wait()
    return log


def plan(
    workload: dict[str, Any],
    load: dict[str, Any],
    *,
    connection: dict[str, Any] | None = None,
    measure_s: float = MEASURE_S,
    warm_up_s: float = 1.0,
    pacing: dict[str, Any] | None = None,
    seed: int = 1,
) -> dict[str, Any]:
    """A plan of one worker thread: warm-up and a measured phase."""
    phases = [("warm-up", warm_up_s), ("measure", measure_s)]
    return {
        "version": PROTOCOL_VERSION,
        "seed": seed,
        "threads": 1,
        "workload": {"role": "run", "parameters": {}, **workload},
        "connection": connection or {"protocol": "none"},
        **({"pacing": pacing} if pacing else {}),
        "phases": [
            {"name": name, "kind": name, "duration_s": duration_s, "load": load}
            for name, duration_s in phases
        ],
    }


def closed(users: int) -> dict[str, Any]:
    """The load of closed users without waits."""
    return {"model": "closed", "users": {"from": users, "to": users}}


def cpu_us_per_operation(load: LoadTotals) -> float:
    """CPU time of the driver for one operation, in microseconds."""
    return (load.cpu_user_s + load.cpu_system_s) / load.count * 1e6
