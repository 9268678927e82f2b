"""Dimensions of a cube, and their members in the order of the outline.

The words are those of Oracle Essbase (*Database Administrator's Guide*, "Understanding
Multidimensional Databases"): generation, consolidation, stored, dynamic, label-only, shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Consolidation = Literal["+", "-", "~"]
"""What a member adds to its parent: itself, itself with the other sign, or nothing."""
Storage = Literal["stored", "dynamic", "label-only", "shared"]
"""`dynamic`: made when it is asked for. `shared`: another place of a member that is stored."""
RateType = Literal["average", "ending", "none"]
"""By which rate of a period amounts are converted; those of type `none` are no money."""
TimeBalance = Literal["flow", "last"]
"""What a period of periods shows of an account: the sum of its periods, or the last of them."""


@dataclass(frozen=True)
class Ratio:
    """A formula: one member divided by another; nothing where either is missing or the second 0."""

    numerator: str
    denominator: str

    def __str__(self) -> str:
        return f'"{self.numerator}" / "{self.denominator}"'


@dataclass(frozen=True)
class Member:
    """A member of a dimension."""

    name: str
    parent: int | None
    """Number of its parent; None of the root."""
    storage: Storage = "stored"
    consolidation: Consolidation = "+"
    formula: Ratio | None = None
    two_pass: bool = False
    """The formula is worked out again behind all totals: of them, and no total of its results."""
    rate: RateType | None = None
    """Of accounts."""
    balance: TimeBalance = "flow"
    currency: str | None = None
    """Of entities: in which their amounts arise."""


@dataclass(frozen=True)
class Dimension:
    """A tree of members.

    Members are numbered from 0 in the order of the outline, parents before their children and a
    whole subtree before the next (pre-order), so that a subtree is a range of numbers.
    """

    name: str
    dense: bool
    members: tuple[Member, ...]

    def __post_init__(self) -> None:
        path: list[int] = []
        for number, member in enumerate(self.members):
            while path and path[-1] != member.parent:
                path.pop()
            if not path and (number > 0 or member.parent is not None):
                raise ValueError(f"{self.name}: {member.name} does not follow its parent's subtree")
            path.append(number)

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each name; of a shared member that of the stored one."""
        return {
            member.name: number
            for number, member in enumerate(self.members)
            if member.storage != "shared"
        }

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """Number of each member's parent; -1 of the root. Shape (members,)."""
        return np.array([-1 if own.parent is None else own.parent for own in self.members])

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of each member's children."""
        found: list[list[int]] = [[] for _ in self.members]
        for number, member in enumerate(self.members):
            if member.parent is not None:
                found[member.parent].append(number)
        return tuple(map(tuple, found))

    @cached_property
    def generations(self) -> NDArray[np.int64]:
        """Generation of each member, the root's is 1. Shape (members,)."""
        found = np.ones(len(self.members), dtype=np.int64)
        for number, parent in enumerate(self.parents[1:], start=1):
            found[number] = found[parent] + 1
        return found

    @cached_property
    def last(self) -> NDArray[np.int64]:
        """Number of the last member of each member's subtree. Shape (members,)."""
        found = np.arange(len(self.members))
        for number in range(len(self.members) - 1, 0, -1):
            parent = self.parents[number]
            found[parent] = max(found[parent], found[number])
        return found

    @property
    def stored(self) -> int:
        """Members whose cells are kept."""
        return sum(member.storage == "stored" for member in self.members)

    def with_children(self) -> list[Member]:
        """The members that have any: the parents of the dimension."""
        return [
            member for member, children in zip(self.members, self.children, strict=True) if children
        ]

    def leaves(self) -> list[int]:
        """Numbers of the stored members without children: there data arrive."""
        return [
            number
            for number, member in enumerate(self.members)
            if member.storage == "stored" and not self.children[number]
        ]

    def hybrid(self) -> Dimension:
        """With its stored parents dynamic: their cells are made when they are asked for."""
        members = [
            replace(member, storage="dynamic")
            if self.children[number] and member.storage == "stored"
            else member
            for number, member in enumerate(self.members)
        ]
        return replace(self, members=tuple(members))


@dataclass(frozen=True)
class Outline:
    """The dimensions of a cube, the dense ones first."""

    dimensions: tuple[Dimension, ...]

    def __getitem__(self, name: str) -> Dimension:
        return next(own for own in self.dimensions if own.name == name)

    @property
    def cells_per_block(self) -> int:
        """Stored cells of a block: the product of the dense dimensions."""
        return int(np.prod([own.stored for own in self.dimensions if own.dense]))

    @property
    def potential_blocks(self) -> int:
        """Blocks of all combinations of stored members of sparse dimensions."""
        product = 1
        for own in self.dimensions:
            product *= 1 if own.dense else own.stored
        return product

    def with_dimension(self, dimension: Dimension) -> Outline:
        """With another one in the place of that of its name."""
        return Outline(
            tuple(dimension if own.name == dimension.name else own for own in self.dimensions)
        )


class DimensionBuilder:
    """A dimension while it is being made: members are added in the order of the outline."""

    def __init__(self, root: Member) -> None:
        self._members = [root]

    def add(self, parent: int, member: Member) -> int:
        """Adds a child after all members there are; returns its number."""
        self._members.append(replace(member, parent=parent))
        return len(self._members) - 1

    def add_leaves(self, parent: int, members: Sequence[Member]) -> None:
        """Adds children of one parent."""
        for member in members:
            self.add(parent, member)

    def finished(self, name: str, *, dense: bool) -> Dimension:
        """The dimension.

        Raises:
            ValueError: If a member does not follow its parent's subtree.
        """
        return Dimension(name, dense, tuple(self._members))
