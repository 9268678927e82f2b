"""Commands as tests give them: run in this process or as a shell does, right or wrong."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import NamedTuple

from warm import Running, command

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode


class Done(NamedTuple):
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


def start(*arguments: str) -> Running:
    """Starts a command as a shell does, in a process and a session of its own."""
    return command(arguments, Path.cwd(), os.environ)


def process(*arguments: str) -> Done:
    """Runs a command as a shell does, to its end."""
    started = start(*arguments)
    out, err = started.communicate(timeout=600)
    assert started.returncode is not None
    return Done(started.returncode, out, err)


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
