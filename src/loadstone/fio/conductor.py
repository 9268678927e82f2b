"""The story of a run: test files, then each test with its pause, its passes, its frames."""

from __future__ import annotations

import queue
import time
from typing import IO

from loadstone.errors import LoadstoneError
from loadstone.fio.engine import choose_engine
from loadstone.fio.ground import Ground
from loadstone.fio.passes import PassError, PassMaker, StoppedError
from loadstone.fio.plan import StoragePlan, TestPlan
from loadstone.fio.reporter import Reporter
from loadstone.runner.clock import Clock
from loadstone.runner.messages import DriverEvent, Inbox, Stop
from loadstone.runner.plan import Phase
from loadstone.workloads.storage.files import gap
from loadstone.workloads.storage.fio_binary import find_fio

_BEAT_S = 10.0
"""How often a sign of life is given while fio runs."""
_LOOK_S = 0.05


class Conductor:
    """Runs a plan.

    Args:
        plan: What to do.
        clock: Of the run.
        inbox: Control lines and signals.
        output: For the frames.
    """

    def __init__(self, plan: StoragePlan, clock: Clock, inbox: Inbox, output: IO[bytes]) -> None:
        self._plan, self._clock, self._inbox = plan, clock, inbox
        self._report = Reporter(clock, output)
        self._must_end = False
        self._beat_at = 0.0
        self._doing = ""

    def conduct(self) -> bool:
        """Runs to the end.

        Returns:
            False if the run failed.
        """
        reason, error = "completed", None
        try:
            self._run(self._maker())
        except StoppedError:
            reason = "stopped"
        except (LoadstoneError, PassError, OSError) as problem:
            reason, error = "failed", f"{self._doing}: {problem}" if self._doing else str(problem)
        self._report.end(reason, error, {})
        return reason != "failed"

    def _maker(self) -> PassMaker:
        """Finds fio and its engine; says hello."""
        plan = self._plan
        operations = [test.operation_of(job) for _, test in plan.phases for job in test.jobs]
        threads = max(sum(job.threads for job in test.jobs) for _, test in plan.phases)
        try:
            _check_files(plan.ground, plan)
            plan.folder.mkdir(parents=True, exist_ok=True)
            fio = find_fio(plan.ground.engine)
            engine = choose_engine(fio, plan)
        except (LoadstoneError, OSError):
            self._report.hello(list(dict.fromkeys(operations)), threads, None)
            raise
        self._report.hello(
            list(dict.fromkeys(operations)), threads, f"fio {fio.version}, engine {engine}"
        )
        return PassMaker(plan, fio, engine, self._clock, self._stops)

    def _run(self, maker: PassMaker) -> None:
        for number, (phase, test) in enumerate(self._plan.phases):
            if number:
                self._pause(self._plan.parameters.pause_s)
            self._test(maker, phase, test)

    def _test(self, maker: PassMaker, phase: Phase, test: TestPlan) -> None:
        """A phase: the passes before it that do not count, then those that do."""
        for _ in range(self._plan.parameters.discarded):
            self._doing = f"{test.name}, a pass that does not count"
            made = maker.make(test, 0)
            self._report.used(made)
            self._report.told("discarded-pass", made.data())
        self._report.begin(phase)
        for number in range(1, self._plan.parameters.passes + 1):
            self._doing = f"{test.name}, pass {number}"
            made = maker.make(test, number)
            self._report.used(made)
            self._report.ticks(phase, made)
            self._report.told("pass", made.data())
        self._report.end_phase(phase)
        self._doing = ""

    def _pause(self, length_s: float) -> None:
        """Waits.

        Raises:
            StoppedError: If the run is told to stop.
        """
        end_at = time.monotonic() + length_s
        while (left_s := end_at - time.monotonic()) > 0:
            if self._stops():
                raise StoppedError
            time.sleep(min(left_s, _LOOK_S))

    def _stops(self) -> bool:
        """Reads what has come in, and gives a sign of life now and then."""
        while True:
            try:
                message = self._inbox.get_nowait()
            except queue.Empty:
                break
            match message:
                case Stop(reason=reason):
                    self._must_end = True
                    self._report.event("stopping", reason)
                case DriverEvent(kind=kind, detail=detail):
                    self._report.event(kind, detail)
                case _:
                    self._report.event("refused", "fio has neither a rate nor users")
        if time.monotonic() - self._beat_at > _BEAT_S:
            self._beat_at = time.monotonic()
            self._report.told("running", {"doing": self._doing})
        return self._must_end or self._report.is_broken


def _check_files(ground: Ground, plan: StoragePlan) -> None:
    """Raises an OSError if a test file of a folder is not there in full."""
    if not ground.has_files:
        return
    parameters = plan.parameters
    for file in {job.file for _, test in plan.phases for job in test.jobs}:
        path = ground.path(file, parameters.compressible)
        found = path.stat().st_size
        if found != parameters.file_bytes:
            raise OSError(f"test file {path} has {found} bytes, not {parameters.file_bytes}")
        if problem := gap(path):
            raise OSError(f"test file {path} has {problem}: it was not written in full")
