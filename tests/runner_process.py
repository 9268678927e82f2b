"""The runner as a process, and an archive on DuckDB for it."""

import json
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import duckdb
from runner_plans import encoded

from loadstone.protocol.frames import End, Event, Frame, Tick, parse_frame, parse_line
from loadstone.runner.archive.segments import create_index, create_table, replace_view
from loadstone.workloads.archive.tables import FIRST_ROW, segment_name

RUNNER = (sys.executable, "-m", "loadstone.runner.main")


def make_archive(path: Path) -> Path:
    """An empty archive in a new file."""
    first = segment_name(1)
    with duckdb.connect(path) as made:
        made.execute(
            "CREATE TABLE archive_station (station INTEGER PRIMARY KEY, stored BIGINT NOT NULL);"
            "CREATE TABLE archive_segment (number INTEGER PRIMARY KEY, name VARCHAR, "
            "begin_us BIGINT, state VARCHAR, created_us BIGINT, current_us BIGINT, "
            "closed_us BIGINT, create_s DOUBLE, switch_s DOUBLE, close_s DOUBLE);"
            f"{create_table(first)}; {create_index(first)}; {replace_view(1)}; {FIRST_ROW}"
        )
    return path


class Runner:
    """A runner that was given a plan; leaving the block leaves no process behind."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.frames: list[Frame] = []
        self.errors = ""
        self._arrived = threading.Condition()
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(RUNNER, stdin=pipe, stdout=pipe, stderr=pipe)
        self._threads = [
            threading.Thread(target=self._read_frames, args=(self._process.stdout,)),
            threading.Thread(target=self._read_errors, args=(self._process.stderr,)),
        ]
        for thread in self._threads:
            thread.start()
        self._write(encoded(dict(plan)))

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self.wait()

    # -- what it is told -----------------------------------------------------------------------
    def say(self, **line: object) -> None:
        """Writes a control line."""
        self._write(json.dumps(line).encode() + b"\n")

    def end_input(self) -> None:
        """What the kernel does when the parent dies."""
        self._stdin.close()

    def signal(self, number: int) -> None:
        """Sends a signal."""
        self._process.send_signal(number)

    def limit(self, kind: int, limits: tuple[int, int]) -> None:
        """Sets a limit of the process."""
        resource.prlimit(self._process.pid, kind, limits)

    # -- what it says --------------------------------------------------------------------------
    def await_frame(self, wanted: Callable[[Frame], bool], *, after: int = 0) -> None:
        """Waits until such a frame has come; `after` so many others."""
        with self._arrived:
            came = self._arrived.wait_for(lambda: any(map(wanted, self.frames[after:])), 20.0)
        assert came, f"{self.frames} {self.errors}"

    def wait(self, timeout_s: float = 30.0) -> int:
        """Waits for its end; returns the exit code."""
        code = self._process.wait(timeout_s)
        for thread in self._threads:
            thread.join(timeout_s)
        if not self._stdin.closed:
            self._stdin.close()
        return code

    @property
    def end(self) -> End:
        """The last frame."""
        end = self.frames[-1]
        assert isinstance(end, End), end
        return end

    @property
    def ticks(self) -> Sequence[Tick]:
        """All ticks."""
        return [frame for frame in self.frames if isinstance(frame, Tick)]

    def events(self, kind: str) -> Sequence[Event]:
        """Events of a kind."""
        return [frame for frame in self.frames if is_event(frame, kind)]

    # -- inside --------------------------------------------------------------------------------
    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _write(self, line: bytes) -> None:
        self._stdin.write(line)
        self._stdin.flush()

    def _read_frames(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                frame = parse_frame(parse_line(line))
                with self._arrived:
                    self.frames.append(frame)
                    self._arrived.notify_all()

    def _read_errors(self, stream: IO[bytes]) -> None:
        with stream:
            self.errors = stream.read().decode()


def is_event(frame: Frame, kind: str) -> bool:
    """Whether a frame is an event of a kind."""
    return isinstance(frame, Event) and frame.kind == kind
