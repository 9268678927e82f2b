"""A think time between two, each as likely as the others, as an experiment file states it.

It is kept as a text, `1s to 3s`, so that it can be the level of a factor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from loadstone.limits import LONGEST_S
from loadstone.units import parse_duration

_TO = re.compile(r"\s+to\s+")
_EXAMPLE = "1s to 3s"
_FIELDS = ("distribution", "from", "to")


def think_range(text: str) -> tuple[float, float]:
    """The shortest and the longest think time of a range such as `1s to 3s`.

    Args:
        text: Two durations.

    Returns:
        Seconds.

    Raises:
        ValueError: If it is no range, or cannot be waited for.
    """
    parts = _TO.split(text.strip())
    if len(parts) != 2:
        raise ValueError(f"{text!r} is no range: write for example {_EXAMPLE}")
    from_s, to_s = (parse_duration(part) for part in parts)
    if from_s > to_s:
        raise ValueError(f"the range {text!r} ends before it begins: write the shorter time first")
    if to_s == 0:
        raise ValueError(f"{text!r} is no think time: write none")
    if to_s > LONGEST_S:
        raise ValueError(f"the range {text!r} is longer than {LONGEST_S:g} s, the longest wait")
    return from_s, to_s


def range_as_text(given: object) -> object:
    """A range in one form, however it was written; anything else as it is.

    Args:
        given: `1s to 3s`, or a mapping with the distribution `uniform`, `from` and `to`.

    Raises:
        ValueError: If it is meant as a range and is none.
    """
    if isinstance(given, Mapping):
        given = _text_of(given)
    if not isinstance(given, str) or _TO.search(given) is None:
        return given
    think_range(given)
    return " to ".join(_TO.split(given.strip()))


def _text_of(given: Mapping[Any, Any]) -> str:
    if given.get("distribution") != "uniform":
        raise ValueError(
            "the distribution of a think time should be uniform, with from and to; a "
            "negative-exponential one is its mean alone: 2s"
        )
    if set(given) != set(_FIELDS):
        raise ValueError(f"a uniform think time has the fields {', '.join(_FIELDS)}")
    return f"{given['from']} to {given['to']}"


def _only_range(given: object) -> object:
    if not isinstance(given, str) or _TO.search(given) is None:
        raise ValueError(f"a range such as {_EXAMPLE}")
    return given


ThinkRange = Annotated[
    str,
    BeforeValidator(_only_range),
    WithJsonSchema(
        {
            "type": ["string", "object"],
            "examples": [_EXAMPLE, {"distribution": "uniform", "from": "1s", "to": "3s"}],
        },
        mode="validation",
    ),
]
"""A range that `range_as_text` has read."""
