"""All rules. Importing this registers them, in the order in which they are told."""

from loadstone.doctor.rules import (  # noqa: F401
    host_flushes,
    host_group,
    host_memory,
    host_processor,
    host_storage,
    mariadb_log,
    mariadb_memory,
    mariadb_sessions,
    messages,
    postgresql_durability,
    postgresql_memory,
    postgresql_shared,
    postgresql_wal,
    postgresql_work,
    sqlite,
    superset_nodes,
    superset_people,
)
from loadstone.doctor.rules.base import RULES

__all__ = ["RULES"]
