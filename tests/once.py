"""What all processes of the tests share, made by the first that needs it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The path of a file or folder that tests only read.

    Args:
        factory: Of the temporary folders of this process.
        name: Of the file or folder.
        make: Makes it; others wait meanwhile.
    """
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path, whole = root / name, root / f"{name}.whole"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            make(path)
            whole.touch()
    return path
