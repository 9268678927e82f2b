"""Classes by name, each imported when it is asked for.

A workload and a target bring libraries of their own: a command waits for those that it uses only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

T = TypeVar("T")


class Registered(Mapping[str, type[T]]):
    """Names and their classes; all of them are imported only where all are asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Take the names in the order in which people see them.

        Args:
            places: Name of each: `module:Class`.
        """
        self._places = dict(places)

    def __getitem__(self, name: str) -> type[T]:
        module, _, of_class = self._places[name].partition(":")
        found: type[T] = getattr(import_module(module), of_class)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
