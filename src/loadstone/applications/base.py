"""An application: its input, its command, and how the result of a job is read and checked.

It knows no scheduler and no cluster. The workload `jobs` makes its input once, stages it for each
job, and gives every job that ended to `check`.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from loadstone.errors import WrongInputError
from loadstone.job.record import JobRecord
from loadstone.results.record import CheckResult
from loadstone.spec.base import Spec

P = TypeVar("P", bound=Spec)
"""The parameters of an application."""

Launch = Literal["mpi", "plain"]
"""`mpi`: the ranks are one MPI world; `plain`: each rank is a process that knows no other."""


@dataclass(frozen=True)
class InputFile:
    """A file that a job finds in its working folder."""

    path: Path
    """Where it lies before it is staged."""
    name: str
    """In the working folder, relative: `CASE.DATA`, `include/grid.inc`."""


@dataclass(frozen=True)
class InputFacts:
    """The input that was made, or that a user gave."""

    files: tuple[InputFile, ...]
    sums: Mapping[str, str]
    """Name in the working folder: SHA-256."""
    size_bytes: int

    @classmethod
    def of(cls, files: Iterable[InputFile]) -> InputFacts:
        """The facts of files, which are read for their sums.

        Raises:
            WrongInputError: If one cannot be read.
        """
        found = tuple(files)
        try:
            sums = {each.name: sha256_of(each.path) for each in found}
            return cls(found, sums, sum(each.path.stat().st_size for each in found))
        except OSError as error:
            raise WrongInputError(f"{error.filename} cannot be read: {error.strerror}") from error


@dataclass(frozen=True)
class FinishedJob:
    """A job that is over, as `check` sees it."""

    output: Path
    """The folder with what was brought back. It may be empty or missing."""
    record: JobRecord
    ranks: int
    """That were asked for."""
    given: Path
    """The folder of `make_input`."""
    reference: Path | None = None
    """The folder of `make_reference`, for applications that have one."""


class Application(ABC, Generic[P]):
    """Base of all applications; a subclass is registered by `applications.registry`."""

    name: ClassVar[str]
    """Also the name of its operation in frames and results."""
    title: ClassVar[str]
    """What it is, in a few words."""
    Parameters: ClassVar[type[Spec]]
    """Of `applications.NAME` among the parameters of the workload."""
    claims: ClassVar[Mapping[str, str]]
    """Name of each check, which begins with that of the application: what it holds, over what."""
    launch: Launch = "plain"
    path_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that are paths: in an experiment file they are relative to that file."""
    has_reference: ClassVar[bool] = False
    """Results are compared with those of a serial run, which `make_reference` makes."""
    environment: ClassVar[Mapping[str, str]] = {}
    """Variables of each rank."""

    def __init__(self, parameters: P) -> None:
        self.parameters = parameters

    # -- before anything begins ----------------------------------------------------------------
    def physics(self) -> str:
        """What is computed, in a few words; reports show it."""
        return self.title

    def examine(self) -> None:
        """Whether the parameters and the files that they name can be used.

        Raises:
            WrongInputError: If not: what was given, what is wrong, what to do.
        """

    def fits(self, ranks: int) -> None:
        """Whether it can run with so many ranks.

        Raises:
            WrongInputError: If not.
        """

    def tools(self) -> Mapping[str, Callable[[], str]]:
        """Programs and libraries of others that it needs.

        Returns:
            By name, what tells version and place; it raises a LoadstoneError that names the Debian
            package if there is none.
        """
        return {}

    def data_key(self) -> dict[str, Any]:
        """The parameters that decide input and result: equal keys share input and reference."""
        return {"application": self.name, **self.parameters.model_dump(mode="json")}

    # -- input ---------------------------------------------------------------------------------
    @abstractmethod
    def make_input(self, folder: Path, seed: int) -> InputFacts:
        """Makes the input, or finds that of the user.

        Args:
            folder: Exists, is empty and is the application's own: what is made goes there.
            seed: The same seed makes the same bytes.

        Raises:
            WrongInputError: If a file of the user cannot be used.
        """

    def make_reference(self, given: Path, folder: Path, python: str) -> None:
        """Makes the result that others are compared with, if it `has_reference`.

        Args:
            given: The folder of `make_input`.
            folder: Exists and is empty.
            python: The interpreter of this machine.

        Raises:
            LoadstoneError: If the serial run fails.
        """

    # -- a job ---------------------------------------------------------------------------------
    @abstractmethod
    def command(self, ranks: int, python: str) -> list[str]:
        """The words of a rank, which runs in the working folder.

        Args:
            ranks: Of the job.
            python: The interpreter on the nodes; `loadstone.applications` can be imported there,
                and nothing but the standard library is promised.
        """

    @abstractmethod
    def bring_back(self) -> tuple[str, ...]:
        """Globs, relative to the working folder, of what `check` reads."""

    # -- result --------------------------------------------------------------------------------
    @abstractmethod
    def check(self, job: FinishedJob) -> list[CheckResult]:
        """Whether the result is right, complete, and of this job. It never raises for a bad result.

        Returns:
            One result for each of `claims`.
        """

    def verdict(self, name: str, problem: str, detail: str) -> CheckResult:
        """A result of one of `claims`.

        Args:
            name: Of the check.
            problem: What is wrong; empty: it passed.
            detail: What was compared, with its figures.
        """
        return CheckResult(
            name=name, passed=not problem, detail=problem or detail, claim=self.claims[name]
        )


AnyApplication = Application[Any]


def sha256_of(path: Path) -> str:
    """The checksum of a file of any size.

    Raises:
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
