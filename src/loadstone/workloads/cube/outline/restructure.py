"""The outline after a restructure: an account is added, one moved, one deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.model import Dimension, DimensionBuilder, Member, Outline

ADDED = Member("OPX_000", None, consolidation="+", rate="average")
BEFORE = "OPX_001"
"""The member before which the new one comes: all behind it get other numbers."""
MOVED, TO = "BS_001", "Assets_02"
"""A member with data, and its new parent: it comes last there."""
DELETED = "STAT_75"
"""A member that never has data."""


@dataclass(frozen=True)
class Restructured:
    """What a restructure makes of an outline."""

    outline: Outline
    renumbered: Mapping[int, int]
    """Number before: number after, of each account that stays."""


def restructure(outline: Outline) -> Restructured:
    """Adds, moves and deletes an account."""
    before = outline[ACCOUNT]
    after = _changed(before)
    renumbered = {
        number: after.numbers[member.name]
        for number, member in enumerate(before.members)
        if member.name != DELETED
    }
    return Restructured(outline.with_dimension(after), renumbered)


def _changed(dimension: Dimension) -> Dimension:
    builder = DimensionBuilder(replace(dimension.members[0], parent=None))
    moved = dimension.members[dimension.numbers[MOVED]]

    def add_children(number: int, parent: int) -> None:
        for child in dimension.children[number]:
            member = dimension.members[child]
            if member.name == BEFORE:
                builder.add(parent, ADDED)
            if member.name not in {MOVED, DELETED}:
                add_children(child, builder.add(parent, member))
        if dimension.members[number].name == TO:
            builder.add(parent, moved)

    add_children(0, 0)
    return builder.finished(dimension.name, dense=dimension.dense)
