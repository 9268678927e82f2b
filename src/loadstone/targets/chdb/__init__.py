"""chDB, ClickHouse in process, as a target: the engine runs in the runner, on a folder."""

from loadstone.targets.chdb.target import ChDB

__all__ = ["ChDB"]
