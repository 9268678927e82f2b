"""Order entry: a wholesale supplier's warehouses, districts and customers, derived from TPC-C."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import resources
from typing import Any, ClassVar

from loadstone.results.record import CheckResult, MetricValue
from loadstone.targets.base import Target
from loadstone.workloads.base import LoadRequest, Measured, RunDriver, Workload
from loadstone.workloads.oltp import accounting, fairness
from loadstone.workloads.oltp.conditions import check_conditions
from loadstone.workloads.oltp.ledger import read_counters, read_ledger
from loadstone.workloads.oltp.metrics import HEADLINE, METRICS, metric_values
from loadstone.workloads.oltp.parameters import THINK_TIME_CAP, WAITS, OrderEntryParameters
from loadstone.workloads.oltp.population import check_fixed_tables, verify_population
from loadstone.workloads.oltp.tables import TABLES

_BYTES_PER_WAREHOUSE = 130_000_000


class OrderEntry(Workload):
    """The order-entry workload."""

    name = "oltp"
    origin = "derived from the TPC-C specification, revision 5.11; not a TPC-C result"
    requires: ClassVar[frozenset[str]] = frozenset({"sql"})
    Parameters = OrderEntryParameters
    metrics = METRICS
    headline = HEADLINE
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

    def build(self, target: Target, run_driver: RunDriver, seed: int) -> dict[str, float]:
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

    def prepare(self, target: Target) -> None:
        """Installs the procedures of style `procedures`."""
        if self.parameters.style == "procedures":
            target.execute(_script(f"procedures.{target.dialect.name}.sql"))

    def driver_workload(self) -> dict[str, Any]:
        """The five transactions with their weights."""
        return {"name": self.name, "role": "run", "parameters": self.parameters.driver()}

    def pacing(self) -> dict[str, Any]:
        """Keying and think times of clause 5.2.5.7."""
        return {
            "default": {"keying_s": 0.0, "think": {"distribution": "none"}},
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

    def observe(self, target: Target) -> dict[str, float]:
        """The sums of the district counters and of the warehouses' takings."""
        return read_counters(target.query)

    def measure(self, measured: Measured) -> list[MetricValue]:
        """The figures of `METRICS`; those that have no meaning in this trial are left out."""
        return metric_values(self.parameters, measured)

    def check(
        self, target: Target, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """The twelve consistency conditions, then the driver's counts against the data."""
        after = read_counters(target.query)
        ledger = read_ledger(target.query, self.parameters.warehouses)
        pace = fairness.check_pace(self.parameters, measured)
        return [
            *check_conditions(target.query),
            accounting.check_new_orders(before, after, ledger, measured),
            accounting.check_payments(ledger, measured),
            accounting.check_amounts(before, after, ledger),
            accounting.check_deliveries(ledger, measured),
            accounting.check_stock(ledger),
            check_fixed_tables(target.query, self.parameters.warehouses),
            fairness.check_mix(self.parameters, measured),
            fairness.check_rollbacks(measured),
            *([pace] if pace else []),
        ]

    def fingerprint_tables(self) -> dict[str, str]:
        """Per table its keys times its counters, so that a swap of two values shows as well.

        The large factor makes the arithmetic 64 bits wide.
        """
        return {
            "warehouse": "w_id * w_ytd",
            "district": "(100 * d_w_id + d_id) * (d_ytd + d_next_o_id)",
            "customer": f"{_key('c_w_id', 'c_d_id', 'c_id')} "
            "* (1 + c_payment_cnt + 3 * c_delivery_cnt) + c_balance + 7 * c_ytd_payment",
            "history": f"{_key('h_w_id', 'h_d_id', 'h_c_id')} + h_c_w_id * h_c_d_id + h_amount",
            "new_order": _key("no_w_id", "no_d_id", "no_o_id"),
            "orders": f"{_key('o_w_id', 'o_d_id', 'o_id')} % 999983 * o_c_id "
            "+ o_ol_cnt * coalesce(o_carrier_id, 11)",
            "order_line": f"{_key('ol_w_id', 'ol_d_id', 'ol_o_id')} * ol_number + ol_i_id "
            "* ol_quantity + CASE WHEN ol_delivery_d IS NULL THEN ol_o_id ELSE 0 END",
            "item": "10000000000 + i_id * i_price",
            "stock": f"{_key('s_w_id', '0', 's_i_id')} % 999983 "
            "* (1 + s_quantity + s_order_cnt) + s_ytd",
        }


def _key(warehouse: str, district: str, row: str) -> str:
    return f"(10000000000 * {warehouse} + 100000000 * {district} + {row})"


def _script(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
