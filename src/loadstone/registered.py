"""What has a name, imported when it is asked for: Loadstone's own, and that of other packages.

A workload and a target bring libraries of their own: a command waits for those that it uses only.
Another package registers its own by entry points. One that is broken is left out, and the reason is
kept for whoever asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

Unfit = Callable[[str, object], str]
"""What is wrong with what was registered by a name; empty: nothing."""


@dataclass(frozen=True)
class _Outside(Generic[T]):
    """What another package gave a name, or why it is left out."""

    found: T | None
    reason: str = ""


class Registered(Mapping[str, T]):
    """Names and what they stand for; everything is imported only where all of it is asked for."""

    def __init__(self, places: Mapping[str, str], *, group: str, unfit: Unfit) -> None:
        """Take the names in the order in which people see them.

        Args:
            places: Where Loadstone's own are, by name: `module:Class`.
            group: Of the entry points by which other packages add theirs.
            unfit: Examines what they add.
        """
        self._places = dict(places)
        self._group = group
        self._unfit = unfit
        self._examined: dict[str, _Outside[T]] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._places:
            module, _, attribute = self._places[name].partition(":")
            own: T = getattr(import_module(module), attribute)
            return own
        found = self._examine(name).found if name in self._points else None
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if name in self._places:
            return True
        return isinstance(name, str) and name in self._points and not self._examine(name).reason

    def __iter__(self) -> Iterator[str]:
        yield from self._places
        yield from (name for name in self._points if name not in self._places and name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def left_out(self) -> dict[str, str]:
        """Name: the package that gave it, and why what it gave cannot be used."""
        reasons = {name: self._examine(name).reason for name in self._points}
        return {name: reason for name, reason in reasons.items() if reason}

    @cached_property
    def _points(self) -> dict[str, list[EntryPoint]]:
        """What other packages give, by name. Only who asks for an unknown name looks."""
        from importlib.metadata import entry_points

        points: dict[str, list[EntryPoint]] = {}
        for point in sorted(entry_points(group=self._group), key=lambda each: each.name):
            points.setdefault(point.name, []).append(point)
        return points

    def _examine(self, name: str) -> _Outside[T]:
        if name not in self._examined:
            self._examined[name] = self._looked_at(name, self._points[name])
        return self._examined[name]

    def _looked_at(self, name: str, points: list[EntryPoint]) -> _Outside[T]:
        if name in self._places:
            return self._refused(points[0], "Loadstone has one of this name")
        if len(points) > 1:
            return self._refused(points[0], f"{_package(points[1])} gives this name too")
        try:
            found = points[0].load()
        except Exception as error:  # whatever a module of somebody else's does
            return self._refused(points[0], f"cannot be loaded: {type(error).__name__}: {error}")
        problem = self._unfit(name, found)
        return self._refused(points[0], problem) if problem else _Outside(found)

    def _refused(self, point: EntryPoint, problem: str) -> _Outside[T]:
        what = f"entry point {point.name!r} of {self._group} ({point.value})"
        return _Outside(None, " ".join(f"{_package(point)}: {what}: {problem}".split()))


def unfit_class(base: type[Any], named_by: str) -> Unfit:
    """An examination of classes.

    Args:
        base: What each must be a class of. Class variables that it leaves open must be set.
        named_by: The class variable that says the name.
    """
    needed = [
        name for name, kind in inspect.get_annotations(base).items() if "ClassVar" in str(kind)
    ]

    def unfit(name: str, found: object) -> str:
        if not (isinstance(found, type) and issubclass(found, base)):
            return f"it is no {base.__name__}"
        lacking = sorted(getattr(found, "__abstractmethods__", ()))
        lacking += [each for each in needed if not hasattr(found, each)]
        if lacking:
            return f"it lacks {', '.join(lacking)}"
        own = getattr(found, named_by)
        return "" if own == name else f"its {named_by} is {own!r}"

    return unfit


def _package(point: EntryPoint) -> str:
    package = point.dist
    return f"package {package.name} {package.version}" if package else "a package without a name"
