"""Order entry: a wholesale supplier's warehouses, districts and customers, derived from TPC-C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar

from loadstone.results.record import CheckResult, MetricValue
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.base import NO_WAITS, THINK_TIME_CAP, LoadContext, LoadRequest, RunDriver
from loadstone.workloads.database import DatabaseWorkload
from loadstone.workloads.measured import Measured
from loadstone.workloads.oltp import accounting, fairness
from loadstone.workloads.oltp.conditions import CONDITIONS, check_conditions
from loadstone.workloads.oltp.durability import OrderAudit
from loadstone.workloads.oltp.fingerprint import fingerprint_tables
from loadstone.workloads.oltp.ledger import ledger_of, read_counters
from loadstone.workloads.oltp.metrics import HEADLINE, METRICS, metric_values
from loadstone.workloads.oltp.parameters import OPERATIONS, WAITS, OrderEntryParameters
from loadstone.workloads.oltp.population import (
    FIXED,
    FIXED_TABLES,
    check_fixed_tables,
    verify_population,
)
from loadstone.workloads.oltp.sums import read_sums
from loadstone.workloads.oltp.tables import TABLES

_BYTES_PER_WAREHOUSE = 130_000_000


class OrderEntry(DatabaseWorkload):
    """The order-entry workload."""

    name = "oltp"
    origin = "derived from the TPC-C specification, revision 5.11; not a TPC-C result"
    requires: ClassVar[frozenset[str]] = frozenset({"sql", "transactions"})
    Parameters = OrderEntryParameters
    metrics = METRICS
    headline = HEADLINE
    checks = (
        *(condition.spec for condition in CONDITIONS),
        *accounting.CHECKS,
        FIXED,
        *fairness.CHECKS,
    )
    Durability = OrderAudit
    parameters: OrderEntryParameters

    def needs(self) -> frozenset[str]:
        """Stored procedures are needed by the style that calls them."""
        return self.requires | ({"procedures"} if self.parameters.style == "procedures" else set())

    def data_key(self) -> dict[str, Any]:
        """The scale alone: style, mix and the rest change no data."""
        return {"warehouses": self.parameters.warehouses}

    def expected_size_bytes(self) -> int:
        """As measured on PostgreSQL 18, rounded up."""
        return self.parameters.warehouses * _BYTES_PER_WAREHOUSE

    def build(self, target: Database, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes the nine tables, loads them through the driver, then adds keys and indexes.

        Returns:
            `load_time_s` and its parts `schema_time_s`, `copy_time_s`, `index_time_s`; `rows`,
            `size_bytes`, `bytes_per_warehouse`.

        Raises:
            TargetError: If a table has not the rows that clause 4.3.3.1 asks for.
        """
        own = self.parameters
        begin = time.monotonic()
        target.create_tables(TABLES)
        made = time.monotonic()
        run_driver(
            LoadRequest(role="load", sessions=own.load_sessions, seed=seed, parameters=own.driver())
        )
        copied = time.monotonic()
        target.finish_tables(TABLES)
        indexed = time.monotonic()
        rows = verify_population(target.query, own.warehouses)
        size_bytes = target.size_bytes()
        return {
            "load_time_s": indexed - begin,
            "schema_time_s": made - begin,
            "copy_time_s": copied - made,
            "index_time_s": indexed - copied,
            "rows": float(sum(rows.values())),
            "size_bytes": float(size_bytes),
            "bytes_per_warehouse": size_bytes / own.warehouses,
        }

    def prepare(self, target: Database) -> None:
        """Installs the procedures of style `procedures`."""
        if self.parameters.style == "procedures":
            target.execute(_script(f"procedures.{target.dialect.name}.sql"))

    def plan(self, context: LoadContext[Database]) -> dict[str, Any]:
        """The five transactions with their weights."""
        return {"name": self.name, "role": "run", "parameters": self.parameters.driver()}

    def operations(self) -> Sequence[str]:
        """The transactions."""
        return OPERATIONS

    def pacing(self) -> dict[str, Any]:
        """Keying and think times of clause 5.2.5.7."""
        return {
            "default": NO_WAITS,
            "operations": {
                name: {
                    "keying_s": wait.keying_s,
                    "think": {
                        "distribution": "negative-exponential",
                        "mean_s": wait.mean_think_s,
                        "cap": THINK_TIME_CAP,
                    },
                }
                for name, wait in WAITS.items()
            },
        }

    def observe(self, target: Database) -> dict[str, float]:
        """The sums of the district counters and of the warehouses' takings."""
        return read_counters(target.query, target.dialect)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`; those that have no meaning in this trial are left out."""
        return metric_values(self.parameters, measured)

    def check(
        self, target: Database, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """The twelve consistency conditions, then the driver's counts against the data."""
        after = read_counters(target.query, target.dialect)
        sums = read_sums(target.query, target.dialect)
        ledger = ledger_of(sums, self.parameters.warehouses)
        pace = fairness.check_pace(self.parameters, measured)
        return [
            *check_conditions(target.query, target.dialect, sums),
            accounting.check_new_orders(before, after, ledger, measured),
            accounting.check_payments(ledger, measured),
            accounting.check_amounts(before, after, ledger),
            accounting.check_deliveries(ledger, measured),
            accounting.check_stock(ledger),
            check_fixed_tables(sums.rows(*FIXED_TABLES), self.parameters.warehouses),
            fairness.check_mix(self.parameters, measured),
            fairness.check_rollbacks(measured),
            *([pace] if pace else []),
        ]

    def fingerprint_tables(self, dialect: Dialect) -> dict[str, str]:
        """Per table its keys times its counters, so that a swap of two values shows as well."""
        return fingerprint_tables(dialect)


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
