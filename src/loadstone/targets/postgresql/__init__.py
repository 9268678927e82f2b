"""PostgreSQL as a target: embedded, local, or at an address."""

from loadstone.targets.postgresql.owned import OwnedPostgreSQL
from loadstone.targets.postgresql.remote import RemotePostgreSQL
from loadstone.targets.postgresql.target import PostgreSQL

__all__ = ["OwnedPostgreSQL", "PostgreSQL", "RemotePostgreSQL"]
