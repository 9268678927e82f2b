"""What a crash trial asks of a workload: which of its commits survived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from loadstone.results.record import CheckResult
from loadstone.targets.base import Target

T = TypeVar("T", bound=Target)


@dataclass(frozen=True)
class Acknowledgement:
    """A commit that the target acknowledged, as the driver noted it."""

    t_s: float
    """On the trial's clock."""
    user: int
    operation: str
    keys: tuple[Any, ...]
    """What it wrote, by the keys of its operation (driver protocol, "Acknowledgements")."""

    def __str__(self) -> str:
        return f"{self.operation} {', '.join(map(str, self.keys))}"


class CommitAudit(ABC, Generic[T]):
    """How a workload finds the commits that a crash has lost."""

    def __init__(self, parameters: BaseModel) -> None:
        self.parameters = parameters

    @abstractmethod
    def lost(self, target: T, acknowledged: Sequence[Acknowledgement]) -> list[Acknowledgement]:
        """The commits that were acknowledged and are not in the data, after a crash.

        Args:
            target: Recovered, without load.
            acknowledged: All since the load began, in any order.
        """

    @abstractmethod
    def consistency(self, target: T) -> list[CheckResult]:
        """Tests of the data that hold whatever was lost, as long as transactions are atomic.

        Args:
            target: Running, without load.
        """
