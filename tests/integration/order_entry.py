"""Order entry on every engine that this machine has."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loadstone.errors import LoadstoneError
from loadstone.journal import Journal
from loadstone.load.driver import Driver
from loadstone.load.totals import LoadLog, LoadTotals
from loadstone.protocol.frames import parse_frame
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.targets.registry import TARGETS, target_for
from loadstone.workloads.oltp.parameters import OPERATIONS
from loadstone.workloads.oltp.tables import TABLES

ENGINES = [name for name, target in TARGETS.items() if "transactions" in target.capabilities]


def available(engine: str) -> bool:
    try:
        spec = TargetSpec(engine=engine)
        target_for(spec).describe(spec)
    except LoadstoneError:
        return False
    return True


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[Database]:
    """An empty target, removed at the end."""
    journal = Journal(folder / "journal.jsonl", "pytest")
    spec = TargetSpec(engine=engine)
    target = target_for(spec)(spec, TargetContext(journal, "pytest"))
    assert isinstance(target, Database)
    try:
        target.open()
        yield target
    finally:
        target.close()
        journal.close()


def populate(target: Database, warehouses: int) -> None:
    """Tables, rows and indexes, written by the engine itself."""
    script = (Path(__file__).parent / "oltp_population.sql").read_text()
    target.create_tables(TABLES)
    target.execute(in_dialect(script, target.dialect, warehouses=warehouses))
    target.finish_tables(TABLES)


def in_dialect(script: str, dialect: Dialect, warehouses: int = 0) -> str:
    """The script with its figures as the engine keeps them."""
    return script.format(
        warehouses=warehouses,
        cent="1" if dialect.scaled_decimals else "0.01",
        rate="1" if dialect.scaled_decimals else "0.0001",
        dists=", ".join(["'d'"] * 10),
        x24="x" * 24,
        x400="x" * 400,
    )


def drive(plan: dict[str, Any], enough: Callable[[LoadTotals], bool]) -> LoadLog:
    """Has the driver run until what it measured is enough, or to the plan's end."""
    log, stopped = LoadLog(), False

    def take(frame: dict[str, Any]) -> None:
        nonlocal stopped
        log.add(parse_frame(frame))
        if not stopped and frame["frame"] == "tick" and enough(log.measured()):
            stopped = True
            driver.stop()

    with Driver(plan, take) as driver:
        driver.wait()
    return log


def each_has_run(measured: LoadTotals) -> bool:
    """Whether there was one transaction of each kind at least."""
    return all(
        name in measured.operations and measured.operations[name].count for name in OPERATIONS
    )


@contextmanager
def undone(target: Database) -> Iterator[None]:
    """A transaction of the target's own connection that is rolled back."""
    target.execute("BEGIN")
    try:
        yield
    finally:
        target.execute("ROLLBACK")
