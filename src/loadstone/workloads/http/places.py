"""Files that an experiment about a web application names: they lie beside its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.workloads.http.reading import beside, is_text

WORKLOAD = "http"


def place_files(data: dict[str, Any], folder: Path) -> None:
    """Makes the paths of an experiment whole: they are relative to the file that it is written in.

    Args:
        data: Fields of the file, which nobody has judged yet; changed in place.
        folder: Where the file lies.
    """
    workload, target = data.get("workload"), data.get("target")
    if not isinstance(workload, dict) or workload.get("name") != WORKLOAD:
        return
    parameters = workload.get("parameters")
    if isinstance(parameters, dict):
        scenario = parameters.get("scenario")
        if isinstance(scenario, dict):
            _place(scenario, "people", folder)
        elif isinstance(scenario, str) and not is_text(scenario):
            _place(parameters, "scenario", folder)
    for each in _targets(target):
        _place(each, "ca", folder)


def _targets(target: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(target, dict):
        return
    yield target
    others = target.get("others")
    if isinstance(others, dict):
        yield from (each for each in others.values() if isinstance(each, dict))


def _place(fields: dict[str, Any], name: str, folder: Path) -> None:
    if isinstance(fields.get(name), str):
        fields[name] = str(beside(fields[name], folder))
