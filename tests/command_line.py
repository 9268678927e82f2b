"""Commands as tests give them: run in this process or as a shell does, right or wrong."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


def loadstone(*arguments: str) -> Done:
    """Runs a command in this process, where it needs not start an interpreter first."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run_command(list(arguments))
    return Done(code, stdout.getvalue(), stderr.getvalue())


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as a shell does."""
    return subprocess.run(
        [sys.executable, "-m", "loadstone.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )


def wrong(*arguments: str, code: ExitCode = ExitCode.WRONG_INPUT) -> str:
    """What is said on standard error; nothing on standard output, and no stack trace."""
    done = loadstone(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("loadstone: ")
    return done.stderr


def right(*arguments: str) -> str:
    """What is said on standard output of a command that goes well."""
    done = loadstone(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
