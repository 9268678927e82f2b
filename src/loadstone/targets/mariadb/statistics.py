"""What the server counts, as rates per second, and the levels it stands at."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.targets.connection import ServerConnection
from loadstone.targets.mariadb import counters
from loadstone.targets.mariadb.client import Client
from loadstone.targets.probing import CountersProbe

_METRICS = (
    "SELECT name, type, count FROM information_schema.INNODB_METRICS "
    "WHERE enabled AND type <> 'status_counter'"
)
"""A `status_counter` is a status variable by another name."""


class StatisticsProbe(CountersProbe):
    """Deltas of SHOW GLOBAL STATUS, and of INNODB_METRICS where it is enabled."""

    name = "mariadb"
    rare = counters.RARE

    def __init__(self, connection: ServerConnection) -> None:
        super().__init__()
        self._client = Client(connection)
        self._levels: dict[str, float] = {}

    def connect(self) -> None:
        """Connects."""
        self._client.query("SELECT 1")

    def disconnect(self) -> None:
        """Disconnects."""
        self._client.close()

    def sample(self, t_s: float) -> list[Sample]:
        """Rates since the last sample, and levels now."""
        samples = super().sample(t_s)
        levels = self._levels if samples else {}
        return samples + [Sample(t_s, self.name, name, value) for name, value in levels.items()]

    def derived(self, moved: Mapping[str, float]) -> dict[str, float]:
        """How many of the pages that were asked for lay in the buffer pool."""
        requests, reads = moved.get("block_requests", 0.0), moved.get("block_reads", 0.0)
        if requests <= 0:
            return {}
        return {"cache_hit_percent": 100 * max(0.0, requests - reads) / requests}

    def read_counters(self) -> dict[str, float]:
        """Status variables and InnoDB's own metrics."""
        status = {
            name: float(value)
            for name, value in self._client.query("SHOW GLOBAL STATUS")
            if value.lstrip("-").replace(".", "", 1).isdigit()
        }
        metrics = self._client.query(_METRICS)
        self._levels = counters.levels(status) | {
            f"innodb_{name}": float(count) for name, kind, count in metrics if kind == "value"
        }
        return counters.rates(status) | {
            f"innodb_{name}": float(count) for name, kind, count in metrics if kind != "value"
        }

    def notices(self) -> list[Notice]:
        """Deadlocks, a redo log that was too small, and whether the server was lost."""
        found = []
        deadlocks = self.moved("deadlocks")
        if deadlocks:
            found.append(
                Notice(
                    code="deadlocks",
                    severity="info",
                    message=f"the server resolved {deadlocks:g} deadlocks while load ran",
                )
            )
        waits = self.moved("wal_buffer_waits")
        if waits:
            found.append(
                Notice(
                    code="log-buffer-waits",
                    severity="info",
                    message=f"{waits:g} times the redo log's buffer was full",
                    advice="innodb_log_buffer_size decides this",
                )
            )
        return [*found, *super().notices()]
