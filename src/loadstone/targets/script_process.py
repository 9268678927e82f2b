"""Runs a Python script that asks an engine's library, in a process that ends with the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from loadstone.errors import TargetError


def answer_of(title: str, script: str, *words: str) -> Any:
    """What a Python script prints as JSON.

    Args:
        title: Of the engine, for people.
        script: Its text.
        words: Its arguments.

    Raises:
        TargetError: If it prints something else, or nothing; with its last line of error.
    """
    command = [sys.executable, "-c", script, *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return json.loads(ended.stdout)
    except ValueError as error:
        last = (ended.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise TargetError(f"{title} does not run: {last}") from error
