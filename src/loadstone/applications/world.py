"""The size of the MPI world that an application was in, as its MPI library told it.

Where launcher and library do not match, each rank is alone in a world of one, without an error: the
result may be right, and the work was done once by each rank.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from loadstone.counting import how_many
from loadstone.errors import WrongInputError

WORLD_FILE = "world.json"
"""In the working folder: `{"size": 4, "hosts": ["n1", "n1", "n2", "n2"]}`, written by rank 0."""


def require_launcher(application: str, ranks: int) -> None:
    """Several ranks of one world want a launcher, where the nodes are of this machine.

    Raises:
        WrongInputError: If there is none.
    """
    if ranks > 1 and shutil.which("mpirun") is None:
        raise WrongInputError(
            f"{application} with {ranks} ranks needs mpirun, which is not installed",
            advice="install the Debian package openmpi-bin, or give ranks=1",
        )


def told_world(output: Path) -> int | None:
    """The size that `world.json` tells; None if there is none that can be read."""
    try:
        found = json.loads((output / WORLD_FILE).read_text(encoding="utf-8"))["size"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 0 else None


def world_problem(ranks: int, seen: int | None, by: str) -> str:
    """What is wrong with a world; empty: nothing.

    Args:
        ranks: That were asked for.
        seen: The size of the world, as the library told it.
        by: What told it: `Flow`, `world.json`.
    """
    asked = f"{how_many(ranks, 'rank')} asked"
    if seen is None:
        return f"{asked}, and {by} does not say how many there were"
    if seen == ranks:
        return ""
    of = how_many(seen, "rank")
    if seen < ranks and ranks % seen == 0:
        return f"{asked}, {ranks // seen} worlds of {of} seen"
    return f"{asked}, a world of {of} seen"
