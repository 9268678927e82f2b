"""Processes that sleep, told from those of every other run of the tests on this machine."""

from __future__ import annotations

import os

import psutil

from loadstone.host.processes import matching


def nap(seconds: int) -> str:
    """An argument of `sleep` that no other run of the tests gives: its fraction is our number."""
    return f"{seconds}.{os.getpid():07d}"


def asleep(duration: str) -> list[psutil.Process]:
    """Living processes that sleep for exactly this argument, in any namespace."""
    return matching(lambda words: words == ["sleep", duration])
