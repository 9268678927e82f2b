"""What the server counts, as rates per second."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.targets.connection import ServerConnection
from loadstone.targets.postgresql import counters
from loadstone.targets.postgresql.asking import AskingProbe
from loadstone.targets.probing import CountersProbe


class StatisticsProbe(AskingProbe, CountersProbe):
    """Deltas of the pg_stat_* views."""

    name = "postgresql"
    rare = frozenset(
        {"checkpoints_timed", "checkpoints_requested", "deadlocks", "conflicts", "wal_files"}
    )

    def __init__(self, connection: ServerConnection) -> None:
        super().__init__(connection)
        self._query = ""
        self._levels: dict[str, float] = {}

    def connect(self) -> None:
        """Connects and chooses the query for the server's version."""
        super().connect()
        self._query = counters.query(self.version())

    def sample(self, t_s: float) -> list[Sample]:
        """Rates since the last sample, and levels now."""
        samples = super().sample(t_s)
        levels = self._levels if samples else {}
        return samples + [
            Sample(t_s, self.name, f"{name}_count", value) for name, value in levels.items()
        ]

    def derived(self, moved: Mapping[str, float]) -> dict[str, float]:
        """How many of the blocks that were asked for lay in shared buffers."""
        hits, reads = moved.get("block_hits", 0.0), moved.get("block_reads", 0.0)
        return {"cache_hit_percent": 100 * hits / (hits + reads)} if hits + reads > 0 else {}

    def notices(self) -> list[Notice]:
        """Checkpoints that WAL forced, deadlocks, and whether the server was lost."""
        found = []
        forced = self.moved("checkpoints_requested")
        if forced:
            found.append(
                Notice(
                    code="forced-checkpoints",
                    severity="info",
                    message=f"the WAL forced {forced:g} checkpoints while load ran",
                    advice="max_wal_size decides this; compare only trials with a like number",
                )
            )
        deadlocks = self.moved("deadlocks")
        if deadlocks:
            found.append(
                Notice(
                    code="deadlocks",
                    severity="info",
                    message=f"the server resolved {deadlocks:g} deadlocks while load ran",
                )
            )
        return [*found, *super().notices()]

    def read_counters(self) -> dict[str, float]:
        """One row with all of them."""
        cursor = self.asked(self._query)
        row = cursor.fetchone()
        if row is None or cursor.description is None:
            return {}
        names = [column.name for column in cursor.description]
        values = {
            name: float(value) for name, value in zip(names, row, strict=True) if value is not None
        }
        self._levels = {name: value for name, value in values.items() if name in counters.LEVELS}
        return {name: value for name, value in values.items() if name not in counters.LEVELS}
