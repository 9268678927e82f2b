"""The commits that the driver noted as acknowledged (driver protocol, "Acknowledgements")."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone.errors import DriverError
from loadstone.workloads.durability import Acknowledgement


def file_of(path: Path, process: int) -> Path:
    """Where one of several driver processes notes them: the first writes `path` itself.

    Args:
        path: Of all.
        process: Its number, from 0.
    """
    return path if process == 0 else path.with_stem(f"{path.stem}-{process + 1}")


def read_acknowledgements(path: Path, origins_s: Sequence[float] = (0.0,)) -> list[Acknowledgement]:
    """Reads all of them, of each process in the order written.

    A last line that a kill cut off is left out.

    Args:
        path: The file; one that does not exist holds none.
        origins_s: For each process, what makes its times those of the trial's clock.

    Raises:
        DriverError: If a line is none.
    """
    return [
        replace(each, t_s=each.t_s + origin_s)
        for process, origin_s in enumerate(origins_s)
        for each in _read(file_of(path, process))
    ]


def _read(path: Path) -> list[Acknowledgement]:
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
