"""Factors `profile.<field>`: how load arrives."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar, cast

from pydantic import TypeAdapter, ValidationError

from loadstone.errors import WrongInputError
from loadstone.factors.base import NEEDS_NOTHING, FactorInfo, FactorKind, Parts
from loadstone.spec.base import Level
from loadstone.spec.durations import durations_as_text
from loadstone.spec.problems import dotted, near, problems_of
from loadstone.spec.profile import ProfileSpec


class ProfileFactor(FactorKind):
    """A field of the profile, written as in a file: durations with their unit."""

    prefix: ClassVar[str] = "profile"
    about: ClassVar[str] = "how load arrives: profile.users, profile.rate_per_s"
    of_load: ClassVar[bool] = True

    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Validates the profile with the level."""
        self.apply(parts, name, level)
        return FactorInfo(f"{self.prefix}.{name}", level, NEEDS_NOTHING)

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the level into the profile."""
        field = ProfileSpec.model_fields.get(name)
        if field is None:
            known = list(ProfileSpec.model_fields)
            raise WrongInputError(f"a profile has no field {name!r}; {near(name, known)}")
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(cast(Any, Annotated[field.annotation, field]))
            value = adapter.validate_python(level)
        except ValidationError as error:
            raise _wrong(error, level, ("profile", name)) from error
        values = {**_as_set(parts.profile), name: value}
        try:
            profile = _revalidated(values)
        except ValidationError as error:
            raise _wrong(error, values, ("profile",)) from error
        return replace(parts, profile=profile)

    def check(self, parts: Parts) -> None:
        """Refuses a field that the workload decides."""
        from loadstone.workloads.registry import kind_of

        name = parts.workload.name
        given = sorted(kind_of(parts.workload).decides & parts.profile.model_fields_set)
        if given:
            raise WrongInputError(f"profile.{given[0]} {decided_by(name)}")


def decided_by(workload: str) -> str:
    """Why a field of the profile cannot be given."""
    return (
        f"is decided by workload {workload} itself: leave it out, it follows from the workload's "
        "parameters, such as its rate"
    )


def _as_set(profile: ProfileSpec) -> dict[str, Any]:
    return {name: getattr(profile, name) for name in profile.model_fields_set}


def _revalidated(values: dict[str, Any]) -> ProfileSpec:
    """Checks the rules between the fields; each value was validated before.

    Durations are seconds here, which the model reads only with a unit.
    """
    return ProfileSpec.model_validate(durations_as_text(values))


def _wrong(error: ValidationError, given: Any, path: tuple[str, ...]) -> WrongInputError:
    problems = problems_of(error, ProfileSpec, given, path)
    text = "; ".join(f"{dotted(each.path)}: {each.message}" for each in problems)
    return WrongInputError(text)
