"""The entry of programs in Python that make load: what stands on the command line, and the end.

`--version` is asked before every run, so nothing heavy is imported until there is a plan.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import IO

VERSION = "0.1.0"
PROTOCOL_VERSION = 4

Launch = Callable[[IO[bytes], IO[bytes]], int]
"""Runs the plan of the first, writes frames to the second, and gives the exit code."""


def run_program(name: str, find_launch: Callable[[], Launch]) -> None:
    """Answers `--version`, or runs the plan of standard input; then the process ends.

    Args:
        name: The program, as messages call it.
        find_launch: Imports what runs a plan.
    """
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"{name} {VERSION} (protocol {PROTOCOL_VERSION})\n")
        return
    if arguments:
        sys.stderr.write(f"{name}: takes no arguments but --version; the plan is read\n")
        sys.exit(2)
    code = 1
    try:
        code = find_launch()(sys.stdin.buffer, sys.stdout.buffer)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        # Threads that are still in an engine, or read the input, must not keep the process.
        os._exit(code)
