"""Order entry on a real server, each round beside pgbench as the yardstick of the machine."""

from __future__ import annotations

from typing import Any

from benchmarks.driving import closed, cpu_us_per_operation, drive, plan
from benchmarks.peers import Pgbench
from benchmarks.server import SETTINGS, Server
from benchmarks.table import Aim, Report, median, spread
from loadstone.workloads.oltp.workload import OrderEntry

ROUNDS = 5
WAREHOUSES = 10
SECONDS = 20.0
PGBENCH_SCALE = 50
STYLES = {"statements": (4.5, 150.0), "procedures": (6.0, 100.0)}
"""Style: new-orders/min per pgbench tps aimed at, and driver CPU in us a transaction."""


def measure(server: Server) -> Report:
    """Each round restores the data before each style and runs pgbench in a database of its own."""
    workload = OrderEntry(OrderEntry.Parameters(warehouses=WAREHOUSES))
    pgbench = Pgbench(server)
    pgbench.initialise(PGBENCH_SCALE)
    server.build(workload)
    server.keep()
    tps: list[float] = []
    rate: dict[str, list[float]] = {style: [] for style in STYLES}
    ratio: dict[str, list[float]] = {style: [] for style in STYLES}
    cpu: dict[str, list[float]] = {style: [] for style in STYLES}
    for number in range(ROUNDS):
        server.restore()
        tps.append(pgbench.run(["-N"], SECONDS).per_s)
        for style in STYLES if number % 2 == 0 else reversed(STYLES):
            server.restore()
            new_orders, cpu_us = _run(server, style, number)
            rate[style].append(new_orders)
            ratio[style].append(new_orders / tps[-1])
            cpu[style].append(cpu_us)
    rows = [("pgbench -N -M prepared -c 8, tps", spread(tps), "", "")]
    aims = []
    for style, (least_ratio, most_cpu_us) in STYLES.items():
        rows.append(
            (
                f"{style}: new-orders/min",
                spread(rate[style]),
                spread(ratio[style]),
                spread(cpu[style]),
            )
        )
        per_tps, cpu_us = median(ratio[style]), median(cpu[style])
        aims += [
            Aim(
                f"{style}: new-orders/min per tps",
                per_tps,
                "",
                f">= {least_ratio:g}",
                per_tps >= least_ratio,
            ),
            Aim(
                f"{style}: driver CPU",
                cpu_us,
                "us a transaction",
                f"<= {most_cpu_us:g}",
                cpu_us <= most_cpu_us,
            ),
        ]
    return Report(
        title="Order entry beside pgbench",
        how=f"{WAREHOUSES} warehouses, 8 users without waits, synchronous_commit off, "
        f"shared_buffers {SETTINGS['postgresql']['shared_buffers']}, data on a memory file system, "
        f"{server.version}; {ROUNDS} rounds of {SECONDS:g} s, each from the restored state, "
        f"beside pgbench at scale {PGBENCH_SCALE} on the same server; median and range.",
        header=("", "median (range)", "per pgbench tps", "driver CPU, us a transaction"),
        rows=rows,
        aims=aims,
    )


def _run(server: Server, style: str, seed: int) -> tuple[float, float]:
    """New-orders a minute by the district counters, and driver CPU in us a transaction."""
    workload = OrderEntry(OrderEntry.Parameters(warehouses=WAREHOUSES, style=style))
    workload.prepare(server.target)
    server.target.settle("warm")
    before = workload.observe(server.target)
    log = drive(_plan(server, workload, seed))
    after = workload.observe(server.target)
    load = log.overall()
    # All of the run counts, its warm-up too: the counters cover it whole.
    orders = after["next_order_ids"] - before["next_order_ids"]
    return orders / load.duration_s * 60, cpu_us_per_operation(load)


def _plan(server: Server, workload: OrderEntry, seed: int) -> dict[str, Any]:
    return plan(
        workload.plan(server.context()),
        closed(8),
        connection=server.plan_connection(),
        measure_s=SECONDS,
        warm_up_s=2.0,
        seed=seed,
    )
