"""The commits that the driver noted as acknowledged (driver protocol, "Acknowledgements")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from loadstone.errors import DriverError
from loadstone.workloads.base import Acknowledgement


def read_acknowledgements(path: Path) -> list[Acknowledgement]:
    """Reads all of them, in the order written; a last line that a kill cut off is left out.

    Args:
        path: The file; one that does not exist holds none.

    Raises:
        DriverError: If a line is none.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    if lines[-1]:
        lines.pop()  # the commit was acknowledged, but which one it was is not known
    return [_parse(line, path, number) for number, line in enumerate(lines, start=1) if line]


def _parse(line: bytes, path: Path, number: int) -> Acknowledgement:
    try:
        t_s, user, operation, *keys = json.loads(line)
        return Acknowledgement(float(t_s), int(user), str(operation), tuple(map(_frozen, keys)))
    except (ValueError, TypeError) as error:
        raise DriverError(f"{path}:{number}: is no acknowledgement: {line[:80]!r}") from error


def _frozen(key: Any) -> Any:
    return tuple(map(_frozen, key)) if isinstance(key, list) else key
