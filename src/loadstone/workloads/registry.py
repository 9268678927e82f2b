"""The workloads there are."""

from __future__ import annotations

from loadstone.errors import WrongInputError
from loadstone.workloads.base import Workload
from loadstone.workloads.noop import Noop
from loadstone.workloads.oltp.workload import OrderEntry

WORKLOADS: dict[str, type[Workload]] = {cls.name: cls for cls in (OrderEntry, Noop)}


def workload_class(name: str) -> type[Workload]:
    """The workload of that name.

    Raises:
        WrongInputError: If there is none.
    """
    if name not in WORKLOADS:
        raise WrongInputError(
            f"there is no workload {name!r}", advice=f"choose one of {', '.join(WORKLOADS)}"
        )
    return WORKLOADS[name]
