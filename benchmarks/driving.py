"""Uses of the driver and of pgbench, with the CPU time that each of them took."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.load.driver import Driver
from loadstone.load.frames import parse_frame
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.targets.base import Connection

MEASURE_S = 5.0


def drive(plan: dict[str, Any], password: str | None = None) -> LoadLog:
    """Runs the driver and returns all it said."""
    log = LoadLog()
    with Driver(plan, lambda frame: log.add(parse_frame(frame)), password=password) as driver:
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
        "version": 1,
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


@dataclass(frozen=True)
class Pgbench:
    """What pgbench reported, and what it cost."""

    per_s: float
    cpu_us: float
    """Client CPU of one transaction, microseconds."""


def pgbench(binary: Path, server: Connection, options: list[str], seconds: float) -> Pgbench:
    """Runs pgbench, one thread, with 8 clients and prepared statements."""
    command = [
        str(binary),
        *("-h", server.host, "-p", str(server.port), "-U", server.user),
        *("-M", "prepared", "-c", "8", "-j", "1", "-n", "-T", str(round(seconds))),
        *options,
        server.database,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    rate = re.search(r"tps = ([\d.]+)", output)
    count = re.search(r"actually processed: (\d+)", output)
    if process.returncode or rate is None or count is None:
        raise RuntimeError(f"pgbench failed:\n{output}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Pgbench(float(rate[1]), cpu_s / int(count[1]) * 1e6)
