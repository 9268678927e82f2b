"""The workloads whose operations the runner has, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from loadstone.registered import Registered
from loadstone.runner.clock import Clock
from loadstone.runner.plan import Plan, RefusalError
from loadstone.runner.session import Workload

Opener = Callable[[Plan, Clock], Workload]
"""Makes the operations of a plan; it raises `RefusalError` at what it cannot do."""


def _unfit(_name: str, found: object) -> str:
    return "" if callable(found) else "it is no function of a plan and a clock"


OPENERS: Registered[Opener] = Registered(
    {
        "archive": "loadstone.runner.archive.workload:open_archive",
        "cube": "loadstone.runner.steps.workload:open_streams",
        "dss": "loadstone.runner.steps.workload:open_streams",
        "jobs": "loadstone.runner.jobs.workload:open_jobs",
    },
    group="loadstone.operations",
    unfit=_unfit,
)


def workload_of(plan: Plan, clock: Clock) -> Workload:
    """The operations of a plan's workload.

    Raises:
        RefusalError: If there are none of that name, or they cannot be made as the plan says.
    """
    if plan.workload.role == "log-in":
        from loadstone.runner.log_in import LogIn

        return LogIn(plan)
    name = plan.workload.name
    if name not in OPENERS:
        known = f"{name} is none of {', '.join(OPENERS)}"
        raise RefusalError("workload.name", OPENERS.left_out.get(name, known))
    return OPENERS[name](plan, clock)
