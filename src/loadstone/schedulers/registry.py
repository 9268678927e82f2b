"""The schedulers there are, each imported when it is asked for."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.registered import Registered, unfit_class
from loadstone.schedulers.base import Scheduler, SchedulerSpec
from loadstone.spec.problems import near

SCHEDULERS: Registered[type[Scheduler]] = Registered(
    {
        "slurm": "loadstone.schedulers.slurm:Slurm",
        "gridengine": "loadstone.schedulers.gridengine:GridEngine",
        "plain": "loadstone.schedulers.plain:Plain",
    },
    group="loadstone.schedulers",
    unfit=unfit_class(Scheduler, named_by="kind"),
)


def scheduler_of(spec: SchedulerSpec) -> Scheduler:
    """The scheduler that `spec` names.

    Raises:
        WrongInputError: If there is none of that kind.
    """
    if spec.kind not in SCHEDULERS:
        unknown = f"there is no scheduler {spec.kind!r}; {near(spec.kind, SCHEDULERS)}"
        raise WrongInputError(SCHEDULERS.left_out.get(spec.kind, unknown))
    return SCHEDULERS[spec.kind](spec)
