"""What starts the ranks of an MPI world under Slurm: mpirun, or srun with a type of MPI."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.schedulers.base import LAUNCHERS, MPIRUN, SchedulerSpec
from loadstone.schedulers.slurm import Slurm
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec
from loadstone.targets.cluster import ClusterSetting

LAUNCHER = "launcher"
_NOWHERE = "ClusterName=none\nSlurmctldHost=none\n"
"""A configuration with which srun lists its types of MPI; it asks no controller for that."""


class LauncherSetting(ClusterSetting):
    """`mpirun`, `srun`, or `srun:TYPE`."""

    def check(self, name: str, level: Level) -> None:
        """Refuses other words."""
        if not re.match(LAUNCHERS, str(level)):
            raise WrongInputError(
                f"target.{name} is {level!r}",
                advice="write mpirun, srun, or srun with a type of MPI: srun:pmix",
            )


LAUNCHER_SETTING = LauncherSetting(
    "what starts the ranks of an MPI world: mpirun, srun (with the site's type of MPI), or "
    "srun:TYPE; srun --mpi=list shows the types",
    MPIRUN,
)


def launcher_of(spec: TargetSpec) -> str:
    """As the settings say, or by default."""
    return str(spec.settings.get(LAUNCHER, LAUNCHER_SETTING.default))


def check_launcher(scheduler: SchedulerSpec, launcher: str) -> None:
    """Refuses a type of MPI that the srun of a Slurm does not know.

    Raises:
        WrongInputError: With those that it knows.
        SchedulerError: If there is no srun, or it does not answer.
    """
    Slurm(scheduler.model_copy(update={LAUNCHER: launcher})).check_launcher()


def check_launcher_here(launcher: str) -> None:
    """As `check_launcher`, of the Slurm that is installed, before one is made of it."""
    with tempfile.TemporaryDirectory() as folder:
        conf = Path(folder) / "slurm.conf"
        conf.write_text(_NOWHERE)
        spec = SchedulerSpec(kind="slurm", environment={"SLURM_CONF": str(conf)})
        check_launcher(spec, launcher)
