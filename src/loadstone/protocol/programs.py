"""The programs that make load and speak frames."""

from __future__ import annotations

from dataclasses import dataclass


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


DRIVER = Program("loadstone-driver", "LOADSTONE_DRIVER", shares=True)
RUNNER = Program("loadstone-runner", "LOADSTONE_RUNNER")
"""In Python, for engines that live in its process, and for few and long statements."""
