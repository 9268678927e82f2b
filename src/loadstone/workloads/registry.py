"""The workloads there are."""

from __future__ import annotations

from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.registered import Registered, unfit_class
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.problems import near
from loadstone.workloads.base import AnyWorkload, Workload

WORKLOADS: Registered[type[AnyWorkload]] = Registered(
    {
        "oltp": "loadstone.workloads.oltp.workload:OrderEntry",
        "archive": "loadstone.workloads.archive.workload:EventArchive",
        "dss": "loadstone.workloads.dss.workload:DecisionSupport",
        "cube": "loadstone.workloads.cube.workload:PlanningCube",
        "storage": "loadstone.workloads.storage.workload:Storage",
        "jobs": "loadstone.workloads.jobs.workload:Jobs",
        "noop": "loadstone.workloads.noop:Noop",
        "http": "loadstone.workloads.http.workload:WebScenario",
        "bi": "loadstone.workloads.bi.workload:BusinessIntelligence",
        "ssj": "loadstone.workloads.ssj.workload:ServerSideJava",
    },
    group="loadstone.workloads",
    unfit=unfit_class(Workload, named_by="name"),
)


def no_workload(name: str) -> str:
    """Why there is no workload of that name."""
    return WORKLOADS.left_out.get(name) or (
        f"there is no workload {name!r}; {near(name, WORKLOADS)}"
    )


def workload_class(name: str) -> type[AnyWorkload]:
    """The workload of that name.

    Raises:
        WrongInputError: If there is none that can be used.
    """
    if name not in WORKLOADS:
        raise WrongInputError(no_workload(name))
    return WORKLOADS[name]


def workload_of(spec: WorkloadSpec) -> AnyWorkload:
    """The workload with its parameters.

    Raises:
        WrongInputError: If there is no such workload, or a parameter is wrong.
    """
    cls = workload_class(spec.name)
    try:
        parameters = cls.Parameters.model_validate(spec.parameters)
        return cls.for_parameters(parameters)(parameters)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise WrongInputError(f"workload {spec.name}: {field}: {first['msg']}") from error


def kind_of(spec: WorkloadSpec) -> type[AnyWorkload]:
    """The class of the workload with its parameters; the usual one while those are wrong.

    Raises:
        WrongInputError: If there is no such workload.
    """
    cls = workload_class(spec.name)
    try:
        return cls.for_parameters(cls.Parameters.model_validate(spec.parameters))
    except ValidationError:
        return cls
