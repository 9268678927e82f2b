"""The story of a run: test files, then each test with its pause, its passes, its frames."""

from __future__ import annotations

import queue
import time
from typing import IO

from loadstone.errors import LoadstoneError
from loadstone.fio.besides import BesidesError, Helper
from loadstone.fio.engine import choose_engine
from loadstone.fio.passes import PassError, PassMaker, StoppedError
from loadstone.fio.plan import StoragePlan, TestPlan
from loadstone.fio.reporter import Reporter
from loadstone.runner.clock import Clock
from loadstone.runner.messages import DriverEvent, Inbox, Stop
from loadstone.runner.plan import Phase
from loadstone.workloads.storage.files import gap
from loadstone.workloads.storage.fio_binary import Fio, find_fio

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
        reason, error, facts = "completed", None, {}
        try:
            fio, engine = self._begin()
            facts = self._run(fio, engine)
        except StoppedError:
            reason = "stopped"
        except (LoadstoneError, PassError, BesidesError, OSError) as problem:
            reason, error = "failed", f"{self._doing}: {problem}" if self._doing else str(problem)
        self._report.end(reason, error, facts)
        return reason != "failed"

    def _begin(self) -> tuple[Fio, str]:
        """Finds fio and its engine; says hello, whatever comes of it."""
        plan = self._plan
        threads = max(sum(job.threads for job in test.jobs) for _, test in plan.phases)
        used = None
        try:
            _check_files(plan)
            plan.folder.mkdir(parents=True, exist_ok=True)
            fio = find_fio(plan.ground.engine)
            engine = choose_engine(fio, plan)
            used = f"fio {fio}, engine {engine}"
        finally:
            self._report.hello(plan.operations, threads, used)
        return fio, engine

    def _run(self, fio: Fio, engine: str) -> dict[str, float]:
        """All that is done with storage. Returns the facts of it."""
        plan = self._plan
        helper = Helper(plan, fio, engine, self._stops)
        maker = PassMaker(plan, fio, engine, self._clock, self._stops)
        if plan.parameters.lay_out and not plan.ground.has_files:
            self._doing = "writing the storage in full"
            helper.lay_out()
        for number, (phase, test) in enumerate(plan.phases):
            if number:
                self._doing = f"bringing to the disk what was written before {test.name}"
                helper.bring_to_disk()
                self._pause(plan.parameters.pause_s)
            self._test(maker, phase, test)
        if not plan.writes:
            return {}
        self._doing = "reading back what is written"
        try:
            return helper.verify()
        except BesidesError as problem:
            self._report.told("verify-failed", {"detail": str(problem)})
            return {}

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


def _check_files(plan: StoragePlan) -> None:
    """Raises an OSError if a test file of a folder is not there in full."""
    if not plan.ground.has_files:
        return
    parameters = plan.parameters
    for file, size_bytes in plan.files.items():
        path = plan.ground.path(file, parameters.compressible)
        found = path.stat().st_size
        if found != size_bytes:
            raise OSError(f"test file {path} has {found} bytes, not {size_bytes}")
        if problem := gap(path):
            raise OSError(f"test file {path} has {problem}: it was not written in full")
