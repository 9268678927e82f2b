"""Factors `storage.ROLE`: where an owned system has its data, and what lies apart from them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from loadstone.errors import WrongInputError
from loadstone.factors.base import FactorInfo, FactorKind, Parts
from loadstone.host.locality import at_address
from loadstone.placements import support
from loadstone.placements.place import KINDS, Place, parse
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec

DEFAULT = "default"
"""The level that means: as without the factor (a plain folder; the log with the data)."""
_NEXT = re.compile(rf",(?=(?:{'|'.join([*KINDS, DEFAULT])})(?:[:,]|$))")


class StorageFactor(FactorKind):
    """A placement of the data, of the log apart from them, or of what moves away from them."""

    prefix: ClassVar[str] = "storage"
    about: ClassVar[str] = "where data, log or archive lie: storage.data=loop:ext4,noatime"

    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Reads the placement and asks whether this machine can make it."""
        check_role(parts.target, name)
        place = _place(level)
        return FactorInfo(
            f"{self.prefix}.{name}",
            level,
            "restart",
            unsafe=place is not None and support.unsafe_here(place) is not None,
            refused=_refused(parts.target),
            unavailable=support.unavailable(place) if place is not None else None,
        )

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the placement into the target's storage, in its one spelling."""
        check_role(parts.target, name)
        place = _place(level)
        storage = parts.target.storage.placed(name, place.text if place else None)
        return replace(parts, target=parts.target.model_copy(update={"storage": storage}))

    def split(self, text: str) -> list[str]:
        """Placements hold commas: the next begins with a kind, as in `loop:ext4,noatime,tmpfs`."""
        return _NEXT.split(text)


def check_role(target: TargetSpec, role: str) -> None:
    """Looks whether a target has such a part of its data.

    Raises:
        WrongInputError: If it has not.
    """
    from loadstone.targets.registry import target_for

    roles = target_for(target).storage_roles
    if not roles:
        raise WrongInputError(f"target {target.engine} has no data that Loadstone could place")
    if role not in roles:
        raise WrongInputError(f"target {target.engine} has no storage.{role}; {near(role, roles)}")


def _place(level: Level) -> Place | None:
    """The placement that a level names; None for the default."""
    if not isinstance(level, str):
        raise WrongInputError(
            f"{level!r} is no placement", advice="write for example loop:ext4,noatime or tmpfs"
        )
    return None if level == DEFAULT else parse(level)


def _refused(target: TargetSpec) -> str | None:
    if at_address(target):
        return "the server at an address keeps its data where it does; Loadstone did not start it"
    return None
