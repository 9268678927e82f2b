"""Errors of the user and of the trial, each with the exit code that the command line ends with."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from loadstone.secret import masked


class ExitCode(IntEnum):
    """Exit codes of every command (documented in `docs/command-line.md`)."""

    OK = 0
    INTERNAL = 1
    WRONG_INPUT = 2
    INVALID_TRIAL = 3
    FAILED_CHECK = 4
    TARGET = 5
    REFUSED = 6
    FINDINGS = 7
    INTERRUPTED = 130


class LoadstoneError(Exception):
    """Anything that is answered with one clear line instead of a stack trace.

    A password that it would quote is masked: its text may be that of a server or of a library.

    Args:
        message: What was given and what is wrong with it.
        advice: What to do about it; printed on a line of its own.
    """

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(self, message: str, *, advice: str | None = None) -> None:
        self.message = masked(message)
        self.advice = advice if advice is None else masked(advice)
        super().__init__(self.message)


class WrongInputError(LoadstoneError):
    """An option, a file or a value that cannot be used as given."""

    exit_code = ExitCode.WRONG_INPUT


class BeyondTargetError(WrongInputError):
    """A load that the system under test has no room for, however it is made.

    Args:
        message: As of any.
        most: What fills it, as a clause: `8 jobs fill the cluster's 8 slots`.
        advice: As of any.
    """

    def __init__(self, message: str, *, most: str, advice: str | None = None) -> None:
        self.most = masked(most)
        super().__init__(message, advice=advice)


class RefusedError(LoadstoneError):
    """Something Loadstone could do, but will not without being told (safety)."""

    exit_code = ExitCode.REFUSED


class TargetError(LoadstoneError):
    """The system under test, or a program that it needs, does not do what it must."""

    exit_code = ExitCode.TARGET


class DiskFullError(TargetError):
    """A disk that results or data are written to has no space left."""


class LeftBehindError(TargetError):
    """Something that was changed could not be put back at the end; the journal still knows it.

    Args:
        lines: What went wrong, the first cause first.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(
            "\n  ".join(lines),
            advice="put right what is named, then: loadstone recover",
        )


class DriverError(LoadstoneError):
    """The load driver is missing, of another version, or ended badly."""

    exit_code = ExitCode.TARGET


class InterruptedTrialError(LoadstoneError):
    """Somebody pressed Ctrl-C or sent SIGTERM."""

    exit_code = ExitCode.INTERRUPTED
