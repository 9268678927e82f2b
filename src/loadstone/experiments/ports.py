"""Ports that earlier connections have left in TIME_WAIT: a load waits for those that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from time import sleep

from loadstone.errors import TargetError
from loadstone.experiments.lab import Lab
from loadstone.experiments.session_limit import wanted_by
from loadstone.experiments.step_clock import StepClock
from loadstone.load.resources import Machine, Resources, resources_of
from loadstone.spec.base import Level
from loadstone.spec.plans import TrialPlan
from loadstone.targets.registry import target_for
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.wanted import Wanted

LONGEST_S = 180.0
"""TIME_WAIT lasts a minute; others may take ports meanwhile."""
_LONGEST_SLEEP_S = 5.0
_SHORTEST_SLEEP_S = 0.1


def await_ports_of(plan: TrialPlan, workload: AnyWorkload, lab: Lab, clock: StepClock) -> None:
    """Waits before a target is brought into its start state, which would grow old meanwhile.

    Where it is not known yet how the target is reached there is nothing to wait for.

    Raises:
        LoadstoneError: As `await_ports`.
    """
    connection = target_for(plan.target).reached(plan.target)
    if connection is None:
        return
    wanted = wanted_by(plan, workload, plan.profile, connection)
    if resources_of(wanted, Machine.present(plan.host)).wait_s > 0:
        with clock.step("wait for ports"):
            await_ports(wanted, lab, plan.host)


def await_ports(wanted: Wanted, lab: Lab, host: Mapping[str, Level] | None = None) -> Resources:
    """Waits until this machine has a port for each connection of a load.

    Args:
        wanted: By the workload.
        lab: Whose observer is told.
        host: Settings of this machine that are not in force yet.

    Returns:
        What the load takes then.

    Raises:
        WrongInputError: If the machine never has what it takes.
        TargetError: If others go on to take the ports.
    """
    waited_s = 0.0
    while (found := resources_of(wanted, Machine.present(host))).wait_s > 0:
        if waited_s > LONGEST_S:
            raise TargetError(
                f"{found.time_wait:,} of {found.ports:,} ports to the server are still in "
                f"TIME_WAIT after {waited_s:.0f} s",
                advice="something else opens and closes connections to it: end that first",
            )
        lab.observer.activity(
            f"waiting for ports: {found.time_wait:,} of {found.ports:,} are in TIME_WAIT, for "
            f"{ceil(found.wait_s)} s more"
        )
        sleep_s = min(max(found.wait_s, _SHORTEST_SLEEP_S), _LONGEST_SLEEP_S)
        sleep(sleep_s)
        waited_s += sleep_s
    return found
