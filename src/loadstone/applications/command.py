"""The application `command`: any command of the user, with a check of its own.

The command is run by the shell of the node in the job's working folder, which is fresh. A job
counts if every rank ended with exit code 0, and if the file that was asked for was made by it.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar

from pydantic import Field, field_validator

from loadstone.applications.base import (
    Application,
    FinishedJob,
    InputFacts,
    InputFile,
    sha256_of,
)
from loadstone.counting import how_many
from loadstone.errors import WrongInputError
from loadstone.results.record import CheckResult
from loadstone.spec.base import Spec
from loadstone.text import readable

ENDED, OUTPUT = "command-ended", "command-output"
_SHELL = "/bin/sh"
_CLOCK_S = 1.0
_SUM_LENGTH = 64
"""Hexadecimal digits of SHA-256."""


class CommandParameters(Spec):
    """What is run, what it reads, what it must make."""

    command: str = Field(
        min_length=1,
        description="Words for the shell, as `./simulate model.dat`. Each rank runs them.",
    )
    input: str | None = Field(
        default=None,
        description="Path of a file that each job finds in its working folder, under its name.",
    )
    output: str = Field(
        default="",
        description="A file that the command must make, relative to the working folder; empty: its "
        "exit code alone counts.",
    )
    sha256: str = Field(
        default="", description="That the output must have; empty: it must be there, and not empty."
    )
    mpi: bool = Field(
        default=False,
        description="The ranks are started as one MPI world; otherwise each is a process of its "
        "own.",
    )

    @field_validator("command")
    @classmethod
    def _words(cls, given: str) -> str:
        try:
            words = shlex.split(given)
        except ValueError as error:
            raise ValueError(f"a command must be words for the shell: {error}") from error
        if not words:
            raise ValueError("a command must be words for the shell: there is none")
        return given

    @field_validator("output")
    @classmethod
    def _within(cls, given: str) -> str:
        path = PurePosixPath(given)
        if path.is_absolute() or ".." in path.parts or any(each in given for each in "*?["):
            raise ValueError("an output is the name of one file below the working folder")
        return given

    @field_validator("sha256")
    @classmethod
    def _sum(cls, given: str) -> str:
        if given and (len(given) != _SUM_LENGTH or set(given.lower()) - set("0123456789abcdef")):
            raise ValueError(f"a SHA-256 has {_SUM_LENGTH} hexadecimal digits")
        return given.lower()


class Command(Application[CommandParameters]):
    """Whatever the user runs."""

    name = "command"
    title = "a command of your own"
    Parameters = CommandParameters
    claims: ClassVar[Mapping[str, str]] = {
        ENDED: "every rank of every job ended with exit code 0",
        OUTPUT: "the file that was asked for is there, was made in the job's own run, and has the "
        "sum that was asked for; over all jobs (nothing is asked for by default)",
    }
    path_parameters: ClassVar[tuple[str, ...]] = ("input",)
    parameters: CommandParameters

    def __init__(self, parameters: CommandParameters) -> None:
        super().__init__(parameters)
        self.launch = "mpi" if parameters.mpi else "plain"

    def examine(self) -> None:
        """Whether the input can be read, and a sum has a file.

        Raises:
            WrongInputError: If not.
        """
        given = self.parameters
        if given.input is not None:
            readable(Path(given.input))
        if given.sha256 and not given.output:
            raise WrongInputError(
                "command: a sha256 is given, and no output that it is of",
                advice="give the output too: applications.command.output",
            )

    def tools(self) -> Mapping[str, Callable[[], str]]:
        """A shell."""
        return {"shell": _find_shell}

    def make_input(self, folder: Path, seed: int) -> InputFacts:
        """The user's file, if there is one."""
        if self.parameters.input is None:
            return InputFacts.of(())
        path = Path(self.parameters.input)
        return InputFacts.of((InputFile(path, path.name),))

    def command(self, ranks: int, python: str) -> list[str]:
        """The shell with the user's words. The shell makes way for a single command."""
        return [_SHELL, "-c", self.parameters.command]

    def bring_back(self) -> tuple[str, ...]:
        """The file that was asked for."""
        return (self.parameters.output,) if self.parameters.output else ()

    def check(self, job: FinishedJob) -> list[CheckResult]:
        """Exit codes, and the output."""
        ended = job.record.ranks
        wrong = [
            f"rank {each.rank} ended with {each.exit_code}" for each in ended if each.exit_code
        ]
        if len(ended) != job.ranks:
            wrong.append(f"{len(ended)} of {job.ranks} ranks told how they ended")
        name = self.parameters.output
        return [
            self.verdict(ENDED, "; ".join(wrong), f"{how_many(len(ended), 'rank')} ended with 0"),
            self.verdict(
                OUTPUT,
                self._output_problem(job) if name else "",
                f"{name} as asked for" if name else "no output was asked for",
            ),
        ]

    def _output_problem(self, job: FinishedJob) -> str:
        name, path = self.parameters.output, job.output / self.parameters.output
        try:
            facts = path.stat()
            found = sha256_of(path)
        except OSError as error:
            return f"{name}: {error.strerror}"
        if facts.st_mtime < job.record.began_epoch_s - _CLOCK_S:
            return f"{name} is older than the job's run"
        if self.parameters.sha256 and found != self.parameters.sha256:
            return f"{name} has the SHA-256 {found}, not {self.parameters.sha256}"
        return "" if facts.st_size else f"{name} is empty"


def _find_shell() -> str:
    found = shutil.which(_SHELL)
    if found is None:
        raise WrongInputError(
            f"there is no {_SHELL}", advice="install the Debian package dash, or bash"
        )
    return found
