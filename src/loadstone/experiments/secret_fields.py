"""Passwords in an experiment: found before any other fault, as the messages of those quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from loadstone.experiments.places import kind_written
from loadstone.secret import HELD, holds_secret, names_secret
from loadstone.spec.problems import Path, Problem

_BY_NAME = "is the name of a password, which would be written into the results"


def secret_problems(data: Any) -> list[Problem]:
    """Every field that holds a password, or that is called as passwords are.

    The one field for it, `password` of a target or of a meter, has a reference: the model judges
    it. A workload may judge parameters of its own, which name passwords without holding them.

    Args:
        data: An experiment as it was written; it may refer to itself.
    """
    kind = kind_written(data)
    judged = kind.judges_secrets if kind is not None else ()
    left_out = frozenset(("workload", "parameters", name) for name in judged)
    return list(_Search(left_out).within(data, ()))


@dataclass(frozen=True)
class _Search:
    """Of all fields but some."""

    left_out: frozenset[Path]
    seen: set[int] = field(default_factory=set)
    """What was gone into: data may hold themselves."""

    def within(self, data: Any, path: Path) -> Iterator[Problem]:
        if path in self.left_out:
            return
        if isinstance(data, str) and holds_secret(data):
            yield Problem(path, HELD)
        elif isinstance(data, str) and path[-1:] == ("factor",) and names_secret(data):
            yield Problem(path, _BY_NAME)
        elif isinstance(data, Mapping | list) and id(data) not in self.seen:
            self.seen.add(id(data))
            if isinstance(data, list):
                yield from self._of_list(data, path)
            else:
                yield from self._of_mapping(data, path)

    def _of_list(self, data: list[Any], path: Path) -> Iterator[Problem]:
        for index, each in enumerate(data):
            yield from self.within(each, (*path, index))

    def _of_mapping(self, data: Mapping[Any, Any], path: Path) -> Iterator[Problem]:
        for key, each in data.items():
            own = (*path, key)
            if holds_secret(str(key)):
                yield Problem(path, f"the name of a field {HELD}")
            elif names_secret(str(key)) and each not in (None, "") and not _is_reference(own):
                yield Problem(own, _BY_NAME)
            else:
                yield from self.within(each, own)


def _is_reference(path: Path) -> bool:
    """Whether a field is `target.password`, that of another target, of a part, or of a meter."""
    if path[:1] == ("meters",):
        return len(path) == 3 and path[-1] == "password"
    inner = path[1:]
    while inner[:1] in (("others",), ("parts",)) and len(inner) > 2:
        inner = inner[2:]
    return path[:1] == ("target",) and inner == ("password",)
