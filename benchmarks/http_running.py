"""A tool of the HTTP benchmarks at work: its processes, what they used, and if all went well."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO

import psutil

from benchmarks.http_tools import Tool, Work

_POLL_S = 0.1


class FailedError(Exception):
    """A tool that ended too early, or whose requests did not all succeed."""


class Running:
    """The processes of a tool, from start to end. All of them are gone with the block."""

    def __init__(self, tool: Tool, work: Work, cpus: str | None = None) -> None:
        self.tool = tool
        pinned = ["taskset", "--cpu-list", cpus] if cpus else []
        self._outputs: list[IO[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        for command in tool.commands(work):
            output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the block
            process = subprocess.Popen(
                [*pinned, *command.words],
                env={**os.environ, **command.environment},
                stdin=subprocess.PIPE if command.said else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._outputs.append(output)
            self._processes.append(process)
            if process.stdin is not None:
                process.stdin.write(command.said.encode() + b"\n")
                process.stdin.flush()

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process, output in zip(self._processes, self._outputs, strict=True):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            output.close()

    # -- what it uses --------------------------------------------------------------------------
    def cpu_s(self) -> float:
        """User and system time so far, of its processes and of all that they started."""
        total = 0.0
        for root in self._processes:
            with contextlib.suppress(psutil.Error):
                of_ended = psutil.Process(root.pid).cpu_times()
                total += of_ended.children_user + of_ended.children_system
        for process in self._tree():
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total

    def resident_bytes(self) -> int:
        """Resident memory of all its processes together."""
        total = 0
        for process in self._tree():
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def _tree(self) -> Iterator[psutil.Process]:
        for root in self._processes:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(root.pid)
                yield process
                yield from process.children(recursive=True)

    # -- its end -------------------------------------------------------------------------------
    def await_that(self, reached: Callable[[], bool], patience_s: float) -> bool:
        """Waits until something holds while it runs; False if it does not in time.

        Raises:
            FailedError: If a process ended before.
        """
        give_up_at = time.monotonic() + patience_s
        while not reached():
            for process, output in zip(self._processes, self._outputs, strict=True):
                if process.poll() is not None:
                    raise FailedError(f"{self.tool.name} ended too early: {_said(output)[-500:]}")
            if time.monotonic() >= give_up_at:
                return False
            time.sleep(_POLL_S)
        return True

    def finish(self, patience_s: float) -> None:
        """Waits for its own end.

        Raises:
            FailedError: If it does not end, or a request did not end well.
        """
        for process, output in zip(self._processes, self._outputs, strict=True):
            try:
                code = process.wait(patience_s)
            except subprocess.TimeoutExpired:
                raise FailedError(f"{self.tool.name} does not end") from None
            if failure := self.tool.failure(code, _said(output)):
                raise FailedError(f"{self.tool.name} failed: {failure}")


def _said(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode("utf-8", "replace")
