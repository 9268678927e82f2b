"""The parent's side of one driver process: plan in, frames out, and an orderly end.

The driver runs in a session of its own, so Ctrl-C on the terminal reaches Loadstone only. It ends
when its standard input closes, which the kernel does when Loadstone dies in whatever way.
(`PR_SET_PDEATHSIG` would fire when the *thread* that started it ends, so it is not used.)
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import IO, Any

from loadstone.errors import DriverError
from loadstone.load.locate import check_driver
from loadstone.protocol.frames import End, Event, FrameError, Hello, parse_frame, parse_line
from loadstone.protocol.programs import DRIVER, Program

_STDERR_LINES = 50
_CROWDED = re.compile(r"too many (clients|connections)|connection slots are reserved", re.I)
"""PostgreSQL's and MariaDB's words for a server that lets no more sessions in."""


class Failure(StrEnum):
    """How a driver ended badly."""

    REFUSED_PLAN = "refused-plan"
    """It did not accept the plan (exit code 2)."""
    FAILED = "failed"
    """It gave up and said why: no connection, for example."""
    CROWDED = "crowded"
    """It gave up because the server lets no more sessions in."""
    KILLED = "killed"
    """A signal ended it."""
    NO_END = "no-end"
    """It went away without an `end` frame."""
    PROTOCOL = "protocol"
    """It wrote something that is no frame."""
    SILENT = "silent"
    """It ran and wrote nothing for longer than the limit."""


class DriverFailedError(DriverError):
    """The driver ended badly; `failure` says in which way, `stderr` holds its last lines."""

    def __init__(
        self, failure: Failure, message: str, *, stderr: str = "", advice: str | None = None
    ) -> None:
        super().__init__(f"{message}: {stderr}" if stderr else message, advice=advice)
        self.failure = failure
        self.stderr = stderr


@dataclass(frozen=True)
class Limits:
    """How long the parent is patient."""

    stop_s: float = 15.0
    """After `stop`: the driver itself waits at most 10 s for operations in flight."""
    terminate_s: float = 5.0
    """After SIGTERM, before SIGKILL."""
    silence_s: float = 60.0
    """Without any frame; ticks come from a clock, whatever the server does."""


OnFrame = Callable[[dict[str, Any]], None]


class Driver:
    """One run of the driver.

    Use it as a context manager: leaving the block always leaves no process behind.

    Args:
        plan: The plan of the driver protocol.
        on_frame: Called with each frame (the decoded JSON object, already checked) in the order
            written, from one reader thread. An exception in it stops the driver and is raised by
            `wait`.
        secrets: Variables of the driver's environment that the plan names, with their values: they
            are handed over there, and nowhere else.
        cpus: Processors that it may run on, as a list (`0-3,8`); default: those of Loadstone.
        program: What makes the load; it must answer the version handshake.
        limits: Patience of the parent.
    """

    def __init__(
        self,
        plan: Mapping[str, Any],
        on_frame: OnFrame,
        *,
        secrets: Mapping[str, str] | None = None,
        cpus: str | None = None,
        program: Program = DRIVER,
        limits: Limits = Limits(),
    ) -> None:
        self.binary = check_driver(program)
        self.hello: Hello | None = None
        self.end: End | None = None
        self._plan = dict(plan)
        self._secrets = dict(secrets or {})
        self._on_cpus = ["taskset", "--cpu-list", cpus] if cpus is not None else []
        self._on_frame = on_frame
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stdin_lock = threading.Lock()
        self._said_hello = threading.Event()
        self._done = threading.Event()
        self._problem: BaseException | None = None
        self._opening: str | None = "it did not say how many are open"
        """How many sessions are open, until all are."""
        self._last_frame_at = time.monotonic()
        self._started_at = time.monotonic()

    # -- life ----------------------------------------------------------------------------------
    def start(self) -> Driver:
        """Starts the process and hands it the plan.

        Raises:
            DriverError: If it cannot be started.
        """
        self._started_at = self._last_frame_at = time.monotonic()
        try:
            process = subprocess.Popen(
                [*self._on_cpus, *self.binary.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **self._secrets},
                start_new_session=True,
            )
        except OSError as error:
            raise DriverError(f"{self.binary.command[0]} cannot be started: {error}") from error
        self._process = process
        stderr_reader = threading.Thread(
            target=self._read_stderr, args=(process.stderr,), name="driver-stderr", daemon=True
        )
        stderr_reader.start()
        threading.Thread(
            target=self._read_frames,
            args=(process, stderr_reader),
            name="driver-frames",
            daemon=True,
        ).start()
        self._say(self._plan)
        return self

    def __enter__(self) -> Driver:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def wait(self, timeout_s: float | None = None) -> End:
        """Waits until the driver has ended.

        Returns:
            Its `end` frame, with reason `completed` or `stopped`.

        Raises:
            DriverFailedError: If it ended badly or fell silent.
            TimeoutError: If it still runs after `timeout_s`; it is left running.
        """
        give_up_at = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._done.wait(self._patience_s(give_up_at)):
            if time.monotonic() - self._last_frame_at > self._limits.silence_s:
                self._kill()
                raise DriverFailedError(Failure.SILENT, self._silence(), stderr=self.stderr())
            if give_up_at is not None and time.monotonic() >= give_up_at:
                raise TimeoutError(f"the driver still runs after {timeout_s:g} s")
        return self._verdict()

    def wait_hello(self, timeout_s: float = 60.0) -> Hello:
        """Waits for the first frame; the trial's clock is exact from then on.

        Raises:
            DriverFailedError: If the driver ended instead, or says nothing in time.
        """
        self._said_hello.wait(timeout_s)
        if self.hello is not None:
            return self.hello
        if not self._said_hello.is_set():
            self._kill()
            raise DriverFailedError(
                Failure.SILENT, f"the driver said nothing for {timeout_s:g} s", stderr=self.stderr()
            )
        self.wait()
        raise DriverFailedError(Failure.NO_END, "the driver ended without a hello")

    def close(self) -> None:
        """Ends the driver, however it is: `stop`, then SIGTERM, then SIGKILL."""
        if self._process is None:
            return
        if not self._done.is_set():
            self.stop()
            if not self._done.wait(self._limits.stop_s):
                self._signal(signal.SIGTERM)
                if not self._done.wait(self._limits.terminate_s):
                    self._kill()
        self._close_stdin()

    # -- control -------------------------------------------------------------------------------
    def stop(self) -> None:
        """Asks for the end: no new operations, those in flight finish, then `end`."""
        self._say({"control": "stop"})

    def kill(self) -> None:
        """Ends the driver at once, and an engine in its process with it (SIGKILL)."""
        self._kill()

    def begin(self, monotonic_s: float) -> None:
        """Tells a driver whose plan says `start: told` when its first phase begins.

        Args:
            monotonic_s: On the machine's monotonic clock (`time.monotonic`).
        """
        self._say({"control": "begin", "monotonic_s": monotonic_s})

    def set_rate(self, rate_per_s: float) -> None:
        """Sets a new constant rate from now on (open phases)."""
        self._say({"control": "rate", "rate_per_s": rate_per_s})

    def set_users(self, users: int) -> None:
        """Sets a new number of users from now on (closed phases)."""
        self._say({"control": "users", "users": users})

    # -- what is known -------------------------------------------------------------------------
    def clock_s(self) -> float:
        """Now, on the trial's clock: seconds since the driver's start."""
        return time.monotonic() - self._started_at

    def running(self) -> bool:
        """True until the process has ended and all its frames were handed over."""
        return self._process is not None and not self._done.is_set()

    @property
    def pid(self) -> int | None:
        """Process id, once started."""
        return self._process.pid if self._process else None

    @property
    def pids(self) -> tuple[int, ...]:
        """Ids of the processes that make the load, once started."""
        return () if self._process is None else (self._process.pid,)

    @property
    def origins_s(self) -> tuple[float, ...]:
        """What is to be added to the times of each process's acknowledgements."""
        return (0.0,)

    def stderr(self) -> str:
        """The last lines that the driver wrote for people."""
        return "\n".join(self._stderr)

    # -- inside --------------------------------------------------------------------------------
    def _patience_s(self, give_up_at: float | None) -> float:
        now = time.monotonic()
        patience = self._last_frame_at + self._limits.silence_s - now
        if give_up_at is not None:
            patience = min(patience, give_up_at - now)
        return max(0.01, patience)

    def _say(self, line: Mapping[str, Any]) -> None:
        """A driver that is gone cannot be told anything; `wait` says what became of it."""
        if self._process is None or self._process.stdin is None:
            raise DriverError("the driver was not started")
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with self._stdin_lock, contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(text)
            self._process.stdin.flush()

    def _read_frames(self, process: subprocess.Popen[bytes], other: threading.Thread) -> None:
        assert process.stdout is not None  # noqa: S101 - opened as a pipe
        for line in process.stdout:
            self._last_frame_at = time.monotonic()
            if self._problem is not None:
                continue
            try:
                self._take(line)
            except BaseException as problem:
                self._problem = problem
                self.stop()
        process.wait()
        other.join(timeout=5)
        process.stdout.close()
        self._close_stdin()
        self._done.set()
        self._said_hello.set()

    def _take(self, line: bytes) -> None:
        value = parse_line(line)
        frame = parse_frame(value)
        if isinstance(frame, Hello):
            self.hello = frame
            self._started_at = _start_of(frame)
            self._said_hello.set()
        elif self.hello is None:
            raise FrameError(f"the driver's first frame is {value['frame']!r}, not 'hello'")
        elif isinstance(frame, End):
            self.end = frame
        elif isinstance(frame, Event) and frame.kind != "workload":
            self._opening = frame.detail if frame.kind == "opening" else None
        self._on_frame(value)

    def _silence(self) -> str:
        silent = f"the driver wrote nothing for {self._limits.silence_s:g} s and was killed"
        if self.hello is None or self._opening is None:
            return silent
        return f"{silent}, while it opened its sessions ({self._opening})"

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                self._stderr.append(line.decode("utf-8", "replace").rstrip())

    def _verdict(self) -> End:
        assert self._process is not None  # noqa: S101 - done implies started
        if isinstance(self._problem, FrameError):
            raise DriverFailedError(
                Failure.PROTOCOL,
                self._problem.message,
                stderr=self.stderr(),
                advice=self._problem.advice,
            )
        if self._problem is not None:
            raise self._problem
        code, said = self._process.returncode, self.stderr()
        if self.end is not None and self.end.reason == "failed":
            raise _gave_up(self.end.error or "no reason given")
        if code == 2:
            raise DriverFailedError(
                Failure.REFUSED_PLAN, "the driver refused its plan", stderr=said
            )
        if code < 0:
            name = signal.Signals(-code).name
            raise DriverFailedError(Failure.KILLED, f"the driver was ended by {name}", stderr=said)
        if self.end is None or code != 0:
            raise DriverFailedError(
                Failure.NO_END, f"the driver ended with code {code} before its time", stderr=said
            )
        return self.end

    def _signal(self, number: int) -> None:
        assert self._process is not None  # noqa: S101 - close checks
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._done.wait(self._limits.terminate_s)

    def _close_stdin(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with self._stdin_lock, contextlib.suppress(OSError):
                self._process.stdin.close()


def _gave_up(reason: str) -> DriverFailedError:
    message = f"the driver gave up: {reason}"
    if not _CROWDED.search(reason):
        return DriverFailedError(Failure.FAILED, message)
    return DriverFailedError(
        Failure.CROWDED,
        message,
        advice="the server lets in no more sessions than its max_connections: raise it (on a "
        "server that Loadstone starts by --set max_connections=N), or use fewer users or sessions",
    )


def _start_of(hello: Hello) -> float:
    """The driver's start on this machine's monotonic clock, which is its own too."""
    return time.monotonic() - hello.t_s if hello.monotonic_s is None else hello.monotonic_s
