"""How many sessions a server that Loadstone starts lets in, where nobody has said it."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from loadstone.spec.base import Level

MAX_CONNECTIONS = "max_connections"
"""The setting has one name in PostgreSQL and MariaDB."""
FEWEST_CONNECTIONS = 300
"""The defaults of both are less than many loads have users."""
_SPARE = 20
"""For Loadstone's own: who looks on and checks, and those that PostgreSQL reserves."""
_STEP = 100


def room_for(sessions: int, said: Iterable[str]) -> dict[str, Level]:
    """The setting that lets so many sessions in, as a round figure with some to spare.

    Args:
        sessions: Of the load, at a time.
        said: Plain names of the settings that somebody has chosen.

    Returns:
        Nothing where the server lets so many in anyway, or somebody has chosen how many.
    """
    wanted = _STEP * ceil((sessions + _SPARE) / _STEP)
    if wanted <= FEWEST_CONNECTIONS or MAX_CONNECTIONS in said:
        return {}
    return {MAX_CONNECTIONS: wanted}
