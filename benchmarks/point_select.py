"""One prepared select by key: the driver beside pgbench on the same server, in turn."""

from __future__ import annotations

from benchmarks.driving import closed, cpu_us_per_operation, drive, pgbench, plan
from benchmarks.server import PGBENCH, Server
from benchmarks.table import Aim, Report, median, spread

ROUNDS = 12
SCALE = 10
SECONDS = 3


def measure(server: Server) -> Report:
    """Interleaves the two, `ROUNDS` rounds, the first of each round taking turns."""
    server.initialise_pgbench(SCALE)
    own_rate, own_cpu, peer_rate, peer_cpu = [], [], [], []
    for number in range(ROUNDS):
        for ours in (number % 2 == 0, number % 2 == 1):
            if ours:
                workload = {"name": "point-select", "parameters": {"scale": SCALE}}
                load = drive(
                    plan(
                        workload,
                        closed(8),
                        connection=server.plan_connection(PGBENCH),
                        measure_s=SECONDS,
                        seed=number,
                    )
                ).measured()
                own_rate.append(load.count / load.duration_s)
                own_cpu.append(cpu_us_per_operation(load))
            else:
                peer = pgbench(server.pgbench, server.pgbench_connection, ["-S"], SECONDS)
                peer_rate.append(peer.per_s)
                peer_cpu.append(peer.cpu_us)
    rate = [own / peer for own, peer in zip(own_rate, peer_rate, strict=True)]
    cpu = [own / peer for own, peer in zip(own_cpu, peer_cpu, strict=True)]
    return Report(
        title="Beside pgbench: one prepared select",
        how=f"`SELECT abalance FROM pgbench_accounts WHERE aid = $1`, scale {SCALE}, 8 connections "
        f"over a Unix socket, one client thread each, {server.version}; {ROUNDS} interleaved "
        f"rounds of {SECONDS} s, median and range. Client CPU is user and system time.",
        header=("", "loadstone-driver", "pgbench", "ratio"),
        rows=(
            ("statements/s", spread(own_rate), spread(peer_rate), spread(rate)),
            ("client CPU, us a statement", spread(own_cpu), spread(peer_cpu), spread(cpu)),
        ),
        aims=(
            Aim("statements/s", median(rate), "x pgbench", ">= 1.0", median(rate) >= 1.0),
            Aim("client CPU", median(cpu), "x pgbench", "<= 1.2", median(cpu) <= 1.2),
        ),
    )
