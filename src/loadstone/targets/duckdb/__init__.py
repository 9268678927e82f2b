"""DuckDB as a target: the engine runs in Loadstone's runner, the data are one file."""

from loadstone.targets.duckdb.target import DuckDB

__all__ = ["DuckDB"]
