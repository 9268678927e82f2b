"""Weights of operations: the short form of the command line, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BeforeValidator

from loadstone.limits import MOST_CARDS


def _from_text(mix: object) -> object:
    if not isinstance(mix, str):
        return mix
    parts = [part.partition("=") for part in mix.replace(",", " ").split()]
    if not all(equals for _, equals, _ in parts):
        raise ValueError(f"{mix!r} is no mix: write NAME=WEIGHT for each, with commas between")
    return {name: weight for name, _, weight in parts}


Mix = Annotated[dict[str, int], BeforeValidator(_from_text)]
"""Weight by name; a field of parameters, which also takes `name=40,other=30`."""


def check_mix(mix: dict[str, int], known: Collection[str], kind: str = "operation") -> None:
    """Refuses names that are not known, weights out of range, and a mix of nothing.

    Args:
        mix: Weight by name.
        known: The names that can be made.
        kind: What a name is of, for messages.

    Raises:
        ValueError: One line.
    """
    for name, weight in mix.items():
        if name not in known:
            raise ValueError(f"there is no {kind} {name!r}: choose from {', '.join(known)}")
        if not 0 <= weight <= MOST_CARDS:
            raise ValueError(f"the weight of {name} is {weight}: give 0 to {MOST_CARDS}")
    if not any(mix.values()):
        raise ValueError(f"no {kind} has a weight above 0: give one to one of them at least")
