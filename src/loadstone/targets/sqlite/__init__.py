"""SQLite as a target: the engine runs in the load driver, the data are one file."""

from loadstone.targets.sqlite.target import SQLite

__all__ = ["SQLite"]
