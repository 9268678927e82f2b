"""One prepared select by key: the driver beside each engine's own load generator, in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.driving import closed, cpu_us_per_operation, drive, plan
from benchmarks.peers import CLIENTS, DATABASE, PeerRun, Pgbench, Sysbench
from benchmarks.server import Server
from benchmarks.table import Aim, Report, median, spread

ROUNDS = 12
SECONDS = 3
PGBENCH_SCALE = 10
SYSBENCH_ROWS = 1_000_000


def beside_pgbench(server: Server) -> Report:
    """On PostgreSQL."""
    peer = Pgbench(server)
    peer.initialise(PGBENCH_SCALE)
    return _interleaved(
        peer.name,
        f"`SELECT abalance FROM pgbench_accounts WHERE aid = $1`, scale {PGBENCH_SCALE}, "
        f"{CLIENTS} connections over a Unix socket, one client thread each, {server.version}",
        {"scale": PGBENCH_SCALE},
        server.plan_connection(DATABASE),
        lambda: peer.run(["-S"], SECONDS),
    )


def beside_sysbench(server: Server) -> Report:
    """On MariaDB."""
    peer = Sysbench(server)
    peer.initialise(SYSBENCH_ROWS)
    return _interleaved(
        peer.name,
        f"`SELECT c FROM sbtest1 WHERE id = ?`, {SYSBENCH_ROWS:,} rows, {CLIENTS} connections over "
        f"a Unix socket; one thread of the driver, a thread for each client of sysbench; "
        f"{server.version}",
        {"table_size": SYSBENCH_ROWS},
        server.plan_connection(),
        lambda: peer.run(SYSBENCH_ROWS, SECONDS),
    )


def _interleaved(
    peer: str,
    how: str,
    parameters: dict[str, Any],
    connection: dict[str, Any],
    run_peer: Callable[[], PeerRun],
) -> Report:
    """Runs both, `ROUNDS` rounds, the first of each round taking turns."""
    own_rate, own_cpu, peer_rate, peer_cpu = [], [], [], []
    workload = {"name": "point-select", "parameters": parameters}
    for number in range(ROUNDS):
        for ours in (number % 2 == 0, number % 2 == 1):
            if ours:
                run = plan(
                    workload,
                    closed(CLIENTS),
                    connection=connection,
                    measure_s=SECONDS,
                    seed=number,
                )
                load = drive(run).measured()
                own_rate.append(load.count / load.duration_s)
                own_cpu.append(cpu_us_per_operation(load))
            else:
                done = run_peer()
                peer_rate.append(done.per_s)
                peer_cpu.append(done.cpu_us)
    rate = [own / theirs for own, theirs in zip(own_rate, peer_rate, strict=True)]
    cpu = [own / theirs for own, theirs in zip(own_cpu, peer_cpu, strict=True)]
    return Report(
        title=f"Beside {peer}: one prepared select",
        how=f"{how}; {ROUNDS} interleaved rounds of {SECONDS} s, median and range. Client CPU is "
        "user and system time.",
        header=("", "loadstone-driver", peer, "ratio"),
        rows=(
            ("statements/s", spread(own_rate), spread(peer_rate), spread(rate)),
            ("client CPU, us a statement", spread(own_cpu), spread(peer_cpu), spread(cpu)),
        ),
        aims=(
            Aim("statements/s", median(rate), f"x {peer}", ">= 1.0", median(rate) >= 1.0),
            Aim("client CPU", median(cpu), f"x {peer}", "<= 1.2", median(cpu) <= 1.2),
        ),
    )
