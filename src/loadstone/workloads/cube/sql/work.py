"""What a step sends to an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class CellLoad:
    """A file of cells that goes into a table."""

    file: str
    source: Literal["native", "lines"]
    names: str
    """File with the numbers of the members that may hold data."""
    table: str
    rejects: str | None = None
    """File for the lines that are not taken."""


Job = tuple[str | CellLoad, ...]
"""Statements and files that follow each other in one session."""
Stage = tuple[Job, ...]
"""Jobs at the same time, each in a session of its own."""


@dataclass(frozen=True)
class Work:
    """Stages that follow each other."""

    stages: tuple[Stage, ...] = ()

    def __add__(self, other: Work) -> Work:
        return Work(self.stages + other.stages)

    def then(self, *statements: str) -> Work:
        """With further statements in the session that does the first jobs."""
        if not self.stages or len(self.stages[-1]) > 1:
            return self + one_by_one(*statements)
        *before, (job,) = self.stages
        return Work((*before, ((*job, *statements),)))

    def planned(self) -> list[Any]:
        """As the plan of the runner has it."""
        return [[[_planned(action) for action in job] for job in stage] for stage in self.stages]


def _planned(action: str | CellLoad) -> Any:
    return action if isinstance(action, str) else asdict(action)


def one_by_one(*statements: str) -> Work:
    """All in one session."""
    return Work(((tuple(statements),),)) if statements else Work()


def at_once(jobs: Sequence[Job]) -> Work:
    """Each in a session of its own; jobs without actions are left out."""
    stage = tuple(job for job in jobs if job)
    return Work((stage,)) if stage else Work()
