"""A system under test that holds tables and answers SQL."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from loadstone.errors import TargetError
from loadstone.results.record import Fingerprint
from loadstone.targets.base import Target
from loadstone.targets.dialect import Dialect
from loadstone.targets.schema import Table


class Database(Target, ABC):
    """A target with tables."""

    serves = True
    dialect: ClassVar[Dialect]
    usual_keys: ClassVar[Literal["none", "keys", "foreign"]] = "foreign"
    """What its owners make for queries over most rows: nothing, primary keys, or foreign keys with
    an index each as well."""
    files_form: ClassVar[Literal["parquet", "csv"]] = "csv"
    """Of the files that it loads best."""

    def check_ready(self) -> None:
        """Asks for a row."""
        self.query("SELECT 1")

    # -- tables --------------------------------------------------------------------------------
    @abstractmethod
    def create_tables(self, tables: Sequence[Table]) -> None:
        """Makes empty tables, ready to be loaded in bulk."""

    def load_files(self, table: Table, files: Sequence[Path], *, sessions: int) -> None:
        """Stores the rows of files in a table that was made for them.

        Args:
            table: Whose columns are those of the files, in their order.
            files: In `files_form`; CSV with a header line, and quotes where they are needed.
            sessions: That may load at a time.

        Raises:
            TargetError: If the target does not offer `files`, or refuses a row.
        """
        raise TargetError(f"{self.engine} loads no files")

    @abstractmethod
    def analyse(self) -> None:
        """Makes the statistics of all tables that the engine plans queries with."""

    @abstractmethod
    def finish_tables(self, tables: Sequence[Table]) -> None:
        """Adds the keys and indexes that are better made after the load."""

    @abstractmethod
    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        """Rows and sums of the tables.

        Args:
            tables: Table name: SQL expression over a row, an integer of 64 bits at most, whose
                sum is taken without overflow: the same data gives the same sums on every engine.
        """

    @abstractmethod
    def size_bytes(self) -> int:
        """Size of the database (relations and indexes), without logs."""

    # -- statements ----------------------------------------------------------------------------
    @abstractmethod
    def execute(self, script: str) -> None:
        """Runs a script of statements, outside a transaction block, one after the other."""

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Runs one query and returns its rows."""

    @abstractmethod
    def index_names(self, table: str) -> set[str]:
        """Names of the indexes of a table that are complete and in use."""

    def make_second_place(self) -> None:
        """Makes the place that tables can be moved to, empty; the next `restore` removes it.

        It lies where the spec of the last `restore` has its archive.

        Raises:
            TargetError: If the target does not offer `second-place`.
        """
        raise TargetError(f"{self.engine} has no second place for tables")

    def moved(self, table: str) -> set[str]:
        """Of a table and its indexes, the names of those that lie in the second place."""
        return set()

    def log_bytes(self) -> int | None:
        """How much the engine has written to its log so far; None where that is not known.

        The difference of two readings counts.
        """
        return None


def fingerprint_of(rows: Mapping[str, int], sums: Mapping[str, str], size: int) -> Fingerprint:
    """The fingerprint of data; its digest is the same on every engine that holds the same data.

    Args:
        rows: Table: number of rows.
        sums: Table: sum over its rows, as a plain integer.
        size: Bytes of the database.
    """
    digest = hashlib.sha256(json.dumps([rows, sums], sort_keys=True).encode()).hexdigest()
    return Fingerprint(rows=dict(rows), sums=dict(sums), size_bytes=size, digest=digest)
