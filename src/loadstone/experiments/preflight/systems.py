"""What the systems under test name of this machine, and what only some of them have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as FilePath

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.spec.problems import Path, Problem, near
from loadstone.spec.target import TargetSpec
from loadstone.targets.address import password
from loadstone.targets.base import Target

_OF_SOME = ("accounts", "ca", "reset", "reset_timeout_s", "sources")
"""Fields that only some targets have."""


def system_problems(target: TargetSpec) -> list[Problem]:
    """References that lead nowhere and fields of others, of all systems under test."""
    systems: dict[Path, TargetSpec] = {("target",): target}
    systems |= {("target", "others", name): other for name, other in target.others.items()}
    return [problem for path, spec in systems.items() for problem in _problems(path, spec)]


def _problems(path: Path, spec: TargetSpec) -> Iterator[Problem]:
    from loadstone.targets.registry import target_for

    target = target_for(spec)
    unknown = [name for name in spec.parts if name not in target.named_parts(spec)]
    for name in unknown:
        names = target.named_parts(spec)
        told = near(name, names) if names else "leave parts out"
        yield Problem((*path, "parts", name), f"target {spec.engine} has no such part; {told}")
    if unknown:
        return
    for name in spec.parts:
        kind, of_part = target.part_class(spec, name), target.part_spec(spec, name)
        yield from _wrong_references((*path, "parts", name), of_part, kind)
    yield from _wrong_references(path, spec, target)
    for field in sorted(set(_OF_SOME) - target.fields):
        if getattr(spec, field) != TargetSpec.model_fields[field].get_default():
            yield Problem((*path, field), f"target {spec.engine} has no {field}: leave it out")


def _wrong_references(path: Path, spec: TargetSpec, kind: type[Target]) -> Iterator[Problem]:
    """References of a system, or of a part of one, that lead nowhere."""
    for field, look, value in (
        ("password", password, spec.password),
        ("data", _can_be_folder, spec.data if kind.data_is_folder else None),
    ):
        try:
            look(value)
        except LoadstoneError as error:
            advice = f" ({error.advice})" if error.advice else ""
            yield Problem((*path, field), f"{error.message}{advice}")


def _can_be_folder(data: str | None) -> None:
    """Whether data may lie there: a folder, or a place where one can be made."""
    if data is None:
        return
    place = FilePath(data).absolute()
    there = next(each for each in (place, *place.parents) if each.exists())
    if not there.is_dir():
        wrong = f"{there} is a file, not a folder"
    elif os.statvfs(there).f_flag & os.ST_RDONLY:
        wrong = f"{there} lies on a file system that is mounted read-only"
    elif not os.access(there, os.W_OK | os.X_OK):
        wrong = f"{there} may not be written by this user"
    else:
        return
    raise WrongInputError(wrong, advice="name a folder for the data, or leave data out")
