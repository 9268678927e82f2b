"""The list of commits that the engine acknowledged, against which a crash trial checks the data."""

from __future__ import annotations

import json
import os

from loadstone.runner.clock import Clock, to_s
from loadstone.runner.plan import RefusalError
from loadstone.runner.session import FailureError


class Acknowledgements:
    """A file that all users append to; without a path nothing is noted."""

    def __init__(self, path: str | None, clock: Clock) -> None:
        """Opens it.

        Args:
            path: Of the plan.
            clock: Of the run.

        Raises:
            RefusalError: It cannot be opened.
        """
        self._clock = clock
        self._file = None if path is None else _opened(path)

    def note(self, user: int, operation: str, *keys: int | str) -> None:
        """Appends a commit, before its user goes on.

        Raises:
            FailureError: The line was not written as a whole.
        """
        if self._file is None:
            return
        at_s = round(to_s(self._clock.now_ns()), 6)
        line = json.dumps([at_s, user, operation, *keys], separators=(",", ":")).encode() + b"\n"
        # One write: a line is there as a whole or not at all, whatever kills the runner next.
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise _not_noted(str(error)) from error
        if written != len(line):
            raise _not_noted("the line was cut")


def _opened(path: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except OSError as error:
        raise RefusalError("acknowledgements", f"cannot open {path}: {error}") from error


def _not_noted(problem: str) -> FailureError:
    return FailureError("acknowledgements", f"a commit could not be noted: {problem}")
