"""What order entry's checks and fingerprint cost beside reading its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic

from benchmarks.driving import drive
from benchmarks.server import SETTINGS, Server, server
from benchmarks.table import Aim, Report, median, spread
from loadstone.load.profiles import run_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.database import Database
from loadstone.targets.schema import Column, Table
from loadstone.units import format_size
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.oltp.conditions import CONDITIONS
from loadstone.workloads.oltp.tables import TABLES
from loadstone.workloads.oltp.workload import OrderEntry

SIZES = {"postgresql": (4, 40), "mariadb": (4, 40)}
"""Engine: warehouses."""
ROUNDS = 3
QUERIES_UP_TO = 4
"""Warehouses up to which the queries are run in each round; with more they are run once."""
MOST = 3.0
SECONDS = 10.0
_Taken = Mapping[str, Sequence[float]]


def measure() -> Report:
    """Each engine and size in turn, on data with a short load in them."""
    taken = dict(_measured())
    rows = [
        (
            label,
            *(spread(times[each]) for each in ("scan", "fingerprint", "checks")),
            spread(_ratios(times)),
            spread(times["queries"]),
        )
        for label, times in taken.items()
    ]
    aims = []
    for label, times in taken.items():
        ratio = median(_ratios(times))
        aims.append(Aim(f"{label}: ratio", ratio, "", f"<= {MOST:g}", ratio <= MOST))
    return Report(
        title="Checks of order entry beside a scan of its tables",
        how=f"A scan sums every column of every row of the nine tables (the octets of texts), by "
        f"the same session, after {SECONDS:g} s of load by 8 users; {ROUNDS} rounds in turn, "
        "seconds, median and range. The ratio is fingerprint and checks together to the scan. "
        "The twelve queries are what the checks were before: each condition by itself, run "
        f"once on large data; shared_buffers {SETTINGS['postgresql']['shared_buffers']}, data on "
        "a memory file system.",
        header=("", "scan", "fingerprint", "checks", "ratio", "the twelve queries"),
        rows=rows,
        aims=aims,
    )


def _ratios(times: _Taken) -> list[float]:
    parts = (times[each] for each in ("scan", "fingerprint", "checks"))
    return [(own + more) / scan for scan, own, more in zip(*parts, strict=True)]


def _measured() -> Iterator[tuple[str, _Taken]]:
    for engine, sizes in SIZES.items():
        for warehouses in sizes:
            with server(engine) as started:
                workload = OrderEntry(OrderEntry.Parameters(warehouses=warehouses))
                started.build(workload)
                started.target.settle("warm")
                measured = _loaded(started, workload)
                size = format_size(started.target.size_bytes())
                label = f"{started.version}, {warehouses} warehouses ({size})"
                yield label, _rounds(started.target, workload, measured, warehouses)


def _loaded(on: Server, workload: OrderEntry) -> Measured:
    """A short load, so that there is something to check."""
    profile = ProfileSpec.model_validate({"users": 8, "measure": f"{SECONDS:g}s"})
    own = (workload.plan(on.context()), workload.pacing())
    begin = Observation(0.0, workload.observe(on.target))
    log = drive(run_plan(profile, *own, on.connection, 42))
    return log.of_workload(begin, Observation(SECONDS, workload.observe(on.target)), None)


def _rounds(
    target: Database, workload: OrderEntry, measured: Measured, warehouses: int
) -> dict[str, list[float]]:
    scans = [_scan(target, table) for table in TABLES]
    queries = [condition.sql(target.dialect) for condition in CONDITIONS]
    acts: dict[str, Callable[[], object]] = {
        "scan": lambda: [target.query(sql) for sql in scans],
        "fingerprint": lambda: workload.fingerprint(target),
        "checks": lambda: _check(target, workload, measured),
        "queries": lambda: [target.query(sql) for sql in queries],
    }
    took: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(ROUNDS):
        for name, act in acts.items():
            if name == "queries" and number and warehouses > QUERIES_UP_TO:
                continue
            with target.reading_all():
                begin = monotonic()
                act()
                took[name].append(monotonic() - begin)
    return took


def _check(target: Database, workload: OrderEntry, measured: Measured) -> None:
    results = workload.check(target, measured.begin.counters, measured)
    if failed := [each for each in results if not each.passed]:
        raise AssertionError(f"the checks failed: {failed}")


def _scan(target: Database, table: Table) -> str:
    """Reads every column of every row."""

    def read(column: Column) -> str:
        if column.type.name in ("char", "varchar"):
            return f"sum({target.dialect.octets(column.name)})"
        return f"{'max' if column.type.name == 'timestamp' else 'sum'}({column.name})"

    return f"SELECT count(*), {', '.join(map(read, table.columns))} FROM {table.name}"
