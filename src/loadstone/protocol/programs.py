"""The programs that make load and speak frames."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.limits import MOST_SESSIONS, MOST_SESSIONS_OF_RUNNER, MOST_THREADS


@dataclass(frozen=True)
class Program:
    """A program that reads a plan from its standard input, and writes frames."""

    name: str
    variable: str = ""
    """Of the environment: its path, if another than the installed one is wanted."""
    command: tuple[str, ...] = ()
    """What starts it, with its arguments; empty: it is installed, and found by its name."""
    shares: bool = False
    """Several processes of it can share a load."""
    logs_in: bool = False
    """It has the role `log-in`: it opens the sessions of a load, and asks for nothing."""
    checks: bool = False
    """It has the command `check`: it says of a plan what is wrong with it, and runs nothing."""
    most_sessions: int = MOST_SESSIONS
    """Open at a time."""
    most_threads: int = MOST_THREADS
    """Worker threads of one process."""


DRIVER = Program("loadstone-driver", "LOADSTONE_DRIVER", shares=True, logs_in=True, checks=True)
FIO = Program("loadstone-fio", "LOADSTONE_FIO", most_sessions=1, most_threads=1)
"""It runs fio, and makes frames of what fio writes."""
RUNNER = Program(
    "loadstone-runner",
    "LOADSTONE_RUNNER",
    logs_in=True,
    most_sessions=MOST_SESSIONS_OF_RUNNER,
    most_threads=1,
)
"""In Python, for engines that live in its process, and for few and long statements."""
