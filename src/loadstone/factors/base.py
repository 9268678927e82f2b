"""What a factor is: one name that can be set to a level in an experiment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from loadstone.spec.base import Level
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec


@dataclass(frozen=True)
class Parts:
    """The parts of an experiment that factors change."""

    workload: WorkloadSpec
    target: TargetSpec
    profile: ProfileSpec
    host: Mapping[str, Level]

    @classmethod
    def of(cls, experiment: Experiment) -> Parts:
        """The base of an experiment, before any change."""
        return cls(experiment.workload, experiment.target, experiment.profile, experiment.host)


@dataclass(frozen=True)
class FactorInfo:
    """What setting a factor to a level means."""

    factor: str
    level: Level
    needs: str
    """`reload` or `restart` of the server, `new data`, or `nothing` beyond the next trial."""
    unsafe: bool = False
    """Acknowledged commits can be lost at this level."""
    refused: str | None = None
    """Why it cannot be a factor, if it cannot."""
    unavailable: str | None = None
    """Why this machine cannot set it, though others can: absent or denied."""


NEEDS_DATA = "new data"
NEEDS_NOTHING = "nothing"


class FactorKind(ABC):
    """A family of factors that share a prefix; registered in `factors.registry`."""

    prefix: ClassVar[str]
    about: ClassVar[str]
    """One line for `loadstone list factors`."""
    of_load: ClassVar[bool] = False
    """They change what is asked of the system, not the system."""

    @abstractmethod
    def examine(self, parts: Parts, name: str, level: Level) -> FactorInfo:
        """Says what the level would need, without starting anything.

        Args:
            parts: What it would be applied to.
            name: The factor without its prefix.
            level: The level.

        Raises:
            WrongInputError: If there is no such factor, or the level is none of it.
        """

    @abstractmethod
    def apply(self, parts: Parts, name: str, level: Level) -> Parts:
        """The parts with the factor at that level.

        Raises:
            WrongInputError: If the level is none of the factor, or does not go with the rest.
        """

    def plain(self, parts: Parts, name: str) -> str:
        """One spelling for all that the name of a factor may have.

        Args:
            parts: What it would be applied to.
            name: The factor without its prefix.
        """
        return name

    def split(self, text: str) -> list[str]:
        """The levels that are written in one word, as on a command line: between commas."""
        return text.split(",")

    def check(self, parts: Parts) -> None:  # noqa: B027 - most families have nothing to say
        """Looks at levels that are right alone and wrong together, once all changes are made.

        Raises:
            WrongInputError: If some do not go with each other.
        """
