"""What the doctor saw of an Apache Superset. What could not be seen is None, never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BROWSER_CONNECTIONS = 6
"""Of a browser to one server: an opened dashboard asks for so many charts at a time."""


@dataclass(frozen=True)
class SupersetFacts:
    """A Superset as an experiment plans it, or as its configuration and processes are."""

    told_by: str
    """`the experiment`, or the file that was read."""
    nodes: int = 1
    workers: int | None = None
    """Of a node."""
    threads: int | None = None
    """Of a worker."""
    cache: str | None = None
    """Kind of the cache of answers: `RedisCache`, `NullCache`, `FileSystemCache`."""
    cache_life_s: float | None = None
    """So long an answer is kept."""
    cache_bytes: int | None = None
    """`maxmemory` of its Redis; 0: no limit."""
    cache_policy: str | None = None
    """`maxmemory-policy` of its Redis."""
    pool: int | None = None
    """Most connections of a worker to the catalogue; 0: no pool, each request opens its own."""
    pool_is_default: bool = True
    hashing: str | None = None
    """`scrypt`, `pbkdf2:1000`."""
    event_log: bool | None = None
    """Each request writes a row of the catalogue's table of events."""
    username_index: bool | None = None
    accounts: int | None = None
    users: int | None = None
    """At a time."""
    log_ins_per_s: float | None = None
    """As the experiment ramps."""
    maxconn: int | None = None
    """Connections that the balancer may have; 0: what its open files allow."""
    nofile: int | None = None
    """Open files that a process of it may have."""
    worker_folder: str | None = None
    """Where workers write that they live."""
    worker_folder_in_memory: bool | None = None
    key: Literal["own", "random", "known"] | None = None
    """The key: a fixed one, one that each start makes anew, or one that everybody knows."""
    catalogue: str | None = None
    """Kind of the database of the catalogue: `postgresql`, `sqlite`."""

    @property
    def at_a_time(self) -> int | None:
        """Requests that all nodes answer at a time."""
        if self.workers is None or self.threads is None:
            return None
        return self.nodes * self.workers * self.threads

    @property
    def connections(self) -> int | None:
        """Of the browsers of all users, at the balancer."""
        return None if self.users is None else BROWSER_CONNECTIONS * self.users
