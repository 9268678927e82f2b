"""Real servers on a memory file system, for benchmarks whose subject is not the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.driving import drive
from loadstone.journal import Journal
from loadstone.load.profiles import load_plan
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.connection import ServerConnection
from loadstone.targets.database import Database
from loadstone.targets.registry import target_for
from loadstone.workloads.base import LoadContext, LoadRequest, Workload

SETTINGS: dict[str, dict[str, Level]] = {
    "postgresql": {
        "shared_buffers": "2GB",
        "synchronous_commit": "off",
        "max_wal_size": "8GB",
        "checkpoint_timeout": "30min",
    },
    "mariadb": {
        "innodb_buffer_pool_size": "2G",
        "innodb_flush_log_at_trx_commit": 2,
        "innodb_log_file_size": "4G",
        "performance_schema": "on",
    },
}
"""Engine: all data in memory, commits that do not wait for a disk, no checkpoint on the way."""
_KEPT = "benchmark"


class Server:
    """A server with a work database for the driver."""

    def __init__(self, target: Database) -> None:
        self.target = target
        described = target.describe(target.spec)
        self.version = f"{target.engine} {described['version']}"

    @property
    def connection(self) -> ServerConnection:
        """To the work database."""
        return self.target.connection()

    def plan_connection(self, database: str | None = None) -> dict[str, Any]:
        """The plan's `connection`."""
        own = self.connection.plan()
        return {**own, "database": database} if database else own

    def context(self) -> LoadContext[Database]:
        """Of a load whose files nobody keeps."""
        return LoadContext(42, self.target, Path())

    def build(self, workload: Workload) -> None:
        """Makes and loads the workload's data."""

        def run_driver(request: LoadRequest) -> Mapping[str, float]:
            plan = load_plan(workload.name, request, self.connection, threads=os.cpu_count() or 1)
            end = drive(plan).end
            assert end is not None
            return end.facts

        workload.build(self.target, run_driver, seed=42)

    def keep(self) -> None:
        """Keeps the present state of all databases."""
        self.target.snapshot(_KEPT)

    def restore(self) -> None:
        """Puts the kept state back, with the settings of the benchmark, and warms the caches."""
        self.target.restore(_KEPT, self.target.spec)
        self.target.settle("warm")


def memory_folder() -> str:
    """A memory file system, or a temporary folder where there is none."""
    memory = Path("/dev/shm")  # noqa: S108 - a memory file system, not a file of a known name
    return str(memory) if os.access(memory, os.W_OK) else tempfile.gettempdir()


def spec_of(engine: str) -> TargetSpec:
    """The server of that engine, with the settings of the benchmark."""
    return TargetSpec(engine=engine, data=memory_folder(), settings=SETTINGS[engine])


@contextmanager
def server(engine: str = "postgresql") -> Iterator[Server]:
    """Starts one, with the settings of the benchmark, and removes it at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        spec = spec_of(engine)
        target = target_for(spec)(spec, TargetContext(journal, "benchmark"))
        try:
            target.open()
            target.empty(spec)
            yield Server(target)
        finally:
            target.close()
