"""Programs that tell power: asked in bounded time, or read line by line; nothing of them is left.

A program that runs through the trial carries a word of its own in its environment, by which
`loadstone recover` finds it, and what it has started, after a `kill -9`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

import psutil

from loadstone.host.processes import kill_all
from loadstone.journal import Entry, Journal, undoes
from loadstone.meters.base import MeterError

UNDO = "meter-program"
_WORD = "LOADSTONE_METER"
"""Variable of the environment by which a program is found again."""
_GENTLE_S = 2.0
_SHOWN = 200
"""Characters of what a program says that are repeated."""
_KEPT = 20_000
"""Lines that are kept until they are taken; the oldest go first."""
_LONGEST_LINE = 1 << 16


def environment(**more: str) -> dict[str, str]:
    """That of a program whose answer is read: numbers and words as in the C locale."""
    return {**os.environ, "LC_ALL": "C", "LANG": "C", **more}


def ask(
    words: Sequence[str], within_s: float, what: str, given: Mapping[str, str] | None = None
) -> str:
    """Runs a program to its end.

    Args:
        words: Program and arguments; no secret, for everybody sees them.
        within_s: It is ended, with all that it has started, if it takes longer.
        what: It is, for messages: `ipmitool`.
        given: More variables of its environment.

    Returns:
        What it wrote to its standard output.

    Raises:
        MeterError: If it cannot be run, fails, or takes too long.
    """
    process = _start(words, what, {**environment(), **(given or {})})
    try:
        out, said = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        _end(process)
        raise MeterError(f"{what} did not answer within {within_s:g} s and was ended") from None
    except BaseException:  # an interrupt: nothing goes on behind the back of who asked for it
        _end(process)
        raise
    if process.returncode != 0:
        words_said = _last_words(said) or _last_words(out)
        raise MeterError(f"{what} {_ending(process.returncode)}{words_said}")
    return out.decode(errors="replace")


class Lines:
    """A program that runs on, and tells a line at a time.

    Args:
        words: Program and arguments.
        what: It is, for messages.
        journal: Told before it is started.
    """

    def __init__(self, words: Sequence[str], what: str, journal: Journal) -> None:
        self._what = what
        self._journal = journal
        self._told: deque[tuple[float, str]] = deque(maxlen=_KEPT)
        self._other: deque[str] = deque(maxlen=3)
        self._some = threading.Event()
        self._over = False
        word = secrets.token_hex(8)
        self._entry: Entry = journal.before(f"run {what} as a power meter", UNDO, word=word)
        try:
            self._process = _start(words, what, environment(**{_WORD: word}))
        except MeterError:
            journal.undone(self._entry)
            raise
        streams = ((self._take, self._process.stdout), (self._leave, self._process.stderr))
        self._readers = [
            threading.Thread(target=read, args=(stream,), name=f"meter-{what}", daemon=True)
            for read, stream in streams
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """Of the program."""
        return self._process.pid

    def take(self) -> list[tuple[float, str]]:
        """Lines that came since the last time, each with its arrival (`time.monotonic()`)."""
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._told.popleft())
        return found

    def wait(self, within_s: float) -> bool:
        """Waits for a line.

        Returns:
            Whether there is one that was not taken.
        """
        until = time.monotonic() + within_s
        while not self._told and not self._over and (left_s := until - time.monotonic()) > 0:
            self._some.wait(left_s)
            self._some.clear()
        return bool(self._told)

    def wait_ended(self, within_s: float) -> bool:
        """Waits for its end.

        Returns:
            Whether it has ended.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(within_s)
        return self._process.returncode is not None

    def ended(self) -> str:
        """How it has ended, unasked, once all that it told is there; empty while it runs."""
        code = self._process.poll()
        if code is None or not self._over:  # what it has started may still tell
            return ""
        self._readers[-1].join(_GENTLE_S)
        said = _last_words("\n".join(self._other).encode())
        return f"{self._what} {_ending(code)}{said}"

    def failed(self) -> str:
        """As `ended`, of a program that did not end well."""
        self._readers[0].join(_GENTLE_S)
        return self.ended() if self._process.poll() else ""

    def close(self) -> None:
        """Ends it, gently first, with all that it has started."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GENTLE_S)
        _end(self._process, self._readers)
        self._journal.undo(self._entry)

    def _take(self, stream: IO[bytes]) -> None:
        while line := stream.readline(_LONGEST_LINE):
            self._told.append((time.monotonic(), line.decode(errors="replace").rstrip("\r\n")))
            self._some.set()
        self._over = True
        self._some.set()

    def _leave(self, stream: IO[bytes]) -> None:
        while line := stream.readline(_LONGEST_LINE):
            if line.strip():
                self._other.append(line.decode(errors="replace").strip())


@undoes(UNDO)
def undo(data: dict[str, Any]) -> None:
    """Ends a program of a meter and what it has started, by the word in their environment.

    Raises:
        TargetError: If one survives SIGKILL.
    """
    kill_all(lambda: _carrying(str(data["word"])), "a power meter")


def _carrying(word: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            zombie = process.status() == psutil.STATUS_ZOMBIE
            if not zombie and process.environ().get(_WORD) == word:
                found.append(process)
    return found


def _start(
    words: Sequence[str], what: str, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(variables),
            start_new_session=True,
        )
    except FileNotFoundError:
        raise MeterError(f"the program {what} is not installed") from None
    except OSError as error:
        raise MeterError(f"{what} cannot be run: {error.strerror}") from error


def _end(process: subprocess.Popen[bytes], readers: Sequence[threading.Thread] = ()) -> None:
    """Kills what is left of its process group; closes its streams once nobody reads them."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for reader in readers:
        reader.join(_GENTLE_S)
    if not any(reader.is_alive() for reader in readers):
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _ending(code: int) -> str:
    return f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"


def _last_words(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return f": {lines[-1][:_SHOWN]}" if lines else ""
