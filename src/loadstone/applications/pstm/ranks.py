"""The ranks of a migration: an MPI world by mpi4py, or one rank where nothing launched several."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

import numpy as np

from loadstone.applications.pstm.configuration import Floats
from loadstone.errors import WrongInputError

_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK")
"""A rank that an MPI launcher has started finds one of them in its environment."""
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "PMI_SIZE", "SLURM_NTASKS")
"""Where such a launcher says how many ranks it started, the innermost first."""
FAILED = 2


class Ranks:
    """One rank among those of its world, as the MPI library tells of it."""

    def __init__(self, world: Any | None) -> None:
        """Take a place.

        Args:
            world: The communicator of mpi4py; None: there is this rank alone.
        """
        self._world = world
        self.rank: int = 0 if world is None else world.Get_rank()
        self.size: int = 1 if world is None else world.Get_size()

    @property
    def is_first(self) -> bool:
        """It tells of the rest."""
        return self.rank == 0

    def hosts(self) -> list[str]:
        """The host of each rank, at the first one; empty at the others."""
        own = socket.gethostname()
        return [own] if self._world is None else self._world.gather(own) or []

    def share(self, count: int) -> tuple[int, int]:
        """Begin and end of what this rank does of so many things in a row."""
        return count * self.rank // self.size, count * (self.rank + 1) // self.size

    def sum(self, values: Floats) -> Floats:
        """The sums over all ranks, at the first one; shape as given."""
        if self._world is None:
            return values
        total = np.zeros_like(values)
        self._world.Reduce(values, total if self.is_first else None)
        return total

    def abort(self) -> None:
        """Ends the other ranks, which would wait for this one."""
        if self._world is not None and self.size > 1:
            self._world.Abort(FAILED)


def joined(environment: Mapping[str, str] = os.environ) -> Ranks:
    """The place of this process.

    Raises:
        WrongInputError: If it was started as one of several, and mpi4py is missing.
    """
    if not any(name in environment for name in _LAUNCHED):
        return Ranks(None)
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        asked = next((environment[name] for name in _SIZES if name in environment), "1")
        if asked == "1":
            return Ranks(None)
        reason = str(error).partition("\n")[0]
        raise WrongInputError(
            f"this is one of {asked} ranks, and mpi4py cannot be used: {reason}",
            advice="pip install 'loadstone[jobs]', and openmpi-bin of Debian on each node",
        ) from error
    return Ranks(MPI.COMM_WORLD)
