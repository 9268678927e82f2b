"""Several driver processes that make one load, behind the interface of one driver.

Every process gets the same plan and its number: it takes its share of the users, sessions and
arrivals. All open their sessions, then begin at one moment of the machine's monotonic clock. Their
frames become one stream (`merging`). When one process ends badly the others are stopped, and the
failure says which it was.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from loadstone.load.acknowledgements import file_of
from loadstone.load.driver import Driver, DriverFailedError, Failure, Limits, OnFrame
from loadstone.load.merging import BehindError, Merger
from loadstone.protocol.frames import End, Hello, parse_frame
from loadstone.protocol.programs import DRIVER, Program

PATIENCE = Limits()
LEAD_S = 0.05
LEAD_EACH_S = 0.005
"""How far ahead the begin lies, so that every process has heard of it before."""


class DriverGroup:
    """One load of several drivers. See `Driver` for the meaning of its methods and arguments.

    Args:
        plan: Of the whole load.
        on_frame: Called with each merged frame, by one thread at a time.
        processes: How many, at least 2.
        secrets: As for `Driver`.
        cpus: Processors that all of them may run on.
        program: Of which several processes can share a load.
        limits: Patience with each.
    """

    def __init__(
        self,
        plan: Mapping[str, Any],
        on_frame: OnFrame,
        *,
        processes: int,
        secrets: Mapping[str, str] | None = None,
        cpus: str | None = None,
        program: Program = DRIVER,
        limits: Limits = PATIENCE,
    ) -> None:
        self.hello: Hello | None = None
        self.end: End | None = None
        self._on_frame = on_frame
        self._merger = Merger(processes, float(plan.get("tick_s", 1.0)))
        self._drivers = [
            Driver(
                _share(plan, number, processes),
                self._taker(number),
                secrets=secrets,
                cpus=cpus,
                program=program,
                limits=limits,
            )
            for number in range(processes)
        ]
        self._ready = 0
        self._running = 0
        self._lock = threading.Lock()
        self._said_hello = threading.Event()
        self._done = threading.Event()
        self._problem: BaseException | None = None
        self._origin_s = time.monotonic()

    # -- life ----------------------------------------------------------------------------------
    def start(self) -> DriverGroup:
        """Starts the processes.

        Raises:
            DriverError: If one cannot be started; then none is left.
        """
        self._origin_s = time.monotonic()
        self._running = len(self._drivers)
        try:
            for driver in self._drivers:
                driver.start()
        except BaseException:
            self.close()
            raise
        for number, driver in enumerate(self._drivers):
            threading.Thread(
                target=self._watch, args=(number, driver), name=f"driver-{number}", daemon=True
            ).start()
        return self

    def __enter__(self) -> DriverGroup:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def wait(self, timeout_s: float | None = None) -> End:
        """Waits until all processes have ended.

        Raises:
            DriverFailedError: If one ended badly, with its number.
            TimeoutError: If they still run after `timeout_s`.
        """
        if not self._done.wait(timeout_s):
            raise TimeoutError(f"the drivers still run after {timeout_s:g} s")
        if self._problem is not None:
            raise self._problem
        if self.end is None:
            raise DriverFailedError(Failure.NO_END, "the drivers ended without a common end")
        return self.end

    def wait_hello(self, timeout_s: float = 60.0) -> Hello:
        """Waits for the first frame of every process.

        Raises:
            DriverFailedError: If one ended instead, or says nothing in time.
        """
        self._said_hello.wait(timeout_s)
        if self.hello is not None:
            return self.hello
        if not self._said_hello.is_set():
            self.kill()
            raise DriverFailedError(
                Failure.SILENT,
                f"not all {len(self._drivers)} driver processes said hello within {timeout_s:g} s",
                stderr=self.stderr(),
            )
        self.wait()
        raise DriverFailedError(Failure.NO_END, "the drivers ended without a hello")

    def close(self) -> None:
        """Ends all, however they are."""
        started = [driver for driver in self._drivers if driver.pid is not None]
        for driver in started:
            driver.stop()
        for driver in started:
            driver.close()

    # -- control -------------------------------------------------------------------------------
    def stop(self) -> None:
        """Asks all for the end."""
        for driver in self._drivers:
            driver.stop()

    def kill(self) -> None:
        """Ends all at once."""
        for driver in self._drivers:
            driver.kill()

    def set_rate(self, rate_per_s: float) -> None:
        """Sets a new rate of the whole load; each process takes its share."""
        for driver in self._drivers:
            driver.set_rate(rate_per_s)

    def set_users(self, users: int) -> None:
        """Sets a new number of users of the whole load; each process takes its share."""
        for driver in self._drivers:
            driver.set_users(users)

    # -- what is known -------------------------------------------------------------------------
    def clock_s(self) -> float:
        """Now, on the trial's clock: seconds since the start of the first process."""
        return time.monotonic() - self._origin_s

    def running(self) -> bool:
        """True until all have ended and all frames were handed over."""
        return self._running > 0 and not self._done.is_set()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids, in order."""
        return tuple(driver.pid for driver in self._drivers if driver.pid is not None)

    @property
    def origins_s(self) -> tuple[float, ...]:
        """What is to be added to the times of each process's acknowledgements."""
        return self._merger.origins_s

    def stderr(self) -> str:
        """The last lines that they wrote for people."""
        return "\n".join(text for driver in self._drivers if (text := driver.stderr()))

    # -- inside --------------------------------------------------------------------------------
    def _taker(self, number: int) -> OnFrame:
        def take(frame: dict[str, Any]) -> None:
            with self._lock:
                if self._problem is not None:
                    return
                try:
                    self._take(number, frame)
                except BehindError as problem:
                    self._problem = self._named(problem.process, problem)
                    raise

        return take

    def _take(self, number: int, frame: dict[str, Any]) -> None:
        """Takes a frame of one process; called by its reader, one at a time."""
        for merged in self._merger.add(number, frame):
            value = parse_frame(merged)
            if isinstance(value, Hello):
                self.hello = value
                self._origin_s = float(merged["monotonic_s"])
                self._said_hello.set()
            elif isinstance(value, End):
                self.end = value
            self._on_frame(merged)
        if frame["frame"] == "event" and frame["kind"] == "ready":
            self._ready += 1
            if self._ready == len(self._drivers):
                self._ready = 0
                self._begin()

    def _begin(self) -> None:
        at_s = time.monotonic() + LEAD_S + LEAD_EACH_S * len(self._drivers)
        for driver in self._drivers:
            driver.begin(at_s)

    def _watch(self, number: int, driver: Driver) -> None:
        """Waits for the end of one process; what it does early, all must do."""
        try:
            if driver.wait().reason != "completed":
                self.stop()
        except BaseException as problem:
            self._fail(number, problem)
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._done.set()
                self._said_hello.set()

    def _fail(self, number: int, problem: BaseException) -> None:
        """The first problem counts: what the others say afterwards comes of it."""
        with self._lock:
            self._problem = self._problem or self._named(number, problem)
        self.stop()

    def _named(self, number: int, problem: BaseException) -> BaseException:
        """The problem, with the process that it is about."""
        failure = getattr(problem, "failure", None)
        if not isinstance(problem, BehindError | DriverFailedError):
            return problem
        message = (
            f"driver process {number + 1} of {len(self._drivers)} "
            f"(pid {self._drivers[number].pid}): {problem.message}"
        )
        return DriverFailedError(failure or Failure.SILENT, message, advice=problem.advice)


Generator = Driver | DriverGroup
"""What makes the load of a trial."""


def generator(
    plan: Mapping[str, Any],
    on_frame: OnFrame,
    *,
    processes: int = 1,
    secrets: Mapping[str, str] | None = None,
    cpus: str | None = None,
    program: Program = DRIVER,
) -> Generator:
    """The program that makes the load of a plan, or as many as are asked for, not started yet."""
    if processes == 1:
        return Driver(plan, on_frame, secrets=secrets, cpus=cpus, program=program)
    return DriverGroup(
        plan,
        on_frame,
        processes=processes,
        secrets=secrets,
        cpus=cpus,
        program=program,
    )


def _share(plan: Mapping[str, Any], number: int, processes: int) -> dict[str, Any]:
    """The plan of one process."""
    own: dict[str, Any] = {
        **plan,
        "process": {"index": number, "of": processes},
        "start": "told",
    }
    if plan.get("acknowledgements"):
        own["acknowledgements"] = str(file_of(Path(plan["acknowledgements"]), number))
    workload = plan.get("workload") or {}
    answers = workload.get("parameters", {}).get("answers")
    if answers:
        kept = {**workload["parameters"], "answers": str(file_of(Path(answers), number))}
        own["workload"] = {**workload, "parameters": kept}
    return own
