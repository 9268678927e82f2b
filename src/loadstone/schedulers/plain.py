"""Plain processes of this machine as jobs: a queue, slots, and no scheduler to install.

Its state is a folder: whoever has that finds each job by its name, also after the submitter was
killed. Each job has a supervisor, a process of its own (`plain_supervisor`).
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast, get_args

from loadstone.counting import how_many
from loadstone.errors import WrongInputError
from loadstone.job.record import read_object, write_json
from loadstone.job.system import end_session, is_alive, session_members
from loadstone.schedulers.base import (
    JobState,
    Launch,
    NodeInfo,
    Request,
    Scheduler,
    SchedulerError,
    SchedulerSpec,
    State,
    SubmissionError,
    mpirun,
)
from loadstone.schedulers.commands import Commands, NoAnswerError
from loadstone.schedulers.plain_supervisor import (
    BEGAN_FILE,
    CANCELLED_FILE,
    ENDED_FILE,
    GRACE_S,
    REQUEST_FILE,
    SLOTS_FOLDER,
    SUPERVISOR_FILE,
)

RESOURCES = "Resources"
"""Why a job waits, as Slurm says it: its slots are taken."""
_JOBS_FOLDER = "jobs"
_START_S = 10.0
"""A job without a supervisor is one that is being submitted, for so long."""


class Plain(Scheduler):
    """One node, this machine, with as many slots as its spec says."""

    kind = "plain"
    title = "plain processes"

    def __init__(self, spec: SchedulerSpec) -> None:
        super().__init__(spec)
        self._root = Path(spec.state)
        self._commands = Commands(spec)

    def submit(self, request: Request) -> str:
        """Starts the supervisor of the job, which waits for its slots."""
        self._refuse(request)
        folder = self._folder(request.name)
        try:
            self._make_slots()
            folder.mkdir(parents=True)
            write_json(folder / REQUEST_FILE, self._written(request))
        except FileExistsError:
            raise SubmissionError(
                f"a job {request.name} was submitted before", doubtful=False
            ) from None
        except OSError as error:
            raise SubmissionError(
                f"job {request.name}: {self._root} cannot be written: {error.strerror}",
                doubtful=False,
            ) from error
        self._start(request.name, folder)
        return request.name

    def jobs(self, prefix: str) -> Mapping[str, JobState]:
        """Those in the folder of state, which remembers all of them."""
        try:
            names = [each.name for each in (self._root / _JOBS_FOLDER).glob(f"{prefix}*")]
        except OSError as error:
            raise SchedulerError(f"{self._root} cannot be read: {error.strerror}") from error
        return {name: self._state(name) for name in sorted(names)}

    def cancel(self, ids: Sequence[str]) -> None:
        """Tells the supervisors; where one was killed its job is ended here."""
        for name in ids:
            folder = self._folder(name)
            if not folder.is_dir() or (folder / ENDED_FILE).exists():
                continue
            (folder / CANCELLED_FILE).touch()
            supervisor = _read(folder / SUPERVISOR_FILE)
            if supervisor and is_alive(int(supervisor["pid"]), int(supervisor["ticks"])):
                with suppress(ProcessLookupError):
                    os.kill(int(supervisor["pid"]), signal.SIGTERM)
            elif supervisor or not _is_new(folder):
                self._end_without_supervisor(folder)

    def nodes(self) -> list[NodeInfo]:
        """This machine."""
        return [NodeInfo(socket.gethostname(), self.spec.slots, "up")]

    def launcher(self, request: Request, how: Launch) -> list[str]:
        """Open MPI's mpirun for one MPI world; Loadstone's own start of ranks without."""
        if request.ranks == 1:
            return []
        if how == "mpi":
            if self._commands.find("mpirun") is None:
                raise WrongInputError(
                    "mpirun is not installed: a job of several MPI ranks cannot be started",
                    advice="install the Debian package openmpi-bin, or give ranks: 1",
                )
            return mpirun(request, self.spec, root=os.geteuid() == 0)
        return [sys.executable, "-m", "loadstone.job.spawn", str(request.ranks)]

    def accounting_missing(self) -> str:
        """Nobody keeps accounts of processes."""
        return f"{self.title} have none"

    def removed(self) -> list[str]:
        """Names of variables that a job does not get: it may be started within another job."""
        return self._commands.removed

    def version(self) -> str:
        """What it is."""
        return f"{self.title}, {how_many(self.spec.slots, 'slot')}"

    # -- inside --------------------------------------------------------------------------------
    def _folder(self, name: str) -> Path:
        return self._root / _JOBS_FOLDER / name

    def _refuse(self, request: Request) -> None:
        if request.nodes > 1:
            raise SubmissionError(
                f"job {request.name} asks for {request.nodes} nodes, and this machine is one",
                doubtful=False,
                advice="write placement: compact, or take a cluster of several nodes",
            )
        if request.ranks > self.spec.slots:
            raise SubmissionError(
                f"job {request.name} asks for {how_many(request.ranks, 'slot')}, and there are "
                f"{self.spec.slots}",
                doubtful=False,
                advice="give fewer ranks, or more slots: target.slots",
            )

    def _make_slots(self) -> None:
        slots = self._root / SLOTS_FOLDER
        slots.mkdir(parents=True, exist_ok=True)
        for number in range(self.spec.slots):
            (slots / f"{number:05}").touch()

    def _written(self, request: Request) -> dict[str, Any]:
        return {
            "name": request.name,
            "script": str(request.script),
            "folder": str(request.folder),
            "ranks": request.ranks,
            "slots": self.spec.slots,
            "time_limit_s": request.time_limit_s,
            "environment": self._commands.environment,
            "submitted_epoch_s": time.time(),
        }

    def _start(self, name: str, folder: Path) -> None:
        words = [sys.executable, "-m", "loadstone.schedulers.plain_supervisor", str(folder)]
        try:
            said = self._commands.run(words)
        except NoAnswerError as error:
            raise SubmissionError(
                f"job {name}: {error.message}; it may have been taken", doubtful=True
            ) from error
        if said.code != 0:
            shutil.rmtree(folder)
            raise SubmissionError(f"job {name}: {said.words()}", doubtful=False)

    def _state(self, name: str) -> JobState:
        folder = self._folder(name)
        request, began = _read(folder / REQUEST_FILE), _read(folder / BEGAN_FILE)
        ended = _read(folder / ENDED_FILE)
        state, reason = self._told(folder, bool(began), ended)
        return JobState(
            id=name,
            name=name,
            state=state,
            reason=reason,
            nodes=(socket.gethostname(),) if began else (),
            submitted_s=request.get("submitted_epoch_s"),
            began_s=began.get("at_epoch_s"),
            ended_s=ended.get("at_epoch_s"),
            exit_code=ended.get("exit_code"),
        )

    def _told(self, folder: Path, began: bool, ended: Mapping[str, Any]) -> tuple[State, str]:
        if ended:
            found = str(ended.get("state"))
            known = cast("State", found) if found in get_args(State) else "unknown"
            return known, str(ended.get("reason", ""))
        supervisor = _read(folder / SUPERVISOR_FILE)
        if supervisor and is_alive(int(supervisor["pid"]), int(supervisor["ticks"])):
            return ("running", "") if began else ("waiting", RESOURCES)
        if not supervisor and _is_new(folder):
            return "unknown", "it is being submitted"
        if (folder / ENDED_FILE).exists():
            return self._told(folder, began, _read(folder / ENDED_FILE))
        if began and session_members(int(_read(folder / BEGAN_FILE)["session"])):
            return "unknown", "its supervisor was killed, and it still runs"
        return "failed", "its supervisor was killed"

    def _end_without_supervisor(self, folder: Path) -> None:
        began = _read(folder / BEGAN_FILE)
        if began:
            end_session(int(began["session"]), GRACE_S)
        told = {
            "state": "cancelled",
            "reason": "cancelled; its supervisor was killed",
            "exit_code": None,
            "at_epoch_s": time.time(),
        }
        write_json(folder / ENDED_FILE, told)


def _read(path: Path) -> dict[str, Any]:
    """What a file holds; nothing where there is none."""
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}


def _is_new(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime < _START_S
    except OSError:
        return False
