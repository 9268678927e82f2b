"""Factors `storage.ROLE`: where an owned system has its data, and what lies apart from them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from loadstone.errors import WrongInputError
from loadstone.factors.base import FactorInfo, FactorKind, Parts
from loadstone.host.locality import at_address
from loadstone.placements import support
from loadstone.placements.place import KINDS, Place, parse
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import PartSpec, TargetSpec

if TYPE_CHECKING:
    from loadstone.targets.walk import Known

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
            refused=_refused(_owner(parts.target, name).spec),
            unavailable=support.unavailable(place) if place is not None else None,
        )

    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """Puts the placement into the storage of the target or the part, in its one spelling."""
        check_role(parts.target, name)
        place, target = _place(level), parts.target
        part, _, role = name.rpartition(".")
        present = target.parts.get(part, PartSpec()).storage if part else target.storage
        storage = present.placed(role, place.text if place else None)
        if part:
            return replace(parts, target=target.with_part(part, storage=storage))
        return replace(parts, target=target.model_copy(update={"storage": storage}))

    def split(self, text: str) -> list[str]:
        """Placements hold commas: the next begins with a kind, as in `loop:ext4,noatime,tmpfs`."""
        return _NEXT.split(text)


def check_role(target: TargetSpec, name: str) -> None:
    """Looks whether a target has such a part of its data.

    Args:
        target: The system.
        name: A role, `log`, or that of a part of the system, `database.log`.

    Raises:
        WrongInputError: If it has not.
    """
    owner, role = _owner(target, name), name.rpartition(".")[2]
    roles, whose = owner.kind.storage_roles, f"{owner.told}target {owner.spec.engine}"
    if not roles:
        raise WrongInputError(f"{whose} has no data that Loadstone could place")
    if role not in roles:
        raise WrongInputError(f"{whose} has no storage.{role}; {near(role, roles)}")


def _owner(target: TargetSpec, name: str) -> Known:
    from loadstone.targets.walk import part_in

    return part_in(target, name.rpartition(".")[0])


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
