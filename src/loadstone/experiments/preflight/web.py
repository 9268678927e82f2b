"""Whether the load of a web application can be made: ports, files, and what the driver says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from loadstone.errors import DriverError, WrongInputError
from loadstone.experiments.designs import design_of
from loadstone.factors.registry import apply_changes
from loadstone.host import cpulist
from loadstone.load.locate import check_driver
from loadstone.load.plan_check import refusal_of
from loadstone.load.profiles import run_plan
from loadstone.load.resources import Machine, Resources, fitted, resources_of
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.web import WebConnection

if TYPE_CHECKING:
    from loadstone.factors.base import Parts
    from loadstone.workloads.http.workload import WebScenario

_LOAD: Path = ("profile",)


@dataclass(frozen=True)
class WebLoad:
    """The load of a configuration, before anything was started."""

    workload: WebScenario
    profile: ProfileSpec
    connection: WebConnection
    machine: Machine

    @property
    def users(self) -> int:
        """Or sessions of an open load."""
        return self.workload.sessions(self.profile)

    def resources(self) -> Resources:
        """What it takes of this machine.

        Raises:
            WrongInputError: If it takes more than there is.
        """
        program = self.workload.program(self.connection)
        return resources_of(self.profile, self.users, self.connection, program, self.machine)

    def plan(self, seed: int) -> dict[str, Any]:
        """As the driver will have it."""
        connection = fitted(self.connection, self.users, self.machine)
        told, pacing = self.workload.told(), self.workload.pacing()
        return run_plan(self.profile, told, pacing, connection, seed)


def web_loads(experiment: Experiment) -> Iterator[WebLoad]:
    """The loads of all configurations that are about a web application.

    Raises:
        WrongInputError: If a scenario, its people or its secrets are not what they must be.
    """
    for variant in design_of(experiment).variants(experiment):
        load = _load(apply_changes(experiment, variant.changes))
        if load is not None:
            yield load


def _load(parts: Parts) -> WebLoad | None:
    from loadstone.targets.http.target import Http, connection_to
    from loadstone.workloads.http.workload import WebScenario
    from loadstone.workloads.registry import workload_of

    workload = workload_of(parts.workload)
    if not isinstance(workload, WebScenario) or parts.target.engine != Http.engine:
        return None
    connection = workload.reached(connection_to(parts.target))
    profile = workload.loaded(parts.profile)
    cpus = None if profile.cpus is None else len(cpulist.parse(profile.cpus))
    machine = replace(Machine.present(parts.host), processors=cpus)
    return WebLoad(workload, profile, connection, machine)


def most_resources(experiment: Experiment) -> Resources | None:
    """What the load takes that needs most connections; None where no web application is loaded.

    Raises:
        WrongInputError: As `web_loads`, or if it takes more than there is.
    """
    found = [load.resources() for load in web_loads(experiment)]
    return max(found, key=lambda each: each.connections, default=None)


def web_problems(experiment: Experiment) -> list[Problem]:
    """Loads that take more of this machine than there is, and plans that the driver refuses.

    Without a driver nothing is said of plans: that it is missing is found when it is to run.
    """
    try:
        loads = list(web_loads(experiment))
        for load in loads:
            load.resources()
    except WrongInputError as error:
        advice = f" ({error.advice})" if error.advice else ""
        return [Problem(_LOAD, f"{error.message}{advice}")]
    return _refused(loads, experiment.seed) if loads else []


def _refused(loads: list[WebLoad], seed: int) -> list[Problem]:
    """What the driver says of plans; of those that differ only in their load it is asked once."""
    try:
        binary = check_driver()
    except DriverError:
        return []
    problems: dict[Problem, None] = {}
    looked_at: list[dict[str, Any]] = []
    for load in loads:
        plan = load.plan(seed)
        about = {name: plan[name] for name in ("workload", "connection", "pacing")}
        if about in looked_at:
            continue
        looked_at.append(about)
        refusal = refusal_of(binary, plan, load.connection.secrets)
        if refusal is not None:
            problems[refusal] = None
    return list(problems)
