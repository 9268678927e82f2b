"""What runs on a job's first node, from its arrival to its record.

Usage, by the job's script: python -m loadstone.job.main DESK/NAME/job.json

In the folder of the job it writes `arrived.json` when it begins, `ready.json` when it waits at the
gate, and `record.json` when all is over. It begins once only: a job that a scheduler starts again
writes `again.json` and does nothing.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from loadstone.job.launching import EndedError, Launching, problem_of, signal_name
from loadstone.job.record import (
    ARRIVED_FILE,
    CANCELLED,
    FAILED,
    GATE,
    RECORD_FILE,
    JobRecord,
    RankRecord,
    read_ranks,
    write_json,
    write_record,
)
from loadstone.job.system import block_told, boot_id, told
from loadstone.job.task import JobTask, read_task
from loadstone.job.working import REMOVE, WorkingError, bring_back, prepare, remove

READY_FILE = "ready.json"
AGAIN_FILE = "again.json"
_STARTED_FOLDER = "started"
"""Made once: two starts of a job cannot both make it."""
_LOOK_S = 0.05


class Job:
    """One start of a job."""

    def __init__(self, task: JobTask, desk: Path) -> None:
        """Takes note that it has arrived.

        Args:
            task: What is to be done.
            desk: The job's folder on the desk.

        Raises:
            FileExistsError: If it has been started before.
        """
        block_told()
        self._task = task
        self._desk = desk
        self._launching = Launching(task.launcher, desk)
        self._record = JobRecord(
            name=task.name,
            application=task.application,
            host=socket.gethostname(),
            boot_id=boot_id(),
            arrived_epoch_s=time.time(),
            arrived_monotonic_s=time.monotonic(),
        )
        (desk / _STARTED_FOLDER).mkdir()
        self._arrive()

    def run(self) -> JobRecord:
        """Does all of it, whatever becomes of each part, and writes the record."""
        try:
            self._stage()
            self._pass_gate()
            self._launch()
        except EndedError as error:
            self._fail(error)
        try:
            self._leave()
        except (EndedError, OSError) as error:
            self._fail(EndedError(FAILED, f"output could not be brought back: {error}"))
        self._note(ended_epoch_s=time.time())
        write_record(self._desk / RECORD_FILE, self._record)
        return self._record

    # -- its parts -----------------------------------------------------------------------------
    def _arrive(self) -> None:
        found = {
            "token": secrets.token_hex(8),
            "host": self._record.host,
            "boot_id": self._record.boot_id,
            "arrived_epoch_s": self._record.arrived_epoch_s,
            "arrived_monotonic_s": self._record.arrived_monotonic_s,
        }
        write_json(self._desk / ARRIVED_FILE, found)

    def _stage(self) -> None:
        """The working folder of each node, with its input."""
        began_s = time.monotonic()
        if self._is_one_folder:
            try:
                prepare(self._task, self._desk)
            except WorkingError as error:
                raise EndedError(FAILED, str(error)) from error
        elif self._launching.run("loadstone.job.working", str(self._desk)):
            raise EndedError(FAILED, "the input could not be staged on all nodes: see err.txt")
        self._note(stage_s=time.monotonic() - began_s)

    def _pass_gate(self) -> None:
        write_json(self._desk / READY_FILE, {"stage_s": self._record.stage_s})
        if not self._task.gate:
            return
        began_s, gate = time.monotonic(), Path(self._task.gate)
        while not gate.exists():
            _refuse_told(told(_LOOK_S))
            if time.monotonic() - began_s > self._task.gate_timeout_s:
                limit = f"{self._task.gate_timeout_s:g} s"
                raise EndedError(GATE, f"the gate did not open within {limit}")
        self._note(gate_s=time.monotonic() - began_s)

    def _launch(self) -> None:
        """Runs the application on all ranks."""
        _refuse_told(told())
        epoch_s, began_s = time.time(), time.monotonic()
        code = self._launching.run("loadstone.job.rank", str(self._desk))
        ranks = self._ranks()
        self._note(exit_code=code, ranks=ranks)
        first = next((rank for rank in ranks if rank.rank == 0), None)
        if first is not None and not first.problem:
            self._note(**_stamps(first, self._record.boot_id, epoch_s, began_s))
        _refuse_told(self._launching.told)
        problem = problem_of(self._task, ranks, code)
        if problem:
            raise EndedError(FAILED, problem)

    def _leave(self) -> None:
        """Brings back what the application made, of a failed one too, and tidies up.

        Raises:
            OSError: If a file cannot be copied.
            EndedError: If the other nodes cannot be reached.
        """
        try:
            bring_back(self._task, self._desk)
        finally:
            if self._is_one_folder:
                remove(self._task, self._desk)
            else:
                self._launching.run("loadstone.job.working", str(self._desk), REMOVE)

    # -- inside --------------------------------------------------------------------------------
    @property
    def _is_one_folder(self) -> bool:
        return self._task.scratch_shared or self._task.nodes == 1

    def _ranks(self) -> list[RankRecord]:
        try:
            return read_ranks(self._desk)
        except (OSError, ValueError) as error:
            raise EndedError(FAILED, f"a rank's record cannot be read: {error}") from error

    def _note(self, **fields: object) -> None:
        self._record = replace(self._record, **fields)  # type: ignore[arg-type]

    def _fail(self, error: EndedError) -> None:
        """The first problem counts."""
        if not self._record.problem:
            self._note(problem_class=error.problem_class, problem=error.problem)


def _refuse_told(number: int | None) -> None:
    if number is not None:
        raise EndedError(CANCELLED, f"it was told to end ({signal_name(number)})")


def _stamps(
    first: RankRecord, own_boot: str, launched_epoch_s: float, launched_s: float
) -> dict[str, float]:
    """When rank 0 began, on the clocks of the job's first node."""
    if first.boot_id == own_boot:
        launch_s = first.began_monotonic_s - launched_s
    else:
        launch_s = first.began_epoch_s - launched_epoch_s
    return {
        "launch_s": max(0.0, launch_s),
        "began_epoch_s": first.began_epoch_s,
        "began_monotonic_s": launched_s + launch_s,
        "run_s": first.run_s,
    }


def main(words: Sequence[str]) -> int:
    """Runs the job of a file.

    Returns:
        0; 1 if it did not end well; 75 if it had been started before.
    """
    path = Path(words[0])
    task, desk = read_task(path), path.parent
    try:
        job = Job(task, desk)
    except FileExistsError:
        write_json(desk / AGAIN_FILE, {"host": socket.gethostname(), "again_epoch_s": time.time()})
        sys.stderr.write(f"{task.name} was started before: it is not run a second time\n")
        return os.EX_TEMPFAIL
    record = job.run()
    if record.problem:
        sys.stderr.write(f"{task.name}: {record.problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
