"""How many connections to the catalogue the workers have in use, of those that their pools give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from loadstone.results import limits
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql.asking import PROBE_NAME, AskingProbe

TAKEN_SHARE = 0.5
"""All are in use for so much of the time: the next request waits for one."""
_IN_USE = f"""
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle'
  AND application_name <> '{PROBE_NAME}'
"""


@dataclass(frozen=True)
class Taken:
    """Connections in use at a time of the trial's clock."""

    t_s: float
    connections: float


class PoolProbe(AskingProbe):
    """Asks PostgreSQL twice a second: a connection that the pool has back is idle there.

    A request has its connection from its first statement to its end, most of the time between two
    statements (`idle in transaction`).
    """

    name = "superset-pool"
    interval_s = 0.5

    def __init__(self, catalogue: ServerConnection, most: int) -> None:
        """Connects nothing yet.

        Args:
            catalogue: The database that the pools are of.
            most: Connections of all pools together.
        """
        super().__init__(catalogue)
        self._most = most
        self._seen: list[Taken] = []

    def sample(self, t_s: float) -> list[Sample]:
        """Those in use now."""
        taken = self.tried(self._count)
        if taken is None:
            return []
        self._seen.append(Taken(t_s, taken))
        return [Sample(t_s, self.name, "pool_connections_in_use_count", taken)]

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """The pools together."""
        return pool_uses([each for each in self._seen if from_s <= each.t_s <= to_s], self._most)

    def _count(self) -> float:
        row = self.asked(_IN_USE).fetchone()
        return float(row[0]) if row else 0.0


def pool_uses(seen: Sequence[Taken], most: int) -> list[ResourceUse]:
    """Whether all connections were in use. Pure.

    Args:
        seen: Those in use, over an interval.
        most: Of all pools together.
    """
    if not seen:
        return []
    share = sum(each.connections >= most for each in seen) / len(seen)
    evidence = (
        f"all {most} connections to the catalogue were in use in {100 * share:.0f} % of the time; "
        f"{fmean(each.connections for each in seen):.1f} on average"
    )
    return [limits.use_of(limits.POOL, share, evidence, full=share >= TAKEN_SHARE)]
