"""What storage leaves on the machine, compared; and whether a placement can be tested here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from listing import loop_devices, mounts, processes, shared_memory, zram_devices

from loadstone.storage import support
from loadstone.storage.place import parse

_SERVERS = ("nbdkit", "nbdfuse")


def listing() -> list[str]:
    """Every mount, loop device, zram device, storage server and shared memory of the machine."""
    servers = [each for each in processes() if Path(each.split()[0]).name in _SERVERS]
    devices = [*loop_devices(""), *zram_devices()]
    return sorted([*mounts(), *devices, *servers, *shared_memory()])


def assert_as_before(before: list[str], folder: Path) -> None:
    """Compares full listings.

    Only continuous integration has the machine for itself. Elsewhere, lines of other folders that
    came or went meanwhile are somebody else's.

    Args:
        before: An earlier `listing`.
        folder: Below which the test did its work.
    """
    now = listing()
    if os.environ.get("CI") == "true":
        assert now == before
    changed = set(now) ^ set(before)
    assert [line for line in changed if str(folder) in line or _of_nobody(line)] == []


def _of_nobody(line: str) -> bool:
    """What shows no folder: memory, or a loop device whose file has died."""
    return line.startswith(("zram", "memory")) or line.endswith((" /disk", " /disk (deleted)"))


def need(*texts: str) -> None:
    """Skips the test by name where a placement cannot be made.

    In continuous integration a package that `scripts/setup packages` installs must be there.
    """
    for text in texts:
        reason = support.unavailable(parse(text))
        if reason is None:
            continue
        if os.environ.get("CI") == "true" and os.getuid() == 0 and "package" in reason:
            pytest.fail(f"{text}: {reason}")
        pytest.skip(f"{text}: {reason}")
