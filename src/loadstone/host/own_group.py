"""Control groups of Loadstone's own: where one can be made, and how it is removed.

In v1 a group is made below that of this process. In v2 it is made below the nearest one above it
that hands the controller on: there a group with processes of its own has no children with limits.
Sources: of the kernel's documentation `cgroup-v2.rst` and `cgroup-v1/cgroups.rst`.
"""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.host.cgroup import groups_of
from loadstone.host.machine import THIS_MACHINE, Absent, Denied, Machine
from loadstone.journal import Entry, Journal, undoes

REMOVE = "host-remove-memory-group"
"""Of every kind of group; the name is that of the first kind, which older journals hold."""
_BUSY_S = 5.0
_POLL_S = 0.02


@dataclass(frozen=True)
class Controller:
    """What a group bounds."""

    name: str
    """As v1 mounts it and v2 hands it on."""
    limit_of_v1: str
    """A file that each group of it has in v1."""
    bounds: str
    """For people: `bounds the memory`."""


def place(controller: Controller, machine: Machine = THIS_MACHINE) -> Path | Absent | Denied:
    """The group below which one with a limit can be made.

    Args:
        controller: That sets the limit.
        machine: Whose groups.
    """
    try:
        found = [
            each for each in groups_of(controller.name, machine) if _hands_on(each, controller)
        ]
    except (OSError, ValueError):
        found = []
    if not found:
        return Absent(
            f"no control group above this process {controller.bounds} of its children (in v1 the "
            f"controller {controller.name} is not mounted, in v2 no cgroup.subtree_control names "
            "it)"
        )
    writable = [each for each in found if os.access(each, os.W_OK | os.X_OK)]
    if not writable:
        return Denied(f"{found[0]} cannot be written: run Loadstone as root")
    return writable[0]


def make(journal: Journal, folder: Path) -> Entry:
    """Makes a group, journalled.

    Raises:
        TargetError: If the kernel refuses.
    """
    entry = journal.before(f"make the control group {folder}", REMOVE, folder=str(folder))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise TargetError(f"{folder} cannot be made: {error.strerror}") from error
    return entry


@undoes(REMOVE)
def remove(data: dict[str, Any]) -> None:
    """Removes the group once nobody is in it; none is no failure.

    Raises:
        TargetError: If processes stay in it.
    """
    folder, deadline = Path(data["folder"]), time.monotonic() + _BUSY_S
    while folder.exists():
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise TargetError(f"{folder} is still in use: {error.strerror}") from error
            time.sleep(_POLL_S)


def _hands_on(folder: Path, controller: Controller) -> bool:
    if (folder / controller.limit_of_v1).exists():
        return True
    control = folder / "cgroup.subtree_control"
    return control.exists() and controller.name in control.read_text().split()
