"""What the active sessions wait for, sampled from pg_stat_activity."""

from __future__ import annotations

from loadstone.targets import probing
from loadstone.targets.postgresql.asking import PROBE_NAME, AskingProbe

_MINE = "loadstone"

_ACTIVE = f"""
SELECT coalesce(wait_event_type, 'CPU'), coalesce(wait_event, 'CPU'), count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend'
  AND application_name NOT IN ('{PROBE_NAME}', '{_MINE}')
GROUP BY 1, 2
"""


class WaitsProbe(AskingProbe, probing.WaitsProbe):
    """Active sessions by `wait_event`; a session without one counts as `CPU`."""

    name = "postgresql-waits"

    def look(self) -> list[tuple[str, str, int]]:
        """Counts in the server."""
        return self.asked(_ACTIVE).fetchall()
