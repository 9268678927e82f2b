"""Whether the loads of an experiment can be made: ports, files, and what their programs say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.errors import DriverError, WrongInputError
from loadstone.experiments.designs import design_of
from loadstone.factors.base import Parts
from loadstone.factors.registry import apply_changes
from loadstone.load.graduated import calibrating
from loadstone.load.locate import check_driver
from loadstone.load.plan_check import refusal_of
from loadstone.load.profiles import run_plan
from loadstone.load.resources import Machine, Resources, resources_of
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.wanted import Wanted

_LOAD: Path = ("profile",)


@dataclass(frozen=True)
class PlannedLoad:
    """The load of a configuration, before anything was started."""

    workload: AnyWorkload
    wanted: Wanted
    resources: Resources

    def plan(self, seed: int) -> dict[str, Any] | None:
        """As its program will have it; None if that depends on a target that is open."""
        told = self.workload.known_plan()
        if told is None or not self.wanted.program.checks:
            return None
        connection = self.wanted.connection.coming_from(self.resources.sources)
        profile = self.wanted.profile
        if profile.calibrates:
            profile = calibrating(profile)
        return run_plan(profile, told, self.workload.pacing(), connection, seed)


def planned_loads(experiment: Experiment) -> Iterator[PlannedLoad]:
    """The loads of all configurations whose target is known before it is open.

    That of the highest level is among them, where the experiment names it.

    Raises:
        WrongInputError: If one takes more of this machine than there is, or what it needs is not
            where it was said to be.
    """
    design = design_of(experiment)
    upwards = design.upwards(experiment)
    configurations = [variant.changes for variant in design.variants(experiment)]
    if upwards is not None and upwards.field is not None:
        configurations.append(list(upwards.at(upwards.top)))
    for changes in configurations:
        load = planned_load(apply_changes(experiment, changes))
        if load is not None:
            yield load


def planned_load(parts: Parts) -> PlannedLoad | None:
    """The load of a configuration; None if its target is not known before it is open.

    Raises:
        WrongInputError: As `planned_loads`.
    """
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import workload_of

    connection = target_for(parts.target).reached(parts.target)
    if connection is None:
        return None
    workload = workload_of(parts.workload)
    wanted = workload.resources(parts.profile, connection)
    return PlannedLoad(workload, wanted, resources_of(wanted, Machine.present(parts.host)))


def examined_loads(experiment: Experiment) -> tuple[list[Problem], Resources | None]:
    """What keeps the loads from being made, and what the largest of them takes of this machine.

    Without its program nothing is said of a plan: that it is missing is found when it is to run.

    Returns:
        Problems, and the resources of the load that opens most connections; None where that is not
        known before a target is open, or where there are problems.
    """
    try:
        loads = list(planned_loads(experiment))
    except WrongInputError as error:
        advice = f" ({error.advice})" if error.advice else ""
        return [Problem(_LOAD, f"{error.message}{advice}")], None
    problems = _refused(loads, experiment.seed)
    most = max((each.resources for each in loads), key=lambda each: each.connections, default=None)
    return problems, None if problems else most


def _refused(loads: Sequence[PlannedLoad], seed: int) -> list[Problem]:
    """What programs say of plans; of those that differ only in their load they are asked once."""
    problems: dict[Problem, None] = {}
    looked_at: list[dict[str, Any]] = []
    for load in loads:
        plan = load.plan(seed)
        about = plan and {name: plan[name] for name in ("workload", "connection", "pacing")}
        if plan is None or about is None or about in looked_at:
            continue
        looked_at.append(about)
        try:
            binary = check_driver(load.wanted.program)
        except DriverError:
            continue
        refusal = refusal_of(binary, plan, load.wanted.connection.secrets)
        if refusal is not None:
            problems[refusal] = None
    return list(problems)
