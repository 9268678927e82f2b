"""The files that a scenario names: they lie beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loadstone.spec.paths import REFERENCE
from loadstone.spec.problems import Path as Way


def paths_in(scenario: Any) -> Iterator[Way]:
    """The ways to the paths in a scenario: its people, and secrets that lie in files.

    Args:
        scenario: As it was written; nobody has judged it yet.
    """
    if not isinstance(scenario, Mapping):
        return
    if isinstance(scenario.get("people"), str):
        yield ("people",)
    secrets = scenario.get("secrets")
    for name, given in secrets.items() if isinstance(secrets, Mapping) else ():
        if isinstance(given, str) and given.startswith(REFERENCE):
            yield "secrets", name
