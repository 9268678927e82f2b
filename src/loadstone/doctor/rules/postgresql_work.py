"""How PostgreSQL works: planner, autovacuum, transactions, input and output."""

from __future__ import annotations

from loadstone.doctor.facts import HostFacts, PostgreSQLFacts
from loadstone.doctor.model import Advice, Measure, Severity
from loadstone.doctor.rules.base import postgresql_manual, postgresql_rule
from loadstone.units import format_duration

_IDLE_S = 300.0


@postgresql_rule(
    "random-page-cost",
    "the planner takes an SSD for a disk that rotates",
    Severity.LOOK,
    postgresql_manual(
        "19.7. Query Planning: random_page_cost", "runtime-config-query.html#GUC-RANDOM-PAGE-COST"
    ),
)
def random_page_cost(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """4 or more on a disk that says it does not rotate."""
    present = server.settings.number("random_page_cost")
    if present is None or present < 4 or host is None or host.place is None:
        return None
    disk = host.place.disk
    if disk is None or disk.rotational is not False:
        return None
    doubt = " (a hypervisor's word: it need not be true)" if disk.virtual else ""
    return Advice(
        seen=f"random_page_cost = {present:g}; {disk.name} says that it does not rotate{doubt}",
        why="the default of 4 takes random reads for much dearer than those in order, with most of "
        "them from cache; where they cost little more, index scans are passed over. It changes "
        "plans, never the speed of one plan",
        change="random_page_cost = 1.1 to try: the manual's example for solid-state disks until "
        "October 2025; since then it names none, and a lower value for data that fits into memory",
        risk="none for data; plans change, and some for the worse: compare your own queries with "
        "EXPLAIN (ANALYZE, BUFFERS)",
        measure=Measure(
            "target.random_page_cost",
            (present, 1.1),
            "the plans of order entry are fixed by its keys: expect no change there, and judge by "
            "your own queries",
        ),
    )


@postgresql_rule(
    "autovacuum-off",
    "dead rows are never removed and statistics grow old",
    Severity.SPEED,
    postgresql_manual("19.10. Vacuuming: autovacuum", "runtime-config-vacuum.html#GUC-AUTOVACUUM"),
)
def autovacuum_off(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Autovacuum or track_counts is off in a running server."""
    if server.activity is None:
        return None
    off = [name for name in ("autovacuum", "track_counts") if server.settings.off(name)]
    if not off:
        return None
    return Advice(
        seen=", ".join(f"{name} = off" for name in off),
        why="tables and indexes grow with every update, plans go by old statistics, and only the "
        "forced vacuum against wraparound is left, at the worst time",
        change=", ".join(f"{name} = on" for name in off)
        + "; where it disturbs, make it gentler for single tables (autovacuum_vacuum_cost_delay)",
        risk="none for data; it reads and writes beside the load",
        measure=Measure(
            "target.autovacuum",
            ("off", "on"),
            "a short run shows what it costs, not what it saves: that takes hours",
            measure_s=300.0,
        ),
    )


@postgresql_rule(
    "wraparound",
    "transaction numbers are running out",
    Severity.DATA,
    postgresql_manual(
        "24.1.5. Preventing Transaction ID Wraparound Failures",
        "routine-vacuuming.html#VACUUM-FOR-WRAPAROUND",
    ),
)
def wraparound(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """The oldest database is older than twice autovacuum_freeze_max_age, or than 1.5 billion."""
    if server.activity is None:
        return None
    most = server.settings.number("autovacuum_freeze_max_age") or 200e6
    age = server.activity.oldest_xid_age
    if age <= min(2 * most, 1.5e9):
        return None
    return Advice(
        seen=f"the oldest database has not been frozen for {age:,} transactions; "
        f"autovacuum_freeze_max_age = {most:,.0f}",
        why="autovacuum should have frozen it long ago: something holds it back. At about 2 "
        "billion "
        "the server refuses to write",
        change="end what holds it back (old transactions, prepared transactions, replication "
        "slots), "
        "then VACUUM the tables with the largest age(relfrozenxid)",
        risk="none for data; VACUUM reads the whole tables",
        measure="nothing to measure: it is about staying alive",
    )


@postgresql_rule(
    "idle-in-transaction",
    "sessions sit in open transactions and do nothing",
    Severity.SPEED,
    postgresql_manual(
        "19.11. Client Connection Defaults: idle_in_transaction_session_timeout",
        "runtime-config-client.html#GUC-IDLE-IN-TRANSACTION-SESSION-TIMEOUT",
    ),
)
def idle_in_transaction(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """At least one for more than five minutes."""
    ages = server.activity.idle_in_transaction_s if server.activity else ()
    old = [age for age in ages if age > _IDLE_S]
    if not old:
        return None
    return Advice(
        seen=f"{len(old)} sessions, the oldest idle for {format_duration(round(max(old)))}; "
        "idle_in_transaction_session_timeout = "
        f"{server.settings.text('idle_in_transaction_session_timeout')}",
        why="they keep their locks, and vacuum cannot remove any row that died since they began: "
        "tables grow and queries wait",
        change="repair the program that leaves them open; idle_in_transaction_session_timeout = "
        "5min "
        "ends them",
        risk="the timeout rolls their transactions back and closes their sessions",
        measure="nothing to measure: the sessions are those of your programs",
    )


@postgresql_rule(
    "io-method",
    "reads wait for each other, although the version can read ahead by itself",
    Severity.LOOK,
    postgresql_manual(
        "19.4. Resource Consumption: io_method", "runtime-config-resource.html#GUC-IO-METHOD"
    ),
)
def io_method(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Version 18 or newer with io_method = sync."""
    if server.settings.text("io_method") != "sync":
        return None
    return Advice(
        seen="io_method = sync",
        why="a read that could go on beside the work is waited for, as before version 18",
        change="io_method = worker, the default",
        risk="none for data; a restart is needed",
        measure=Measure("target.io_method", ("sync", "worker"), cache="cold"),
    )


@postgresql_rule(
    "io-workers",
    "few processes read for many processors",
    Severity.NOTE,
    postgresql_manual(
        "19.4. Resource Consumption: io_workers", "runtime-config-resource.html#GUC-IO-WORKERS"
    ),
)
def io_workers(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """io_method is worker with the default of 3 on 16 processors or more."""
    present = server.settings.number("io_workers")
    if host is None or present is None or server.settings.text("io_method") != "worker":
        return None
    proposed = min(host.cores // 4, 32)
    if host.cores < 16 or present > 3 or proposed <= present:
        return None
    return Advice(
        seen=f"io_workers = {present:g} with {host.cores} processors",
        why="all reads ahead of all sessions go through these; the manual gives no formula, so "
        "only a comparison can tell",
        change=f"io_workers = {proposed}: one for four processors",
        risk="none for data",
        measure=Measure("target.io_workers", (int(present), proposed), cache="cold"),
    )


@postgresql_rule(
    "jit",
    "short queries may be compiled that run once",
    Severity.NOTE,
    postgresql_manual("30.2. When to JIT?", "jit-decision.html"),
)
def jit(server: PostgreSQLFacts, _host: HostFacts | None) -> Advice | None:
    """Jit is on and the server has what it needs."""
    if server.activity is None or not server.activity.jit_available:
        return None
    if not server.settings.on("jit"):
        return None
    return Advice(
        seen="jit = on, and LLVM is there",
        why="queries above jit_above_cost are compiled first: worth it for long ones that keep the "
        "processor busy; for short ones, whose cost was overestimated, it often takes longer than "
        "it saves",
        change="jit = off for roles whose queries are short; EXPLAIN (ANALYZE) shows what it took",
        risk="none for data; long queries lose",
        measure=Measure("target.jit", ("on", "off")),
    )


@postgresql_rule(
    "track-io-timing",
    "nobody can see how long reads and writes take",
    Severity.NOTE,
    postgresql_manual(
        "19.9. Run-time Statistics: track_io_timing",
        "runtime-config-statistics.html#GUC-TRACK-IO-TIMING",
    ),
)
def track_io_timing(server: PostgreSQLFacts, host: HostFacts | None) -> Advice | None:
    """Off in a running server."""
    if server.activity is None or not server.settings.off("track_io_timing"):
        return None
    clock = f" (here: {host.clock_source})" if host and host.clock_source else ""
    return Advice(
        seen="track_io_timing = off",
        why="EXPLAIN (ANALYZE, BUFFERS), pg_stat_io and autovacuum's log lines lack the times that "
        "tell a slow disk from a slow plan",
        change="track_io_timing = on where the clock is fast: pg_test_timing shows it",
        risk=f"none for data; two readings of the clock for each read or write{clock}",
        measure=Measure("target.track_io_timing", ("off", "on")),
    )
