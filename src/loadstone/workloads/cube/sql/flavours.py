"""What engines do each in their own way when they work on a cube."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from loadstone.errors import WrongInputError
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.tables import AMOUNTS, KEYS
from loadstone.workloads.cube.sql.work import Work, at_once


class Flavour(ABC):
    """An engine's way."""

    key_type: ClassVar[str] = "smallint"
    amount_type: ClassVar[str] = "double precision"
    shares_work: ClassVar[bool] = True
    """One session uses as many threads as it is told; else several sessions do a part each."""
    reads_lines: ClassVar[bool] = False
    """It reads the file of cells itself; else the driver parses it."""
    checkpoint: ClassVar[tuple[str, ...]] = ()
    """Ends each step: what it made is on the disk."""

    def cells(self, name: str, *, scratch: bool = False) -> str:
        """Makes a table of cells; a scratch one need not survive anything."""
        columns = [f"{column} {self.key_type} NOT NULL" for column in KEY]
        columns += [f"{column} {self.amount_type}" for column in AMOUNTS]
        return f"{self._create(scratch)} {name} ({', '.join(columns)}){self._suffix(scratch)}"

    def _create(self, scratch: bool) -> str:
        return "CREATE TABLE"

    def _suffix(self, scratch: bool) -> str:
        return ""

    def dropped(self, name: str) -> str:
        """Drops a table, if it is there."""
        return f"DROP TABLE IF EXISTS {name}"

    def renamed(self, name: str, to: str) -> str:
        """Gives a table another name."""
        return f"ALTER TABLE {name} RENAME TO {to}"

    thread_settings: ClassVar[tuple[str, ...]]
    """Settings of the engine by which a work is told how many threads it has."""

    def threads(self, threads: int) -> tuple[str, ...]:
        """What a session is told before it works."""
        return tuple(f"SET {name} = {threads}" for name in self.thread_settings)

    def as_before(self) -> tuple[str, ...]:
        """What a session is told after it: what follows has the threads that it had before."""
        return tuple(f"RESET {name}" for name in self.thread_settings)

    @abstractmethod
    def hash_of_all(self, keys: Sequence[str], amounts: Sequence[str]) -> str:
        """The sum of a hash of each row, of which amounts may be missing: the order is all one."""

    def as_written(self, query: str) -> str:
        """A query whose joins are made in the order in which they are written."""
        return query

    def analysed(self, name: str) -> tuple[str, ...]:
        """What the planner needs to know of a table that was filled."""
        return ()

    def differs(self, one: str, other: str) -> str:
        """Whether two amounts differ, of which either may be missing."""
        return f"{one} IS DISTINCT FROM {other}"

    def finished(self, name: str) -> tuple[str, ...]:
        """What a table of cells needs for retrieval once it is filled."""
        return ()

    def spread(self, made: Callable[[str], str], column: str, threads: int) -> Work:
        """A statement for all members of a dimension, by as many threads as are asked for.

        Args:
            made: The statement with a further condition, which begins with ` AND ` if there is any.
            column: Of a dimension, of the rows that the condition is about (`c.entity`).
            threads: At most so many.
        """
        if self.shares_work:
            return at_once([(*self.threads(threads), made(""))])
        return at_once(
            [
                (*self.threads(1), made(f" AND mod({column}, {threads}) = {part}"))
                for part in range(threads)
            ]
        )


class DuckDB(Flavour):
    """DuckDB: zones of sorted rows take the place of an index; its own threads share the work."""

    thread_settings = ("threads",)
    reads_lines = True
    checkpoint = ("CHECKPOINT",)

    def hash_of_all(self, keys: Sequence[str], amounts: Sequence[str]) -> str:
        """64 bits; sums have 128."""
        return f"sum(hash({', '.join([*keys, *amounts])}))"


class PostgreSQL(Flavour):
    """PostgreSQL: a query that inserts has one process, so that several sessions share the work."""

    thread_settings = ("max_parallel_workers_per_gather", "max_parallel_maintenance_workers")
    shares_work = False
    checkpoint = ("CHECKPOINT",)

    def _create(self, scratch: bool) -> str:
        return "CREATE UNLOGGED TABLE" if scratch else "CREATE TABLE"

    def threads(self, threads: int) -> tuple[str, ...]:
        """The workers of a query, or of an index that is made, come beside its first process."""
        return super().threads(threads - 1)

    def hash_of_all(self, keys: Sequence[str], amounts: Sequence[str]) -> str:
        """64 bits; sums are exact. NaN is in the place of NULL, whose hash is that of 0."""
        told = [*keys, *(f"coalesce({amount}, 'NaN')" for amount in amounts)]
        return f"sum(hash_record_extended(ROW({', '.join(told)}), 0))"

    def analysed(self, name: str) -> tuple[str, ...]:
        """Without statistics it takes a table that was just filled for a small one."""
        return (f"ANALYZE {name}",)

    def finished(self, name: str) -> tuple[str, ...]:
        """A B-tree."""
        return (f"CREATE INDEX ON {name} ({KEYS})", *self.analysed(name))


class ClickHouse(Flavour):
    """ClickHouse: tables are sorted by their key; its own threads share the work."""

    thread_settings = ("max_threads", "max_insert_threads")
    key_type = "Int16"
    amount_type = "Nullable(Float64)"

    def cells(self, name: str, *, scratch: bool = False) -> str:
        """Members are never null, as columns are there unless they say so."""
        return super().cells(name, scratch=scratch).replace(" NOT NULL", "")

    def _suffix(self, scratch: bool) -> str:
        return f" ENGINE = MergeTree ORDER BY ({'tuple()' if scratch else KEYS})"

    def dropped(self, name: str) -> str:
        """Its files go at once."""
        return f"DROP TABLE IF EXISTS {name} SYNC"

    def renamed(self, name: str, to: str) -> str:
        """Gives a table another name."""
        return f"RENAME TABLE {name} TO {to}"

    def as_before(self) -> tuple[str, ...]:
        """What a session is told after its work."""
        return tuple(f"SET {name} = DEFAULT" for name in self.thread_settings)

    def hash_of_all(self, keys: Sequence[str], amounts: Sequence[str]) -> str:
        """64 bits, in an integer that sums do not overflow; as text: Arrow has no such integer."""
        return f"toString(sum(toInt128(sipHash64(tuple({', '.join([*keys, *amounts])})))))"

    def as_written(self, query: str) -> str:
        """Its planner may begin with two tables that have nothing in common."""
        return f"{query} SETTINGS query_plan_optimize_join_order_limit = 0"


FLAVOURS: dict[str, Flavour] = {
    "duckdb": DuckDB(),
    "postgresql": PostgreSQL(),
    "clickhouse": ClickHouse(),
}
"""By the name of the dialect."""


def flavour_of(dialect: str) -> Flavour:
    """An engine's way.

    Raises:
        WrongInputError: If the cube has none for it.
    """
    if dialect not in FLAVOURS:
        raise WrongInputError(
            f"the cube has no statements for {dialect}",
            advice=f"choose a target that speaks one of {', '.join(FLAVOURS)}",
        )
    return FLAVOURS[dialect]
