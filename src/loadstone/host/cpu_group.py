"""A control group that bounds the processor time of a server that Loadstone starts.

The quota is what all processes of the group may use together in each period. The period is short:
a server that has used up its share stands still for milliseconds, not for a tenth of a second.
Sources: of the kernel's documentation `scheduler/sched-bwc.rst` and `cgroup-v2.rst`.
"""

from __future__ import annotations

import math
import uuid
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.host import own_group
from loadstone.host.cgroup import CpuGroup, groups_of, quota_in
from loadstone.host.machine import THIS_MACHINE, Absent, Denied, Machine
from loadstone.host.own_group import Controller
from loadstone.journal import Entry, Journal

_PERIOD_US = 10_000
_LEAST_QUOTA_US = 1_000
"""The kernel takes no shorter quota."""
SHORT_US = 2_000
"""A period for who waits for others that have quotas too: each wait may last for one."""
_CPU = Controller("cpu", "cpu.cfs_quota_us", "bounds the processor time")


def place(machine: Machine = THIS_MACHINE) -> Path | Absent | Denied:
    """The group below which one with a quota can be made, as `own_group.place`."""
    return own_group.place(_CPU, machine)


def period_us(quota: float, least: int = _PERIOD_US) -> int:
    """The length of a period in which a quota is long enough for the kernel.

    Args:
        quota: In processors.
        least: It is no shorter, in microseconds.
    """
    return max(least, math.ceil(_LEAST_QUOTA_US / quota))


class QuotaGroup:
    """A group for one server, made when it first has a quota."""

    def __init__(self, journal: Journal) -> None:
        """Makes nothing yet.

        Args:
            journal: Told before the group is made.
        """
        self._journal = journal
        self._group: tuple[Path, Entry] | None = None

    def bound(self, quota: float, least_period_us: int = _PERIOD_US) -> Path:
        """Makes the group if it is not there, gives it the quota and reads it back.

        Args:
            quota: In processors.
            least_period_us: Its period is no shorter.

        Returns:
            The file that a process writes its number into to be in the group.

        Raises:
            TargetError: If the kernel refuses, or makes another quota of it.
        """
        folder = self._folder()
        period = period_us(quota, least_period_us)
        quota_us = round(quota * period)
        try:
            if (folder / _CPU.limit_of_v1).exists():
                (folder / _CPU.limit_of_v1).write_text("-1")  # no period is too short for that
                (folder / "cpu.cfs_period_us").write_text(str(period))
                (folder / _CPU.limit_of_v1).write_text(str(quota_us))
            else:
                (folder / "cpu.max").write_text(f"{quota_us} {period}")
        except OSError as error:
            raise TargetError(
                f"the control group {folder} takes no quota of {quota:g} processors: "
                f"{error.strerror}",
                advice="a group above it may allow less: loadstone list host shows what is allowed",
            ) from error
        held = quota_in(folder)
        if held is None or held.cpus != quota_us / period:
            told = "none" if held is None else held.text()
            raise TargetError(f"the quota of {folder} reads {told} after {quota:g} processors")
        return folder / "cgroup.procs"

    def remove(self) -> None:
        """Removes the group; nobody is in it any more.

        Raises:
            TargetError: If somebody is.
        """
        if self._group is not None:
            self._journal.undo(self._group[1])
            self._group = None

    def _folder(self) -> Path:
        if self._group is None:
            parent = place()
            if not isinstance(parent, Path):
                raise TargetError(
                    f"the processor time of a server cannot be bounded here: {parent.reason}",
                    advice="leave the quota out",
                )
            folder = parent / f"loadstone-{uuid.uuid4().hex[:12]}"
            self._group = folder, own_group.make(self._journal, folder)
        return self._group[0]


def held_by(pid: int, machine: Machine = THIS_MACHINE) -> CpuGroup | None:
    """The group that a process is in itself, if that has a quota; those above it do not count."""
    try:
        groups = groups_of(_CPU.name, machine, pid)
    except (OSError, ValueError):
        return None
    return quota_in(groups[0]) if groups else None
