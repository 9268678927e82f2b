"""Passwords in an experiment: found before any other fault, as the messages of those quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loadstone.secret import HELD, holds_secret, names_secret
from loadstone.spec.problems import Path, Problem

_SCENARIO = ("workload", "parameters", "scenario")
"""Its model judges it, and repeats nothing of it: it names passwords without holding them."""
_BY_NAME = "is the name of a password, which would be written into the results"


def secret_problems(data: Any) -> list[Problem]:
    """Every field that holds a password, or that is called as passwords are.

    The one field for it, `password` of a target, has a reference: the model judges it.

    Args:
        data: An experiment as it was written; it may refer to itself.
    """
    return list(_within(data, (), set()))


def _within(data: Any, path: Path, seen: set[int]) -> Iterator[Problem]:
    if path == _SCENARIO:
        return
    if isinstance(data, str) and holds_secret(data):
        yield Problem(path, HELD)
    elif isinstance(data, str) and path[-1:] == ("factor",) and names_secret(data):
        yield Problem(path, _BY_NAME)
    elif isinstance(data, Mapping | list) and id(data) not in seen:
        seen.add(id(data))
        yield from (
            _of_list(data, path, seen) if isinstance(data, list) else _of_mapping(data, path, seen)
        )


def _of_list(data: list[Any], path: Path, seen: set[int]) -> Iterator[Problem]:
    for index, each in enumerate(data):
        yield from _within(each, (*path, index), seen)


def _of_mapping(data: Mapping[Any, Any], path: Path, seen: set[int]) -> Iterator[Problem]:
    for key, each in data.items():
        own = (*path, key)
        if holds_secret(str(key)):
            yield Problem(path, f"the name of a field {HELD}")
        elif names_secret(str(key)) and each not in (None, "") and not _is_reference(own):
            yield Problem(own, _BY_NAME)
        else:
            yield from _within(each, own, seen)


def _is_reference(path: Path) -> bool:
    """Whether a field is `target.password`, or that of another target."""
    return path == ("target", "password") or (
        path[:2] == ("target", "others") and path[3:] == ("password",)
    )
