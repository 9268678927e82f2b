"""Everything logs in before anything of somebody else's is touched.

At an address Loadstone's own sessions look at what they may do. Then the program that makes the
load opens its sessions, as many as trials will have, and closes them: it speaks protocols of its
own, and may be kept out where Loadstone's client is let in.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.errors import DriverError, TargetError
from loadstone.experiments.designs import design_of
from loadstone.experiments.observer import Observer
from loadstone.factors.base import Parts
from loadstone.factors.registry import apply_changes
from loadstone.host.locality import at_address
from loadstone.load.driver_group import generator
from loadstone.load.processes import processes_for
from loadstone.load.profiles import load_plan
from loadstone.spec.model import Experiment
from loadstone.targets.base import Target
from loadstone.targets.walk import all_parts
from loadstone.workloads.base import LoadRequest
from loadstone.workloads.registry import workload_of

OWN_SESSIONS = 3
"""Of Loadstone's own beside the load: one observes, and two probes sample."""
_ROLE = "log-in"


def refuse_shut_out(experiment: Experiment, targets: Sequence[Target], observer: Observer) -> None:
    """Stops before anything is touched where something is not let in.

    Args:
        experiment: Whose trials need rights and sessions; a search those of its first level.
        targets: All that its trials use, not open yet.
        observer: Is told what goes on.

    Raises:
        LoadstoneError: With the words of who was not let in.
    """
    variants = design_of(experiment).variants(experiment)
    configurations = [apply_changes(experiment, variant.changes) for variant in variants]
    for target in targets:
        if any(at_address(each.spec) for each in (target, *all_parts(target).values())):
            observer.activity(f"logging in ({target.engine})")
            target.check_access()
        if at_address(target.entrance().spec):
            own = [each for each in configurations if each.target.site == target.spec.site]
            _open_sessions(target, own, experiment.seed)


def _open_sessions(target: Target, configurations: Sequence[Parts], seed: int) -> None:
    """Opens and closes the most sessions that one of the configurations has."""
    connection = target.connection()
    if not connection.host:
        return
    loads = [(workload_of(each.workload), each.profile) for each in configurations]
    workload, profile = max(loads, key=lambda load: load[0].sessions(load[1]))
    program = workload.program(connection)
    if not program.logs_in:
        return
    count = workload.sessions(profile) + OWN_SESSIONS
    request = LoadRequest(role=_ROLE, sessions=count, seed=seed, parameters={})
    plan = load_plan(workload.name, request, connection, threads=profile.threads)
    driver = generator(
        plan,
        lambda _frame: None,
        processes=processes_for(
            profile.processes, count, connection, program, threads=profile.threads
        ),
        secrets=connection.secrets,
        program=program,
    )
    try:
        with driver:
            driver.wait()
    except DriverError as error:
        raise TargetError(
            f"{program.name} cannot open {count} sessions ({count - OWN_SESSIONS} of the load and "
            f"{OWN_SESSIONS} of Loadstone's own): {error.message}",
            advice=f"nothing was touched{'; ' + error.advice if error.advice else ''}",
        ) from error
