"""Durations of an experiment, which are seconds, as a file has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadstone.units import format_duration

DURATIONS = (
    *("warm_up", "ramp", "gather", "measure", "drain", "think_time", "delay", "ramp_down"),
    *("window", "longest", "soak", "after", "for", "every"),
)
"""Fields of profile, design, outage and meters that hold seconds and are written with a unit."""


def durations_as_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a part with durations, which are seconds, as a file has them.

    Args:
        part: With parts of its own, in lists or not.
    """
    return {name: _as_text(name, value) for name, value in part.items()}


def _as_text(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return durations_as_text(value)
    if isinstance(value, list):
        return [durations_as_text(each) if isinstance(each, Mapping) else each for each in value]
    return _exact_duration(value) if name in DURATIONS and isinstance(value, float) else value


def _exact_duration(seconds: float) -> str:
    short = format_duration(seconds) if seconds >= 60 and seconds == round(seconds) else ""
    return short or f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
