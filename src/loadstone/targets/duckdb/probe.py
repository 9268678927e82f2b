"""What can be seen of DuckDB from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from loadstone.targets.local.files_probe import FilesProbe


class DuckDBProbe(FilesProbe):
    """Sizes of database and WAL."""

    name = "duckdb"
    beside: ClassVar[Mapping[str, str]] = {"wal_bytes": ".wal"}
