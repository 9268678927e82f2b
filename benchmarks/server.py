"""A real PostgreSQL on a memory file system, for benchmarks whose subject is not the disk."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.driving import drive
from loadstone.experiments.journal import Journal
from loadstone.experiments.model import TargetSpec
from loadstone.load.profiles import connection_of, load_plan
from loadstone.targets.base import Connection, TargetContext
from loadstone.targets.postgresql import PostgreSQL, binaries
from loadstone.workloads.base import LoadRequest, Workload

SETTINGS: dict[str, str] = {
    "shared_buffers": "2GB",
    "synchronous_commit": "off",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
}
_KEPT = "benchmark"
PGBENCH = "pgbench"


class Server:
    """An embedded PostgreSQL with a database for the driver and one for pgbench."""

    def __init__(self, target: PostgreSQL) -> None:
        self.target = target
        self.pgbench = binaries.find("embedded").folder / "pgbench"
        self.version = f"PostgreSQL {binaries.find('embedded').version}"
        self.shared_buffers = SETTINGS["shared_buffers"]

    @property
    def connection(self) -> Connection:
        """To the database of the driver."""
        return self.target.connection()

    @property
    def pgbench_connection(self) -> Connection:
        """To the database of pgbench."""
        return replace(self.connection, database=PGBENCH)

    def plan_connection(self, database: str | None = None) -> dict[str, Any]:
        """The plan's `connection`."""
        own = connection_of(self.connection)
        return {**own, "database": database} if database else own

    def initialise_pgbench(self, scale: int) -> None:
        """Makes the database of pgbench, with its tables."""
        self.target.execute(f"DROP DATABASE IF EXISTS {PGBENCH}; CREATE DATABASE {PGBENCH};")
        to = self.pgbench_connection
        command = [str(self.pgbench), "-i", "-q", "-s", str(scale)]
        command += ["-h", to.host, "-p", str(to.port), "-U", to.user, to.database]
        subprocess.run(command, check=True, capture_output=True)

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
        self.target.restore(_KEPT, self.target.spec.with_settings(SETTINGS))
        self.target.settle("warm")


@contextmanager
def server() -> Iterator[Server]:
    """Starts one, with the settings of the benchmark, and removes it at the end."""
    memory = Path("/dev/shm")  # noqa: S108 - a memory file system, not a file of a known name
    base = memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    spec = TargetSpec(engine="postgresql", data=str(base))
    with (
        tempfile.TemporaryDirectory(prefix="loadstone-benchmark-") as notes,
        Journal(Path(notes) / "journal.jsonl", "python -m benchmarks") as journal,
    ):
        target = PostgreSQL(spec, TargetContext(journal, "benchmark"))
        try:
            target.open()
            target.empty(target.spec.with_settings(SETTINGS))
            yield Server(target)
        finally:
            target.close()
