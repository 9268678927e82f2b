"""A number that a program or a file of the user's own says, and whether it can be a power."""

from __future__ import annotations

import math
import re
from typing import Literal

Unit = Literal["W", "J"]

MOST_WATTS = 4_000_000.0
"""What is above it is no power of a system: 4294967.295 W is a driver's word for "none"."""
_FORM = re.compile(
    r"\s*(?P<value>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|[-+]?nan|[-+]?inf)"
    r"\s*(?P<unit>w|watts?|j|joules?)?\s*",
    re.IGNORECASE,
)
_SHOWN = 60


def read_figure(text: str, unit: Unit) -> tuple[float, str]:
    """Reads a line that should be a number, with its unit or without.

    Args:
        text: As `231.5`, `231.5 W`.
        unit: That was stated; another one in the line is a mistake.

    Returns:
        Watts or joules, and why they are none; empty: they are.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        return 0.0, f"{text.strip()[:_SHOWN]!r} is not a number" if text.strip() else "it is empty"
    said = found["unit"]
    if said and said[0].upper() != unit:
        return 0.0, f"it says {said}, and {unit} was stated"
    value = float(found["value"])
    return value, why_none(value, unit)


def why_none(value: float, unit: Unit) -> str:
    """Why a number is no power, or no energy; empty if it can be one."""
    if not math.isfinite(value):
        return "not a number"
    if value < 0:
        return f"{value:g} is negative"
    if unit == "W" and value > MOST_WATTS:
        return f"{value:g} W is no power of a system"
    return ""
