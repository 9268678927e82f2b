"""What the load driver says of a plan before it is to run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from typing import Any

from loadstone.errors import DriverError
from loadstone.load.locate import DriverBinary
from loadstone.spec.problems import Path, Problem

LONGEST_S = 300.0
"""It reads the files that a plan names, which may be large."""
_REFUSED = 2
_SAID = re.compile(r"loadstone-driver: plan refused: (?P<field>.+?): (?P<problem>.+)")
_PART = re.compile(r"\.?(?P<name>[\w-]+)|\[(?P<index>\d+)\]")


def refusal_of(
    binary: DriverBinary, plan: Mapping[str, Any], secrets: Mapping[str, str]
) -> Problem | None:
    """Hands a plan to the driver to be looked at: nothing is run, and nobody is asked.

    Args:
        binary: The driver.
        plan: Of a load.
        secrets: Variables of the driver's environment that the plan names, with their values.

    Returns:
        Which field of the plan is wrong, and how; None if all is well.

    Raises:
        DriverError: If it gives no answer.
    """
    try:
        answer = subprocess.run(
            [*binary.command, "check"],
            input=json.dumps(plan, separators=(",", ":")) + "\n",
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            env={**os.environ, **secrets},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"loadstone-driver check does not run: {type(error).__name__}") from error
    if answer.returncode == 0:
        return None
    said = _SAID.match(answer.stderr.strip())
    if answer.returncode != _REFUSED or said is None:
        raise DriverError(
            f"loadstone-driver check ended with {answer.returncode}: {answer.stderr.strip()[:300]}",
            advice="it is broken: install it again (`uv sync` in a checkout)",
        )
    return Problem(path_of(said["field"]), said["problem"])


def path_of(field: str) -> Path:
    """The way to a field that the driver names; what is no name or index stays as it is.

    `steps[0].headers.b` is `("steps", 0, "headers", "b")`.
    """
    path: list[str | int] = []
    at = 0
    while part := _PART.match(field, at):
        path.append(part["name"] if part["index"] is None else int(part["index"]))
        at = part.end()
    rest = field[at:].removeprefix(".")
    return (*path, rest) if rest else tuple(path)
