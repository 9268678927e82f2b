"""An existing Grid Engine, used as an ordinary user from a submit host."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from loadstone.schedulers import gridengine
from loadstone.schedulers.base import SchedulerSpec
from loadstone.targets.cluster_at_address import TIME_LIMIT_S, ClusterAtAddress
from loadstone.targets.gridengine.address import GridEngineAddress


class GridEngineAtAddress(ClusterAtAddress):
    """A queue of somebody else's cluster."""

    engine = "gridengine"
    package = gridengine.PACKAGE
    host = "submit host"
    known_by = ("SGE_ROOT", "SGE_CELL")
    cures = (
        "qconf -sql shows the queues: gridengine://QUEUE",
        "qstat -f -explain E tells why; qmod -c clears an error (state E)",
    )

    @classmethod
    def spec_at(cls, server: str) -> SchedulerSpec:
        """Queue, project and the parallel environments that were named."""
        return GridEngineAddress.parse(server).scheduler_spec(TIME_LIMIT_S)

    @classmethod
    def missing(cls, spec: SchedulerSpec) -> list[str]:
        """Such as qsub."""
        return gridengine.GridEngine(spec).missing()

    @property
    def where(self) -> str:
        """The queue, or all of them."""
        queue = self.spec_at(self.spec.server).queue
        return f"queue {queue}" if queue else "this Grid Engine"

    def check_access(self) -> None:
        """Asks for the nodes, and for what the address names.

        Raises:
            TargetError: If Grid Engine does not answer, no node can take a job, or it knows no such
                project or parallel environment.
        """
        super().check_access()
        gridengine.GridEngine(self.plain_spec()).check_known()
        self.scheduler_spec()

    def scheduler_spec(self) -> SchedulerSpec:
        """As the address says, with the parallel environments that the queue has."""
        spec = self.plain_spec()
        known = {**self._environments, **spec.parallel_environments}
        return spec.model_copy(update={"parallel_environments": known})

    def inventory(self) -> dict[str, Any]:
        """Queue, project and parallel environments, too."""
        spec = self.scheduler_spec()
        said = {"queue": spec.queue, "project": spec.account}
        named = {name: value for name, value in said.items() if value}
        return super().inventory() | named | {"parallel_environments": spec.parallel_environments}

    @cached_property
    def _environments(self) -> dict[str, str]:
        """Those of the queue that place a whole number of ranks on each node; asked once."""
        return gridengine.GridEngine(self.plain_spec()).environments()
