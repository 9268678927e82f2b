"""Durations of an experiment, which are seconds, as a file has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadstone.units import format_duration

DURATIONS = (
    *("warm_up", "ramp", "measure", "think_time"),
    *("window", "longest", "soak", "after", "for"),
)
"""Fields of profile, design and outage that hold seconds and are written with a unit."""


def durations_as_text(part: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a part with durations, which are seconds, as a file has them."""
    return {
        name: _exact_duration(value) if name in DURATIONS and isinstance(value, float) else value
        for name, value in part.items()
    }


def _exact_duration(seconds: float) -> str:
    short = format_duration(seconds) if seconds >= 60 and seconds == round(seconds) else ""
    return short or f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
