"""Factors `workload.<parameter>`: parameters of the workload."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.factors.base import NEEDS_DATA, NEEDS_NOTHING, FactorInfo, FactorKind, Parts
from loadstone.spec.base import Level
from loadstone.spec.problems import dotted, near, problems_of
from loadstone.workloads.base import AnyWorkload


class WorkloadFactor(FactorKind):
    """A parameter of the workload; `workload.mix.new-order` reaches into a group of them."""

    prefix: ClassVar[str] = "workload"
    about: ClassVar[str] = "a parameter of the workload: workload.warehouses"
    of_load: ClassVar[bool] = True

    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Validates the parameters with the level, and sees whether the data changes."""
        changed = self.apply(parts, name, level)
        same_data = _workload(parts).data_key() == _workload(changed).data_key()
        needs = NEEDS_NOTHING if same_data else NEEDS_DATA
        return FactorInfo(f"{self.prefix}.{name}", level, needs)

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the level among the parameters."""
        first, _, inner = name.partition(".")
        self._known(parts, first)
        value: Level | dict[str, Level] = level
        if inner:
            group = getattr(_workload(parts).parameters, first)
            if not isinstance(group, dict):
                raise WrongInputError(f"workload.{first} is one value, it has no {inner!r} within")
            value = {**group, inner: level}
        parameters = {**parts.workload.parameters, first: value}
        workload = parts.workload.model_copy(update={"parameters": parameters})
        changed = replace(parts, workload=workload)
        _workload(changed)
        return changed

    def _known(self, parts: Parts, name: str) -> None:
        from loadstone.workloads.registry import workload_class

        known = workload_class(parts.workload.name).Parameters.model_fields
        if name not in known:
            raise WrongInputError(
                f"workload {parts.workload.name} has no parameter {name!r}; {near(name, known)}"
            )


def _workload(parts: Parts) -> AnyWorkload:
    """The workload with its parameters validated."""
    from loadstone.workloads.registry import workload_class

    cls = workload_class(parts.workload.name)
    given: dict[str, Any] = dict(parts.workload.parameters)
    try:
        return cls(cls.Parameters.model_validate(given))
    except ValidationError as error:
        problems = problems_of(error, cls.Parameters, given, ("workload",))
        text = "; ".join(f"{dotted(each.path)}: {each.message}" for each in problems)
        raise WrongInputError(text) from error
