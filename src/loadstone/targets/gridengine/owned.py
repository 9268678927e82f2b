"""A Grid Engine of Loadstone's own, on nodes of this machine."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from loadstone.cluster.node import Node
from loadstone.errors import TargetError
from loadstone.host.locality import at_address
from loadstone.results.record import FactorReading
from loadstone.schedulers.base import SchedulerError, SchedulerSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.cluster import ClusterSetting
from loadstone.targets.cluster_settings import NODE_SETTINGS, NODE_TIMEOUT, NODE_TIMEOUT_SETTING
from loadstone.targets.gridengine.cell import PROGRAMS, QUEUE, Cell
from loadstone.targets.gridengine.daemons import Daemons, missing
from loadstone.targets.gridengine.remote import GridEngineAtAddress
from loadstone.targets.owned_cluster import OwnedCluster

_IN_ERROR = "E"


class GridEngine(OwnedCluster):
    """qmaster on the head, an execd on each node; all of its state is in the cluster's folder."""

    engine = "gridengine"
    address = "gridengine://QUEUE"
    declared: ClassVar[Mapping[str, ClusterSetting]] = {
        **NODE_SETTINGS,
        NODE_TIMEOUT: NODE_TIMEOUT_SETTING,
    }

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._cell: Cell | None = None
        self._daemons: Daemons | None = None

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """Another at an address."""
        return GridEngineAtAddress if at_address(spec) else cls

    @classmethod
    def missing(cls, spec: TargetSpec) -> str | None:
        """Programs of Grid Engine."""
        return missing()

    # -- its daemons ---------------------------------------------------------------------------
    def start_daemons(self, nodes: Sequence[Node]) -> None:
        """At first makes the cell and starts qmaster; then the execd of each of these nodes."""
        if self._daemons is None:
            self._cell = Cell(
                folder=self._sub("gridengine"),
                head=self.nodes.head.name,
                nodes={node.name: node.plan.slots for node in self.nodes.compute},
                user=pwd.getpwuid(os.geteuid()).pw_name,
                silent_s=int(self.number(NODE_TIMEOUT)),
            )
            self._daemons = Daemons(self.nodes.head, self._cell)
            self._daemons.start()
        for node in nodes:
            if node.plan.slots:
                self._daemons.start_node(node)

    def stop_daemons(self) -> None:
        """All of them run in nodes: they are waited for."""
        if self._daemons is not None:
            self._daemons.wait_ended()
        self._daemons = self._cell = None

    def ready(self) -> bool:
        """Whether every node can take jobs; a queue in error is cleared."""
        try:
            found = self.scheduler().nodes()
        except SchedulerError:
            return False
        if self._daemons is not None and any(_IN_ERROR in node.state for node in found):
            self._daemons.clear_errors()
            return False
        return sum(node.up for node in found) >= len(self.nodes.compute)

    def check_alive(self) -> None:
        """Looks at the nodes, and at the daemons of those that run."""
        super().check_alive()
        if self._daemons is not None:
            self._daemons.check_alive()

    # -- use -----------------------------------------------------------------------------------
    def scheduler_spec(self) -> SchedulerSpec:
        """Its commands run on the head."""
        cell = self._made
        return SchedulerSpec(
            kind=self.engine,
            environment={**cell.variables(), "PATH": str(PROGRAMS)},
            wrap=self.nodes.head.enter(),
            queue=QUEUE,
            parallel_environments=cell.environments(),
            yield_when_idle=bool(self.functional_only()),
        )

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """As of any cluster, with queues in error cleared; its own setting is read back.

        Raises:
            TargetError: If it is another than was asked for.
        """
        if all(node.runs for node in self.nodes.every):
            self.wait_ready()
        found = super().restore(key, spec)
        if NODE_TIMEOUT not in spec.settings or self._daemons is None:
            return found
        asked = spec.settings[NODE_TIMEOUT]
        has = self._daemons.silent_s()
        if float(asked) != has:
            raise TargetError(f"target.{NODE_TIMEOUT} reads back {has} after {asked}")
        reading = FactorReading(
            factor=f"target.{NODE_TIMEOUT}", requested=asked, read_back=has, how="restart"
        )
        return [*found, reading]

    def log_path(self) -> Path | None:
        """What qmaster writes of itself."""
        return None if self._cell is None else self._cell.spool / "qmaster" / "messages"

    def inventory(self) -> dict[str, Any]:
        """Queue and parallel environments, too."""
        environments = ", ".join(self._made.environments().values())
        return {**super().inventory(), "queue": QUEUE, "parallel_environments": environments}

    # -- inside --------------------------------------------------------------------------------
    @property
    def _made(self) -> Cell:
        if self._cell is None:
            raise TargetError("the cluster of gridengine is not open")
        return self._cell

    def _sub(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=0o755, exist_ok=True)
        return folder
