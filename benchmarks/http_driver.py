"""The plans by which the load driver fetches one page, made as a trial makes them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.driving import closed
from loadstone.journal import Journal
from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.registry import target_for
from loadstone.workloads.base import LoadContext
from loadstone.workloads.registry import workload_of

USERS_OF_SOURCE = 20_000
"""So many connections are made from one address of this machine at most."""


def driver_plans(
    base: str,
    page: str,
    *,
    users: int,
    seconds: int,
    think_s: float,
    processes: int,
    ca: Path | None,
) -> list[dict[str, Any]]:
    """A plan for each process.

    Args:
        base: Address of the server.
        page: Path of the page.
        users: Of all processes together.
        seconds: Length of the load.
        think_s: Constant think time; 0: none.
        processes: That share the users.
        ca: Certificates to trust; None: those of the system.
    """
    spec = TargetSpec.model_validate(
        {"engine": "http", "url": base, **({"ca": str(ca)} if ca else {})}
    )
    workload = workload_of(
        WorkloadSpec.model_validate(
            {"name": "http", "parameters": {"scenario": _scenario(page, think_s)}}
        )
    )
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        target = target_for(spec)(spec, TargetContext(journal, "benchmark"))
        whole = {
            "version": PROTOCOL_VERSION,
            "seed": 1,
            "threads": 1,
            "tick_s": 1.0,
            "workload": workload.plan(LoadContext(1, target, Path(notes))),
            "connection": target.connection().plan() | _sources(users),
            "pacing": workload.pacing(),
            "phases": [
                {
                    "name": "measure",
                    "kind": "measure",
                    "duration_s": float(seconds),
                    "load": closed(users),
                }
            ],
        }
    return [{**whole, "process": {"index": each, "of": processes}} for each in range(processes)]


def _scenario(page: str, think_s: float) -> dict[str, Any]:
    think = {"distribution": "constant", "mean_s": think_s} if think_s else {"distribution": "none"}
    request = {"request": "page", "get": page, "expect": {"status": [200]}}
    return {
        "think_time": think,
        "transactions": [{"name": "page", "weight": 1, "steps": [request]}],
    }


def _sources(users: int) -> dict[str, Any]:
    """Further addresses of loopback where the ports of one are too few."""
    count = -(-users // USERS_OF_SOURCE)
    return {"sources": [f"127.0.0.{number + 1}" for number in range(count)]} if count > 1 else {}
