"""Runs one job of the plain scheduler: waits for its slots, runs its script, notes how it ended.

Usage: python -m loadstone.schedulers.plain_supervisor JOB_FOLDER

It goes to the background at once, in a session of its own; the script has another. Locks on files
are slots and turn: they are given back by the kernel, whatever becomes of who held them. One job at
a time gathers slots, so that the first in the queue is the first to run.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from loadstone.job.record import read_object, write_json
from loadstone.job.system import (
    await_end,
    block_told,
    end_session,
    started_ticks,
    told,
    unblock_told,
)

REQUEST_FILE, SUPERVISOR_FILE = "request.json", "supervisor.json"
BEGAN_FILE, ENDED_FILE = "began.json", "ended.json"
CANCELLED_FILE = "cancelled"
SLOTS_FOLDER, TURN_FILE = "slots", "turn"
GRACE_S = 10.0
"""Between SIGTERM and SIGKILL."""
_POLL_S = 0.05


class Supervisor:
    """Of one job, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = folder.parent.parent
        self._request: dict[str, Any] = read_object(folder / REQUEST_FILE)
        self._locks: list[int] = []

    def run(self) -> None:
        """To the end of the job."""
        block_told()
        own = os.getpid()
        write_json(self._folder / SUPERVISOR_FILE, {"pid": own, "ticks": started_ticks(own)})
        if self._gathers():
            self._run_script()
        else:
            self._note_end("cancelled", "cancelled while it waited")

    # -- its turn ------------------------------------------------------------------------------
    def _gathers(self) -> bool:
        """Waits for the turn, then for the slots; False if it is cancelled before."""
        while (turn := _locked(self._root / TURN_FILE)) is None:
            if self._is_cancelled(_POLL_S):
                return False
        try:
            while not self._has_slots():
                if self._is_cancelled(_POLL_S):
                    return False
        finally:
            os.close(turn)
        return not self._is_cancelled(0.0)

    def _has_slots(self) -> bool:
        """Takes those that are free; nobody else gathers, so that they can be kept."""
        slots = sorted((self._root / SLOTS_FOLDER).iterdir())[: int(self._request["slots"])]
        wanted = int(self._request["ranks"])
        for path in slots:
            # A lock belongs to what opened the file: its own are not free either.
            if len(self._locks) < wanted and (held := _locked(path)) is not None:
                self._locks.append(held)
        return len(self._locks) >= wanted

    def _is_cancelled(self, wait_s: float) -> bool:
        return told(wait_s) is not None or (self._folder / CANCELLED_FILE).exists()

    # -- its script ----------------------------------------------------------------------------
    def _run_script(self) -> None:
        desk = Path(self._request["folder"])
        with (desk / "out.txt").open("ab") as out, (desk / "err.txt").open("ab") as err:
            try:
                process = subprocess.Popen(
                    [self._request["script"]],
                    cwd=desk,
                    env=self._request["environment"],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                    preexec_fn=unblock_told,  # noqa: PLW1509 - there is one thread
                )
            except OSError as error:
                self._note_end("failed", f"it could not be started: {error.strerror}")
                return
        began = {"at_epoch_s": time.time(), "session": process.pid}
        write_json(self._folder / BEGAN_FILE, began)
        state, reason = self._awaited(process, float(self._request["time_limit_s"]))
        if not end_session(process.pid, GRACE_S):
            reason = "its processes do not die"
        self._note_end(state, reason, process.poll())

    def _awaited(self, process: subprocess.Popen[bytes], limit_s: float) -> tuple[str, str]:
        """Waits for the script, the limit of its time, or its cancellation."""
        if await_end(process, limit_s) is not None:
            return "cancelled", "cancelled while it ran"
        if process.returncode is None:
            return "timed-out", f"TimeLimit of {limit_s:g} s"
        if process.returncode == 0:
            return "ended", ""
        return "failed", f"exit code {process.returncode}"

    # -- inside --------------------------------------------------------------------------------
    def _note_end(self, state: str, reason: str, code: int | None = None) -> None:
        for held in self._locks:
            os.close(held)
        found = {"state": state, "reason": reason, "exit_code": code, "at_epoch_s": time.time()}
        write_json(self._folder / ENDED_FILE, found)


def _locked(path: Path) -> int | None:
    """A lock on a file, held by what is returned; None if somebody else has it."""
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        return None
    return held


def main(words: list[str]) -> None:
    """Goes to the background; the foreground ends when the supervisor is on its way."""
    folder = Path(words[0])
    if os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    Supervisor(folder).run()


if __name__ == "__main__":
    main(sys.argv[1:])
