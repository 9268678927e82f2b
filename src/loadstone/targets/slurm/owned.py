"""A Slurm that Loadstone makes here: the controller on the head, a slurmd on each node."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import psutil

from loadstone.cluster.node import Node
from loadstone.errors import TargetError
from loadstone.host.locality import at_address
from loadstone.results.record import FactorReading
from loadstone.schedulers.base import MPIRUN, SchedulerError, SchedulerSpec
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.cluster import ClusterSetting
from loadstone.targets.cluster_settings import NODE_SETTINGS, NODE_TIMEOUT, NODE_TIMEOUT_SETTING
from loadstone.targets.mariadb import binaries
from loadstone.targets.owned_cluster import OwnedCluster
from loadstone.targets.slurm import daemons
from loadstone.targets.slurm.accounting import AccountingDatabase
from loadstone.targets.slurm.configuration import PARTITION, Configuration, ConfiguredNode
from loadstone.targets.slurm.daemons import Daemons
from loadstone.targets.slurm.launcher import (
    LAUNCHER,
    LAUNCHER_SETTING,
    check_launcher_here,
    launcher_of,
)
from loadstone.targets.slurm.remote import SlurmAtAddress

_ACCOUNTING = "accounting"
_SLURMDBD = "slurmdbd"
_SHOWN = {_ACCOUNTING: "AccountingStorageType", NODE_TIMEOUT: "SlurmdTimeout"}
"""Setting: what `scontrol show config` calls it."""
_OF_JOBS = {
    "TMPDIR": "/tmp",  # noqa: S108 - a node has one of its own
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader,tcp",
}
"""Variables of jobs: Open MPI talks by shared memory within a node, and by its link to others."""


class Slurm(OwnedCluster):
    """Slurm, with accounting by slurmdbd on a MariaDB of Loadstone's, or without any."""

    engine = "slurm"
    address = "slurm://PARTITION"
    declared: ClassVar[Mapping[str, ClusterSetting]] = {
        **NODE_SETTINGS,
        _ACCOUNTING: ClusterSetting(
            "who keeps accounts of jobs", "none", levels=("none", _SLURMDBD)
        ),
        NODE_TIMEOUT: NODE_TIMEOUT_SETTING,
        LAUNCHER: LAUNCHER_SETTING,
    }
    explained_facts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **OwnedCluster.explained_facts,
        **{
            name: (*OwnedCluster.explained_facts.get(name, ()), "slurm_conf")
            for name in ("nodes", "slots", _ACCOUNTING, NODE_TIMEOUT)
        },
    }

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._daemons: Daemons | None = None
        self._database: AccountingDatabase | None = None

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """Another at an address."""
        return SlurmAtAddress if at_address(spec) else cls

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """As of any cluster made here; srun must know the type of MPI that is asked for."""
        found = super().describe(spec)
        check_launcher_here(launcher_of(spec.with_only(cls._sound(spec))))
        return found

    @classmethod
    def missing(cls, spec: TargetSpec) -> str | None:
        """Programs of Slurm; where slurmdbd is to keep accounts, MariaDB's too."""
        accounting = spec.settings.get(_ACCOUNTING) == _SLURMDBD
        reason = daemons.missing(accounting=accounting)
        if accounting and not reason:
            binaries.find("local")
        return reason

    @classmethod
    def needs_mpirun(cls, spec: TargetSpec) -> bool:
        """Not where srun starts the ranks."""
        return launcher_of(spec) == MPIRUN

    # -- what it starts ------------------------------------------------------------------------
    def start_daemons(self, nodes: Sequence[Node]) -> None:
        """All of them where the head is among the nodes; else the slurmd of a node that came back.

        Raises:
            TargetError: If one does not start.
        """
        running = self._daemons or self._start_all()
        for node in nodes:
            if node.plan.slots:
                running.start_node(node)

    def stop_daemons(self) -> None:
        """The database; all else ends with the nodes."""
        if self._daemons is not None:
            self._daemons.wait_ended()
            self._daemons = None
        if self._database is not None:
            self._database.close()
            self._database = None

    def ready(self) -> bool:
        """Whether sinfo shows that every node is up."""
        try:
            found = self.scheduler().nodes()
        except SchedulerError:  # the controller does not answer yet
            return False
        return sum(node.up for node in found) == len(self.nodes.compute)

    def check_alive(self) -> None:
        """Looks at the nodes, and at the daemons of those that run."""
        super().check_alive()
        if self._daemons is not None:
            self._daemons.check_alive()

    def scheduler_spec(self) -> SchedulerSpec:
        """Commands run on the head."""
        return SchedulerSpec(
            kind="slurm",
            environment={"SLURM_CONF": str(self._configuration().file), **_OF_JOBS},
            wrap=self.nodes.head.enter(),
            partition=PARTITION,
            launcher=launcher_of(self.spec),
            yield_when_idle=bool(self.functional_only()),
        )

    # -- state ---------------------------------------------------------------------------------
    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """As of any cluster; its own settings are read back from the running controller.

        Raises:
            TargetError: If one is another than was asked for.
        """
        found = super().restore(key, spec)
        asked = {name: level for name, level in spec.settings.items() if name in _SHOWN}
        found += [_same(name, level, self._in_force(name)) for name, level in asked.items()]
        if LAUNCHER in spec.settings:
            level = spec.settings[LAUNCHER]
            found.append(_same(LAUNCHER, level, self.scheduler_spec().launcher))
        return found

    def inventory(self) -> dict[str, Any]:
        """Its configuration, too."""
        return {**super().inventory(), "slurm_conf": self._configuration().slurm_conf()}

    def log_path(self) -> Path | None:
        """The controller's."""
        return self._configuration().log("slurmctld") if self._daemons else None

    # -- inside --------------------------------------------------------------------------------
    def _start_all(self) -> Daemons:
        configuration = self._configuration()
        socket = None
        if configuration.accounting:
            self._database = AccountingDatabase(self.spec, self.context)
            self._database.open()
            socket = self._database.socket
        self._daemons = Daemons(self.nodes.head, configuration)
        self._daemons.start(socket)
        return self._daemons

    def _configuration(self) -> Configuration:
        nodes = self.nodes.compute
        memory_mib = psutil.virtual_memory().total // 2**20
        return Configuration(
            folder=self.folder,
            head=self.nodes.head.address,
            nodes=[
                ConfiguredNode(each.name, each.address, each.plan.slots, memory_mib // len(nodes))
                for each in nodes
            ],
            user=pwd.getpwuid(os.geteuid()).pw_name,
            node_timeout_s=int(self.number(NODE_TIMEOUT)),
            accounting=self.level(_ACCOUNTING) == _SLURMDBD,
        )

    def _in_force(self, name: str) -> str:
        """A setting as the running controller has it."""
        spec = self.scheduler_spec()
        told = self.nodes.head.run(
            ["scontrol", "show", "config"],
            doing="scontrol show config",
            environment=dict(spec.environment),
        )
        for line in told.splitlines():
            known, _, value = line.partition("=")
            if known.strip() == _SHOWN[name]:
                return value.strip().removesuffix(" sec").removeprefix("accounting_storage/")
        raise TargetError(f"slurm does not tell its {_SHOWN[name]}")


def _same(name: str, asked: Level, has: str) -> FactorReading:
    """A reading, if the controller has what was asked for."""
    if str(asked) != has and not (has == "(null)" and asked == "none"):
        raise TargetError(f"target.{name} reads back {has} after {asked}")
    return FactorReading(factor=f"target.{name}", requested=asked, read_back=asked, how="restart")
