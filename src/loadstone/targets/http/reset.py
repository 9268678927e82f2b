"""The user's command that puts a web application back into its start state."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence

from loadstone.errors import TargetError

URL_VARIABLE = "LOADSTONE_URL"
"""Of the command's environment: the address of the application that is to be reset."""
_SHOWN = 300
"""Characters of what a command says that are repeated."""


def run_reset(command: str | Sequence[str], url: str, within_s: float) -> str:
    """Runs the command.

    Args:
        command: For the shell, or the program and its arguments.
        url: Of the application, which the command finds in `LOADSTONE_URL`.
        within_s: It is ended, with all that it has started, if it takes longer.

    Returns:
        What it wrote to its standard output: it tells one state from another.

    Raises:
        TargetError: If it cannot be run, fails, or takes too long.
    """
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, URL_VARIABLE: url},
            start_new_session=True,
        )
    except OSError as error:
        raise TargetError(
            f"the reset of the target cannot be run: {error.strerror}",
            advice="write target.reset as a command for the shell, or as a list of words",
        ) from error
    try:
        out, said = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        _end(process)
        raise TargetError(
            f"the reset of the target took longer than {within_s:g} s and was ended",
            advice="raise target.reset_timeout_s; what it leaves running must not keep its output",
        ) from None
    except BaseException:  # an interrupt: nothing goes on behind the back of who asked for it
        _end(process)
        raise
    if process.returncode != 0:
        raise TargetError(
            f"the reset of the target {_ending(process.returncode)}{_last_words(said)}",
            advice="run it by itself: each trial must begin with the same state",
        )
    return out.decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _ending(code: int) -> str:
    return f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _last_words(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    return f": {lines[-1][:_SHOWN]}" if lines else ""
