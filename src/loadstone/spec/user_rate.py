"""A ramp in users a second, as an experiment file states it: `5/s`.

It is kept as a text, so that it can be the level of a factor, and follows the number of users.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from loadstone.limits import LONGEST_S, SHORTEST_PHASE_S

_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(s|min)\s*")
_SECONDS = {"s": 1.0, "min": 60.0}
_EXAMPLE = "5/s"


def users_per_s(text: str) -> float:
    """The users a second of a rate such as `5/s` or `30/min`.

    Raises:
        ValueError: If it is no rate, or 0.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no rate of users: write for example {_EXAMPLE}")
    rate = float(match[1]) / _SECONDS[match[2]]
    if rate == 0:
        raise ValueError(f"{text!r} lets nobody come: write for example {_EXAMPLE}")
    return rate


def ramp_s(ramp: float | str, users: int) -> float:
    """How long a ramp from one user to so many takes, in seconds; 0: there is none.

    Args:
        ramp: Seconds, or a rate of users.
        users: That there are at its end.
    """
    if not isinstance(ramp, str):
        return ramp
    took_s = (users - 1) / users_per_s(ramp)
    return took_s if took_s >= SHORTEST_PHASE_S else 0.0


def _only_rate(given: object) -> object:
    if not isinstance(given, str) or "/" not in given:
        raise ValueError(f"a rate of users such as {_EXAMPLE}")
    if LONGEST_S * users_per_s(given) < 1:
        raise ValueError(f"{given!r}: it would take longer than {LONGEST_S:g} s for one user")
    return given


UserRate = Annotated[
    str,
    BeforeValidator(_only_rate),
    WithJsonSchema({"type": "string", "examples": [_EXAMPLE, "30/min"]}, mode="validation"),
]
"""A rate at which users come."""
