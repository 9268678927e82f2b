"""Commands as processes of their own, forked from one that has imported Loadstone already.

An interpreter takes two seconds to import what a run needs; a fork of one that has done so takes
none. It is for tests that kill a command, or watch its process. `command_line.loadstone` runs one
in the process of the test.

    python -m warm      serves the socket that is its standard input, until that is closed
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO

_PRELOADED = (
    *("loadstone.cli.run", "loadstone.cli.compare", "loadstone.cli.plan", "loadstone.cli.recover"),
    *("loadstone.report.document", "loadstone.report.terminal", "loadstone.results.store"),
    *("loadstone.workloads.oltp.workload", "loadstone.targets.postgresql", "scipy.special"),
)
_OF_AN_INTERPRETER = (
    "PYTHONPATH",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "LANG",
    "LC_ALL",
    "LD_PRELOAD",
)
"""Variables that are read when one starts."""
_MOST_BYTES = 256 * 1024
"""Of a request: the environment is most of it."""


class Command:
    """A command that runs, as `subprocess.Popen` shows it."""

    def __init__(
        self,
        arguments: tuple[str, ...],
        folder: Path,
        environment: Mapping[str, str],
        output: int | None = None,
    ):
        self.args = arguments
        self.returncode: int | None = None
        (out, out_end), (err, err_end), (status, status_end) = (os.pipe() for _ in range(3))
        request = json.dumps([arguments, str(folder), dict(environment)]).encode()
        to = out_end if output is None else output
        socket.send_fds(_server(), [request], [to, err_end, status_end])
        for end in (out_end, err_end, status_end):
            os.close(end)
        self.stdout: IO[str] = os.fdopen(out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(err, encoding="utf-8")
        self._status = os.fdopen(status, "rb", buffering=0)
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Waits for its end.

        Raises:
            subprocess.TimeoutExpired: If that did not come.
        """
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0.0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it says to its end.

        Raises:
            subprocess.TimeoutExpired: If that did not come.
        """
        ends_at = None if timeout is None else time.monotonic() + timeout
        said: dict[IO[str], list[bytes]] = {self.stdout: [], self.stderr: []}
        with selectors.DefaultSelector() as open_ones:
            for stream in said:
                open_ones.register(stream, selectors.EVENT_READ)
            while open_ones.get_map():
                left_s = None if ends_at is None else ends_at - time.monotonic()
                ready = open_ones.select(left_s)
                if not ready:
                    raise subprocess.TimeoutExpired(list(self.args), timeout or 0.0)
                for key, _ in ready:
                    stream = key.fileobj
                    assert not isinstance(stream, int)
                    chunk = os.read(stream.fileno(), 65536)
                    said[stream].append(chunk)  # type: ignore[index]
                    if not chunk:
                        open_ones.unregister(stream)
        self.wait(None if ends_at is None else max(0.0, ends_at - time.monotonic()))
        out, err = (b"".join(chunks).decode() for chunks in said.values())
        self.stdout.close()
        self.stderr.close()
        return out, err

    def send_signal(self, number: int) -> None:
        """Sends it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it at once."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as status:
                status.register(self._status, selectors.EVENT_READ)
                if status.select(timeout):
                    self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))
                    self._status.close()
        return self.returncode


Running = Command | subprocess.Popen[str]


def command(
    arguments: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str],
    output: int | None = None,
) -> Running:
    """Starts a command in a session of its own.

    It has an interpreter of its own where its environment tells that something else.

    Args:
        arguments: Without the program's name.
        folder: In which it runs.
        environment: All of it.
        output: What its standard output is; default: a pipe that is read here.
    """
    if all(environment.get(name) == os.environ.get(name) for name in _OF_AN_INTERPRETER):
        return Command(arguments, folder, environment, output)
    return subprocess.Popen(
        [Path(sys.executable).parent / "loadstone", *arguments],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@cache
def _server() -> socket.socket:
    """The end of this process of the socket to the server, which ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=theirs,
            cwd=Path(__file__).parent,
            start_new_session=True,
        )
    return ours


# -- in the server -----------------------------------------------------------------------------
def _serve(requests: socket.socket) -> None:
    """Forks for each request; returns in the process of a command only, made ready for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever waits for a command is never waited for
    while True:
        request, ends, _, _ = socket.recv_fds(requests, _MOST_BYTES, 3)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(request, ends)
            return
        for end in ends:
            os.close(end)


def _become(request: bytes, ends: list[int]) -> None:
    """Forks once more: the first waits and tells the exit code, the second is the command."""
    out, err, status = ends
    pid = os.fork()
    if pid:
        os.write(status, f"{pid}\n".encode())
        os.close(out)
        os.close(err)
        _, ended = os.waitpid(pid, 0)
        os.write(status, f"{ended}\n".encode())
        os._exit(0)
    os.close(status)
    os.setsid()
    for given, place in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(given, place)
        os.close(given)
    arguments, folder, environment = json.loads(request)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()
    sys.argv = ["loadstone", *arguments]
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw = open(1, "wb", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115
    sys.stdout = io.TextIOWrapper(raw, encoding="utf-8", write_through=unbuffered)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _main() -> None:
    for name in _PRELOADED:
        importlib.import_module(name)
    from loadstone.results.references import list_references, load_reference
    from loadstone.targets.registry import register_undoing

    register_undoing()
    for name in list_references():
        load_reference(name)
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=os.dup(0)))
    from loadstone.cli.main import main

    try:
        main()
    except SystemExit as ended:
        _end(int(ended.code or 0))


def _end(code: int) -> None:
    """Ends as an interpreter does, but takes nothing apart: that took half a second.

    What a fork shares is copied when it is written to, and to take it apart writes to all of it.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120  # as an interpreter says it
    os._exit(code)


if __name__ == "__main__":
    _main()
