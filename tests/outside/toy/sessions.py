"""The operations of `files`, for the runner: append a line to a file, read a file."""

from __future__ import annotations

import os
import random
from pathlib import Path

from loadstone.runner.acknowledgements import Acknowledgements
from loadstone.runner.clock import Clock
from loadstone.runner.plan import Plan
from loadstone.runner.session import DONE, EXHAUSTED, FailureError, Outcome, Session, Workload
from toy.lines import BYTES, line_of, path_of


def open_files(plan: Plan, clock: Clock) -> FilesWorkload:
    """The operations of a plan."""
    return FilesWorkload(plan, Acknowledgements(plan.acknowledgements, clock))


class FilesWorkload(Workload):
    """Users append to the files of one folder, and read them."""

    def __init__(self, plan: Plan, acknowledgements: Acknowledgements) -> None:
        self.plan = plan
        self.acknowledgements = acknowledgements
        self.folder = Path(plan.connection["database"])
        self.sync = plan.connection["settings"]["sync"] == "on"
        self.files: int = plan.workload.parameters["files"]
        self.read_share: float = plan.workload.parameters.get("read_share", 0.0)

    @property
    def operations(self) -> tuple[str, ...]:
        """Of the role."""
        return ("create",) if self.plan.workload.role == "load" else ("append", "read")

    def open(self, user: int) -> FilesSession:
        """The session of a user."""
        return FilesSession(self, user)

    def facts(self) -> dict[str, float]:
        """Bytes of all files."""
        return {"bytes": sum(path.stat().st_size for path in self.folder.iterdir())}


class FilesSession(Session):
    """One user, with files of its own handle; what is not synced waits in the process."""

    def __init__(self, shared: FilesWorkload, user: int) -> None:
        self._shared = shared
        self._user = user
        self._draw = random.Random(f"{shared.plan.seed} {user}")
        self._appended = 0
        buffering = 0 if shared.sync else 1 << 20
        paths = [path_of(shared.folder, number) for number in range(shared.files)]
        self._paths = paths
        self._files = [path.open("ab", buffering) for path in paths]
        self._file = 0

    def choose(self) -> str:
        """Draws operation and file."""
        self._file = self._draw.randrange(self._shared.files)
        if self._shared.plan.workload.role == "load":
            return "create"
        return "read" if self._draw.random() < self._shared.read_share else "append"

    def execute(self, operation: str) -> Outcome:
        """Makes it."""
        if operation == "create":
            for file in self._files:
                file.write(line_of(0, 0))
            return EXHAUSTED
        return self._read() if operation == "read" else self._append()

    def close(self) -> None:
        """Lets go of the files."""
        for file in self._files:
            file.close()

    def _append(self) -> Outcome:
        self._appended += 1
        file = self._files[self._file]
        file.write(line_of(self._user + 1, self._appended))
        if self._shared.sync:
            os.fsync(file.fileno())
        self._shared.acknowledgements.note(self._user, "append", self._file, self._appended)
        return DONE

    def _read(self) -> Outcome:
        if len(self._paths[self._file].read_bytes()) < BYTES:
            raise FailureError("no_data", "the file lost its first line")
        return DONE
