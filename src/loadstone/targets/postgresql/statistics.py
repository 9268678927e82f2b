"""What the server counts, as rates per second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from loadstone.probes.base import Probe, Sample
from loadstone.results.record import Notice
from loadstone.targets.base import Connection
from loadstone.targets.postgresql import counters
from loadstone.targets.postgresql.client import connect
from loadstone.targets.postgresql.waits import PROBE_NAME

if TYPE_CHECKING:
    import psycopg

_PER_INTERVAL = ("checkpoints_timed", "checkpoints_requested", "deadlocks", "conflicts")


class StatisticsProbe(Probe):
    """Deltas of the pg_stat_* views."""

    name = "postgresql"
    interval_s = 1.0

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._query = ""
        self._last: dict[str, float] = {}
        self._last_at_s = 0.0
        self._first: dict[str, float] = {}
        self._lost = ""

    def start(self) -> None:
        """Connects and takes the first reading."""
        self._connection = connect(self._to, PROBE_NAME)
        self._query = counters.query(self._connection.info.server_version // 10_000)
        self._first = self._last = self._read() or {}
        self._last_at_s = time.monotonic()

    def sample(self, t_s: float) -> list[Sample]:
        """The rates since the last sample."""
        now = self._read()
        if now is None:
            return []
        at_s = time.monotonic()
        length_s = max(at_s - self._last_at_s, 1e-3)
        # Counters go backwards when somebody resets them: then there is no rate.
        moved = {
            name: value - self._last[name]
            for name, value in now.items()
            if name in self._last and value >= self._last[name]
        }
        self._last, self._last_at_s = now, at_s
        samples = [
            Sample(t_s, self.name, *_metric(name, by, length_s)) for name, by in moved.items()
        ]
        hits, reads = moved.get("block_hits", 0.0), moved.get("block_reads", 0.0)
        if hits + reads > 0:
            samples.append(Sample(t_s, self.name, "cache_hit_percent", 100 * hits / (hits + reads)))
        return samples

    def stop(self) -> None:
        """Disconnects."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def notices(self) -> list[Notice]:
        """Checkpoints that WAL forced, deadlocks, and whether the server was lost."""
        found = []
        forced = self._moved("checkpoints_requested")
        if forced:
            found.append(
                Notice(
                    code="forced-checkpoints",
                    severity="info",
                    message=f"the WAL forced {forced:g} checkpoints while load ran",
                    advice="max_wal_size decides this; compare only trials with a like number",
                )
            )
        deadlocks = self._moved("deadlocks")
        if deadlocks:
            found.append(
                Notice(
                    code="deadlocks",
                    severity="info",
                    message=f"the server resolved {deadlocks:g} deadlocks while load ran",
                )
            )
        if self._lost:
            found.append(
                Notice(
                    code="probe-lost-server",
                    severity="warning",
                    message=f"{self.name} lost the server: {self._lost}",
                    advice="see the server's log; samples are missing from then on",
                )
            )
        return found

    def _moved(self, name: str) -> float:
        return self._last.get(name, 0.0) - self._first.get(name, 0.0)

    def _read(self) -> dict[str, float] | None:
        import psycopg

        if self._connection is None:
            return None
        try:
            cursor = self._connection.execute(self._query, prepare=True)
            row = cursor.fetchone()
        except psycopg.Error as error:
            self._lost = self._lost or " ".join(str(error).split())
            self.stop()
            return None
        if row is None or cursor.description is None:
            return None
        names = [column.name for column in cursor.description]
        return {
            name: float(value) for name, value in zip(names, row, strict=True) if value is not None
        }


def _metric(name: str, moved: float, length_s: float) -> tuple[str, float]:
    """Name with its unit, and value: rare events as a count of the interval, the rest as a rate."""
    if name in _PER_INTERVAL:
        return f"{name}_count", moved
    return f"{name}_per_s", moved / length_s
