"""What the active sessions wait for, sampled from pg_stat_activity."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from loadstone.errors import TargetError
from loadstone.probes.base import Probe, Sample
from loadstone.results.record import Notice, Wait
from loadstone.targets.base import Connection
from loadstone.targets.postgresql.client import connect

if TYPE_CHECKING:
    import psycopg

PROBE_NAME = "loadstone-probe"
_MINE = "loadstone"

_ACTIVE = f"""
SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'CPU'), count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend'
  AND application_name NOT IN ('{PROBE_NAME}', '{_MINE}')
GROUP BY 1, 2
"""


class WaitsProbe(Probe):
    """Counts active sessions by what they wait for; no wait means that they run, or want to (CPU).

    Each look is a snapshot, as in Oracle's active session history: a share of samples is a share of
    the time of the active sessions.
    """

    name = "postgresql-waits"
    interval_s = 0.1

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._seen: list[tuple[float, str, str, int]] = []
        self._lost = ""

    def start(self) -> None:
        """Connects."""
        self._connection = connect(self._to, PROBE_NAME)

    def sample(self, t_s: float) -> list[Sample]:
        """Looks once; one series per wait, `active_sessions` for all."""
        rows = self._look()
        if rows is None:
            return []
        self._seen += [(t_s, kind, event, count) for kind, event, count in rows]
        active = sum(count for _, _, count in rows)
        samples = [Sample(t_s, self.name, "active_sessions", float(active))]
        samples += [
            Sample(t_s, self.name, f"waiting_sessions:{kind}:{event}", float(count))
            for kind, event, count in rows
        ]
        return samples

    def stop(self) -> None:
        """Disconnects."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def waits(self, from_s: float, to_s: float) -> list[Wait]:
        """Over a stretch of the trial's clock, such as its measured phase."""
        counts: Counter[tuple[str, str]] = Counter()
        for t_s, kind, event, count in self._seen:
            if from_s <= t_s < to_s:
                counts[kind, event] += count
        total = counts.total()
        return [
            Wait(kind=kind, event=event, samples=samples, share=samples / total)
            for (kind, event), samples in counts.most_common()
        ]

    def notices(self) -> list[Notice]:
        """Says that the server was lost, if it was."""
        if not self._lost:
            return []
        return [
            Notice(
                code="probe-lost-server",
                severity="warning",
                message=f"{self.name} lost the server: {self._lost}",
                advice="see the server's log; samples are missing from then on",
            )
        ]

    def _look(self) -> list[tuple[str, str, int]] | None:
        import psycopg

        try:
            if self._connection is None:
                return None
            return self._connection.execute(_ACTIVE, prepare=True).fetchall()
        except (psycopg.Error, TargetError) as error:
            self._lost = self._lost or " ".join(str(error).split())
            self.stop()
            return None
