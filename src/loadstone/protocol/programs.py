"""The programs that make load and speak frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program that reads a plan from its standard input, and writes frames."""

    name: str
    variable: str
    """Of the environment: its path, if another than the installed one is wanted."""
    shares: bool = True
    """Several processes of it can share a load."""


DRIVER = Program("loadstone-driver", "LOADSTONE_DRIVER")
RUNNER = Program("loadstone-runner", "LOADSTONE_RUNNER", shares=False)
"""In Python, for engines that live in its process, and for few and long statements."""
