"""Durations, sizes and shares as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from loadstone.limits import LONGEST_S

_DURATION_S = {
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%?\s*")
_DURATION_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|sec|s|min|m|h|d)")


def parse_duration(text: str | float) -> float:
    """Reads a duration such as `90s`, `1h 30min` or `250ms`.

    Args:
        text: The duration with its unit; zero needs none.

    Returns:
        Seconds.

    Raises:
        ValueError: If it is no duration or has no unit.
    """
    if not isinstance(text, str):
        if text == 0:
            return 0.0
        raise ValueError(f"{text!r} has no unit: write {text}s, {text}min or {text}ms")
    rest, total = text.strip(), 0.0
    if rest.startswith("-"):
        raise ValueError(f"{text!r} is negative: a duration is 0 or more")
    if rest == "0":
        return 0.0
    if not rest:
        raise ValueError("a duration is missing: write for example 30s, 5min or 250ms")
    while rest:
        part = _DURATION_PART.match(rest)
        if part is None:
            raise ValueError(f"{text!r} is not a duration: write for example 30s, 5min or 250ms")
        total += float(part[1]) * _DURATION_S[part[2]]
        rest = rest[part.end() :].strip()
    return total


def format_duration(seconds: float) -> str:
    """Writes seconds the way `parse_duration` reads them, short: `1h 30min`, `45s`, `250ms`."""
    if seconds < 1 and seconds > 0:
        return f"{seconds * 1000:g}ms"
    if seconds < 60:
        return f"{seconds:g}s"
    whole = round(seconds)
    parts = [(whole // 3600, "h"), (whole % 3600 // 60, "min"), (whole % 60, "s")]
    return " ".join(f"{count}{unit}" for count, unit in parts if count)


def format_size(size_bytes: float) -> str:
    """Writes bytes with the largest unit that leaves a figure of at least one: `1.5 GB`."""
    value, unit = float(size_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.3g} {unit}"


def format_percent(percent: float) -> str:
    """Writes per cent as `parse_percent` reads it: `5%`."""
    return f"{percent:g}%"


def _read_duration(value: str | float, info: ValidationInfo) -> float:
    # JSON is what Loadstone itself wrote (`plan.json`, `experiment.json`): seconds as a number.
    if info.mode == "json" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return parse_duration(value)


_READER = BeforeValidator(_read_duration)

Duration = Annotated[
    float,
    _READER,
    Field(ge=0, le=LONGEST_S),
    WithJsonSchema({"type": "string", "examples": ["30s", "5min", "250ms"]}, mode="validation"),
]
"""Seconds, written with a unit in a file, as a number in the JSON that Loadstone writes."""


def parse_percent(text: str | float) -> float:
    """Reads a percentage such as `3%` or `0.5 %`; a plain number is one too.

    Raises:
        ValueError: If it is none.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    match = _PERCENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not a percentage: write for example 3%")
    return float(match[1])


Percent = Annotated[
    float,
    BeforeValidator(parse_percent),
    WithJsonSchema({"type": ["string", "number"], "examples": ["3%", "0.5%"]}, mode="validation"),
]
"""Percent, written with its sign or as a plain number."""


def is_duration(metadata: Sequence[object]) -> bool:
    """Whether a field of a model, of which this is the metadata, is a `Duration`."""
    return _READER in metadata
