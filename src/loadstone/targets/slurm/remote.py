"""An existing Slurm, used as an ordinary user from a login node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from loadstone.schedulers import slurm
from loadstone.schedulers.base import SchedulerSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster import ClusterSetting
from loadstone.targets.cluster_at_address import TIME_LIMIT_S, ClusterAtAddress
from loadstone.targets.slurm.address import SlurmAddress
from loadstone.targets.slurm.launcher import (
    LAUNCHER,
    LAUNCHER_SETTING,
    check_launcher,
    launcher_of,
)


class SlurmAtAddress(ClusterAtAddress):
    """A partition of somebody else's cluster."""

    engine = "slurm"
    package = slurm.PACKAGE
    host = "login node"
    known_by = ("SLURM_CONF",)
    declared: ClassVar[Mapping[str, ClusterSetting]] = {
        **ClusterAtAddress.declared,
        LAUNCHER: LAUNCHER_SETTING,
    }
    cures = ("sinfo shows the partitions: slurm://PARTITION", "see sinfo")

    @classmethod
    def spec_at(cls, server: str) -> SchedulerSpec:
        """Partition, account and quality of service."""
        return SlurmAddress.parse(server).scheduler_spec(TIME_LIMIT_S)

    @classmethod
    def missing(cls, spec: SchedulerSpec) -> list[str]:
        """Such as sbatch."""
        return slurm.Slurm(spec).missing()

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """As of any cluster at an address; srun must know the type of MPI that is asked for."""
        found = super().describe(spec)
        check_launcher(cls.spec_at(spec.server), launcher_of(spec))
        return found

    def plain_spec(self) -> SchedulerSpec:
        """With the launcher of MPI worlds."""
        return super().plain_spec().model_copy(update={LAUNCHER: launcher_of(self.spec)})

    @property
    def where(self) -> str:
        """The partition, or the default one."""
        name = self.spec_at(self.spec.server).partition
        return f"{f'partition {name}' if name else 'the default partition'} of this Slurm"

    def inventory(self) -> dict[str, Any]:
        """Partition, account, quality of service and launcher, too."""
        spec = self.scheduler_spec()
        said = {"partition": spec.partition, "account": spec.account, "qos": spec.qos}
        said[LAUNCHER] = spec.launcher
        return super().inventory() | {name: value for name, value in said.items() if value}
