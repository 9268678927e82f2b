"""The workloads there are."""

from __future__ import annotations

from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.registered import Registered
from loadstone.spec.model import WorkloadSpec
from loadstone.workloads.base import AnyWorkload

WORKLOADS: Registered[AnyWorkload] = Registered(
    {
        "oltp": "loadstone.workloads.oltp.workload:OrderEntry",
        "archive": "loadstone.workloads.archive.workload:EventArchive",
        "dss": "loadstone.workloads.dss.workload:DecisionSupport",
        "cube": "loadstone.workloads.cube.workload:PlanningCube",
        "noop": "loadstone.workloads.noop:Noop",
    }
)


def workload_class(name: str) -> type[AnyWorkload]:
    """The workload of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name not in WORKLOADS:
        raise WrongInputError(
            f"there is no workload {name!r}", advice=f"choose one of {', '.join(WORKLOADS)}"
        )
    return WORKLOADS[name]


def workload_of(spec: WorkloadSpec) -> AnyWorkload:
    """The workload with its parameters.

    Raises:
        WrongInputError: If there is no such workload, or a parameter is wrong.
    """
    cls = workload_class(spec.name)
    try:
        return cls(cls.Parameters.model_validate(spec.parameters))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise WrongInputError(f"workload {spec.name}: {field}: {first['msg']}") from error
