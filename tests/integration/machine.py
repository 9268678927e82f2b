"""What lies on the machine, listed to be compared; and whether a placement can be tested here."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from loadstone.probes.proc import parse_mountinfo
from loadstone.storage import support
from loadstone.storage.place import parse

_SERVERS = ("nbdkit", "nbdfuse")


def listing() -> list[str]:
    """Every mount, loop device, zram device and storage server of the machine."""
    mounts = parse_mountinfo(Path("/proc/self/mountinfo").read_text())
    lines = [f"mount {each['folder']} {each['source']} {each['options']}" for each in mounts]
    for device in Path("/sys/block").glob("loop*"):
        backing = device / "loop" / "backing_file"
        lines.append(f"{device.name} {backing.read_text().strip() if backing.exists() else '-'}")
    lines += [
        f"{device.name} {(device / 'disksize').read_text().strip()}"
        for device in Path("/sys/block").glob("zram*")
    ]
    lines += [
        f"process {each.info['cmdline']}"
        for each in psutil.process_iter(["name", "cmdline"])
        if each.info["name"] in _SERVERS and each.info["cmdline"]
    ]
    return sorted(lines)


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
    """A device that shows no folder: compressed memory, or a loop device whose file has died."""
    return line.startswith("zram") or line.endswith(" /disk")


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
