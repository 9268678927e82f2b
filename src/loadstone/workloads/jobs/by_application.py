"""Parameters that may differ by application: `8`, or `flow:8,pstm:16`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

MOST_RANKS, MOST_NODES = 4096, 1024


def _count(given: object) -> object:
    """A text of digits is a whole number; another is one for each application."""
    return int(given) if isinstance(given, str) and given.strip().isdigit() else given


Ranks = Annotated[Annotated[int, Field(ge=1, le=MOST_RANKS)] | str, BeforeValidator(_count)]
"""A whole number, or `APPLICATION:NUMBER` for each, with commas between."""
Nodes = Annotated[Annotated[int, Field(ge=0, le=MOST_NODES)] | str, BeforeValidator(_count)]
"""Likewise; 0 leaves them to the placement."""


def parts_of(given: str) -> Mapping[str, str]:
    """Application: its part of a text such as `flow:8,pstm:16`; of `8` the key is empty.

    Raises:
        ValueError: If a part has no application or no value, or an application two parts.
    """
    if ":" not in given:
        return {"": given.strip()}
    found: dict[str, str] = {}
    for part in given.split(","):
        name, colon, value = (each.strip() for each in part.partition(":"))
        if not (name and colon and value):
            raise ValueError(f"{given!r}: write one value, or APPLICATION:VALUE for each")
        if name in found:
            raise ValueError(f"{given!r} names {name} twice")
        found[name] = value
    return found


def of_application(given: int | str, application: str, default: str) -> str:
    """What a parameter is for an application.

    Args:
        given: The parameter.
        application: By name.
        default: Where the parameter names other applications only.
    """
    parts = parts_of(str(given))
    return parts.get(application, parts.get("", default))


def check_counts(given: int | str, applications: Collection[str], least: int, most: int) -> None:
    """Refuses what is no number in range, and parts of applications that there are not.

    Raises:
        ValueError: One line.
    """
    for name, value in _of_known(given, applications).items():
        of = f"{name}: " if name else ""
        if not value.isdigit() or not least <= int(value) <= most:
            raise ValueError(f"{of}{value!r} is no whole number from {least} to {most}")


def check_words(given: str, applications: Collection[str], words: Collection[str]) -> None:
    """Refuses other words, and parts of applications that there are not.

    Raises:
        ValueError: One line.
    """
    for value in _of_known(given, applications).values():
        if value not in words:
            raise ValueError(f"{value!r} is none of {', '.join(words)}")


def _of_known(given: int | str, applications: Collection[str]) -> Mapping[str, str]:
    parts = parts_of(str(given))
    for name in parts:
        if name and name not in applications:
            raise ValueError(f"{name!r} is none of the applications: {', '.join(applications)}")
    return parts
