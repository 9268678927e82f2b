"""An existing Slurm, used as an ordinary user from a login node."""

from __future__ import annotations

from typing import Any

from loadstone.schedulers import slurm
from loadstone.schedulers.base import SchedulerSpec
from loadstone.targets.cluster_at_address import TIME_LIMIT_S, ClusterAtAddress
from loadstone.targets.slurm.address import SlurmAddress


class SlurmAtAddress(ClusterAtAddress):
    """A partition of somebody else's cluster."""

    engine = "slurm"
    package = slurm.PACKAGE
    host = "login node"
    cures = ("sinfo shows the partitions: slurm://PARTITION", "see sinfo")

    @classmethod
    def spec_at(cls, server: str) -> SchedulerSpec:
        """Partition, account and quality of service."""
        return SlurmAddress.parse(server).scheduler_spec(TIME_LIMIT_S)

    @classmethod
    def missing(cls, spec: SchedulerSpec) -> list[str]:
        """Such as sbatch."""
        return slurm.Slurm(spec).missing()

    @property
    def where(self) -> str:
        """The partition, or the default one."""
        name = self.spec_at(self.spec.server).partition
        return f"{f'partition {name}' if name else 'the default partition'} of this Slurm"

    def inventory(self) -> dict[str, Any]:
        """Partition, account and quality of service, too."""
        spec = self.scheduler_spec()
        said = {"partition": spec.partition, "account": spec.account, "qos": spec.qos}
        return super().inventory() | {name: value for name, value in said.items() if value}
