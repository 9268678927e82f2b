"""Where the scripts that make trials put results and data, and what they call an idle machine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEMORY, DISK = "/dev/shm", "/var/tmp"  # noqa: S108 - folders of their own are made there
IDLE = ""
"""The noise of an idle machine."""


@contextmanager
def open_folder(place: str) -> Iterator[Path]:
    """A folder that is removed in the end; servers write into it as another user."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
