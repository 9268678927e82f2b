"""Paths that an experiment names, made whole: who wrote them says what they are relative to.

Those of a file lie beside it, those of the command line in the present folder. Which of its
fields are paths is said by the target's spec and by the workload; those of meters are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from loadstone.spec.paths import REFERENCE, place
from loadstone.spec.problems import Path
from loadstone.spec.target import TargetSpec
from loadstone.workloads.base import AnyWorkload

_OF_WORKLOAD = "workload."
"""How the factors begin that are its parameters."""
_OF_METERS = ("path", "ca", "password")
"""Fields of meters that name files; a password does by reference."""


def place_paths(data: dict[str, Any], folder: FilePath) -> None:
    """Makes the paths of an experiment whole.

    Args:
        data: Its fields, which nobody has judged yet; changed in place.
        folder: Paths are relative to that.
    """
    place(data, _paths(data), folder)


def _paths(data: Mapping[str, Any]) -> list[Path]:
    target, workload = data.get("target"), data.get("workload")
    found: list[Path] = []
    if isinstance(target, Mapping):
        found += [("target", *way) for way in TargetSpec.paths(target)]
    found += _of_meters(data)
    kind = kind_written(data)
    if kind is None or not isinstance(workload, Mapping):
        return found
    parameters = workload.get("parameters")
    if isinstance(parameters, Mapping):
        found += [("workload", "parameters", *way) for way in kind.paths(parameters)]
    for way, factor, level in _levels(data.get("design")):
        name = factor.removeprefix(_OF_WORKLOAD)
        if factor.startswith(_OF_WORKLOAD) and (name,) in kind.paths({name: level}):
            found.append(("design", *way))
    return found


def _of_meters(data: Mapping[str, Any]) -> Iterator[Path]:
    """The root of their tree, and the files that each of them names."""
    if isinstance(data.get("meters_root"), str):
        yield ("meters_root",)
    meters = data.get("meters")
    for number, meter in enumerate(meters) if isinstance(meters, list) else ():
        for name in _OF_METERS if isinstance(meter, Mapping) else ():
            value = meter.get(name)
            if isinstance(value, str) and (name != "password" or value.startswith(REFERENCE)):
                yield ("meters", number, name)


def kind_written(data: Any) -> type[AnyWorkload] | None:
    """The workload that an experiment names, if there is one of that name.

    Args:
        data: Its fields, which nobody has judged yet.
    """
    from loadstone.workloads.registry import WORKLOADS

    workload = data.get("workload") if isinstance(data, Mapping) else None
    name = workload.get("name") if isinstance(workload, Mapping) else None
    return WORKLOADS.get(name) if isinstance(name, str) else None


def _levels(design: Any) -> Iterator[tuple[Path, str, Any]]:
    """Each level that a design names: the way to it, its factor, and itself."""
    if not isinstance(design, Mapping):
        return
    if isinstance(design.get("factor"), str):
        yield from _each(("levels",), design["factor"], design.get("levels"))
    factors = design.get("factors")
    for factor, levels in factors.items() if isinstance(factors, Mapping) else ():
        yield from _each(("factors", factor), str(factor), levels)
    rungs = design.get("rungs")
    for number, rung in enumerate(rungs) if isinstance(rungs, list) else ():
        change = rung.get("change") if isinstance(rung, Mapping) else None
        for factor, level in change.items() if isinstance(change, Mapping) else ():
            yield ("rungs", number, "change", factor), str(factor), level


def _each(way: Path, factor: str, levels: Any) -> Iterator[tuple[Path, str, Any]]:
    for number, level in enumerate(levels) if isinstance(levels, list) else ():
        yield (*way, number), factor, level
