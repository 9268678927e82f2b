"""Lines of a dimension's file that are not taken, and what hangs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


def folded(name: str) -> str:
    """A name as Essbase compares it: case does not count, unless a database is set otherwise."""
    return name.casefold()


class NotTakenError(ValueError):
    """Why a line is not taken; and, if that is all that is wrong with it, the member it lacks."""

    def __init__(self, reason: str, lacks: str | None = None) -> None:
        super().__init__(reason)
        self.lacks = lacks


@dataclass(frozen=True)
class Reject:
    """A line that is not taken."""

    line: int
    """From 1, which is the header."""
    reason: str
    row: Sequence[str]
    lacks: str | None = None
    """The member without which it cannot be taken."""

    @property
    def child(self) -> str:
        """The member of the line; empty if it says none."""
        return self.row[1] if len(self.row) > 1 else ""


def causes(rejects: Sequence[Reject]) -> list[tuple[Reject, int]]:
    """The rejects that have a fault of their own, each with how many further lines hang on it.

    A line hangs on another one that has the member that it lacks: mend that, and it is taken.
    """
    of_child: dict[str, Reject] = {}
    for own in rejects:
        if own.child:
            of_child.setdefault(folded(own.child), own)
    counts = Counter(_cause(own, of_child).line for own in rejects)
    return [(own, counts[own.line] - 1) for own in rejects if counts[own.line]]


def _cause(reject: Reject, of_child: Mapping[str, Reject]) -> Reject:
    chain = [reject]
    while (lacks := chain[-1].lacks) is not None and (above := of_child.get(folded(lacks))):
        if above in chain:  # they lack each other: the first of them stands for all
            return min(chain[chain.index(above) :], key=lambda own: own.line)
        chain.append(above)
    return chain[-1]


def write_rejects(rejects: Sequence[Reject], path: Path) -> None:
    """Writes the lines that were not taken, each after its reason."""
    lines = [f"\\\\ line {own.line}: {own.reason}\n{','.join(own.row)}\n" for own in rejects]
    path.write_text("".join(lines), encoding="utf-8")
