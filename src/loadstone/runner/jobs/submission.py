"""Submits jobs so that none is lost and none runs twice.

A line with the name is on the desk before the scheduler is asked. Where nobody knows whether it
took the job, the job is looked for by its name; it is never sent again.
"""

from __future__ import annotations

import json
import os
import shlex
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import loadstone
from loadstone.errors import LoadstoneError
from loadstone.job.record import ARRIVED_FILE, write_json
from loadstone.job.task import JOB_FILE, task_object
from loadstone.runner.jobs.parameters import Gate, Parameters, PlannedJob
from loadstone.runner.jobs.watch import Watch
from loadstone.runner.session import FailureError
from loadstone.schedulers.base import Request, Scheduler, SubmissionError

SUBMISSIONS_FILE = "submissions.jsonl"
SUBMISSION = "submission"
"""Class of a job that was not taken, or of which nobody knows whether it was."""
_SCRIPT = "job.sh"


@dataclass(frozen=True)
class Submitted:
    """A job that the scheduler has taken."""

    name: str
    planned: PlannedJob
    folder: Path
    """On the desk."""
    id: str


class Submitter:
    """Submits one job at a time."""

    def __init__(self, scheduler: Scheduler, parameters: Parameters, watch: Watch) -> None:
        self._scheduler = scheduler
        self._parameters = parameters
        self._watch = watch
        self._turn = threading.Lock()
        self._submitted = 0

    @property
    def submitted(self) -> int:
        """How many jobs were sent."""
        return self._submitted

    def submit(self, planned: PlannedJob, suffix: str, gate: Gate) -> Submitted:
        """Submits a job.

        Args:
            planned: Which.
            suffix: Follows the prefix in its name.
            gate: That it waits at.

        Raises:
            FailureError: If it was not taken, or nobody knows.
        """
        with self._turn:
            name, _, folder = self._named(planned, suffix)
            self._refuse_unheard(name)
            number, self._submitted = self._submitted, self._submitted + 1
            try:
                request = self._request(planned, name, folder)
                self._write(planned, request, number, gate)
                self._note(name)
            except (OSError, LoadstoneError) as error:
                raise FailureError(SUBMISSION, f"job {name}: {error}") from error
            return Submitted(name, planned, folder, self._sent(request))

    def unsent(self, planned: PlannedJob, suffix: str) -> Submitted:
        """A job that was not taken, to be told of."""
        return Submitted(*self._named(planned, suffix), "")

    # -- inside --------------------------------------------------------------------------------
    def _refuse_unheard(self, name: str) -> None:
        """Each job would take the time of a call that nobody answers."""
        if self._watch.silent_s() > self._parameters.patience_s:
            why = self._watch.view.problem or "it does not answer"
            raise FailureError(
                SUBMISSION,
                f"job {name} was not sent: the scheduler has not answered for "
                f"{self._parameters.patience_s:g} s: {why}",
            )

    def _named(self, planned: PlannedJob, suffix: str) -> tuple[str, PlannedJob, Path]:
        name = f"{self._parameters.prefix}{suffix}"
        return name, planned, self._parameters.folder / name

    def _request(self, planned: PlannedJob, name: str, folder: Path) -> Request:
        return Request(
            name=name,
            script=folder / _SCRIPT,
            folder=folder,
            ranks=planned.ranks,
            nodes=planned.nodes,
            per_node=planned.per_node,
            time_limit_s=self._parameters.scheduler.time_limit_s,
            memory_mib=planned.memory_mib,
        )

    def _write(self, planned: PlannedJob, request: Request, number: int, gate: Gate) -> None:
        """The job's folder, which no job has used before."""
        request.folder.mkdir()
        launcher = self._scheduler.launcher(request, planned.launch)
        task = planned.task(request.name, number, launcher, gate, self._parameters.slots)
        write_json(request.folder / JOB_FILE, task_object(task))
        request.script.write_text(self._script(request), encoding="utf-8")
        request.script.chmod(0o755)

    def _script(self, request: Request) -> str:
        package = shlex.quote(str(Path(loadstone.__file__).resolve().parent.parent))
        words = [self._parameters.python, "-m", "loadstone.job.main"]
        return (
            "#!/bin/sh\n"
            f"# {request.name}\n"
            f'PYTHONPATH={package}"${{PYTHONPATH:+:$PYTHONPATH}}"\n'
            "export PYTHONPATH\n"
            f"exec {shlex.join([*words, str(request.folder / JOB_FILE)])}\n"
        )

    def _note(self, name: str) -> None:
        line = json.dumps({"name": name, "at_epoch_s": time.time()}) + "\n"
        with (self._parameters.folder / SUBMISSIONS_FILE).open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _sent(self, request: Request) -> str:
        """Asks the scheduler to take it; returns its id."""
        try:
            return self._scheduler.submit(request)
        except SubmissionError as error:
            if not error.doubtful:
                raise FailureError(SUBMISSION, _told(error)) from error
            found = self._found(request)
            if found is not None:
                return found
            raise FailureError(
                SUBMISSION,
                f"{error.message}, and it was not found by its name within "
                f"{self._parameters.patience_s:g} s: it is not sent again",
            ) from error
        except LoadstoneError as error:
            raise FailureError(SUBMISSION, _told(error)) from error

    def _found(self, request: Request) -> str | None:
        """The id of a job that may have been taken; empty where only the job itself tells."""
        self._watch.start()
        patience_s = self._parameters.patience_s
        until_s = time.monotonic() + patience_s
        view = self._watch.view
        while True:
            if (job := view.jobs.get(request.name)) is not None:
                return job.id
            if (request.folder / ARRIVED_FILE).exists():
                return ""
            left_s = min(until_s - time.monotonic(), patience_s - self._watch.silent_s())
            if left_s <= 0:
                return None
            view = self._watch.await_look(view.number, min(left_s, 1.0))


def _told(error: LoadstoneError) -> str:
    return f"{error.message} ({error.advice})" if error.advice else error.message
