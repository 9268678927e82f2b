"""PostgreSQL as a target: embedded, local, or at an address."""

from loadstone.targets.postgresql.target import PostgreSQL

__all__ = ["PostgreSQL"]
