"""Order entry on every engine that this machine has."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loadstone.errors import LoadstoneError
from loadstone.experiments.journal import Journal
from loadstone.experiments.model import TargetSpec
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.dialect import Dialect
from loadstone.targets.registry import TARGETS
from loadstone.workloads.oltp.tables import TABLES

ENGINES = [name for name, target in TARGETS.items() if "transactions" in target.capabilities]


def available(engine: str) -> bool:
    try:
        TARGETS[engine].describe(TargetSpec(engine=engine))
    except LoadstoneError:
        return False
    return True


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[Target]:
    """An empty target, removed at the end."""
    journal = Journal(folder / "journal.jsonl", "pytest")
    target = TARGETS[engine](TargetSpec(engine=engine), TargetContext(journal, "pytest"))
    try:
        target.open()
        yield target
    finally:
        target.close()
        journal.close()


def populate(target: Target, warehouses: int) -> None:
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


@contextmanager
def undone(target: Target) -> Iterator[None]:
    """A transaction of the target's own connection that is rolled back."""
    target.execute("BEGIN")
    try:
        yield
    finally:
        target.execute("ROLLBACK")
