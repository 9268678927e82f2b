"""Options with which processes are started: `server.cpus`, `server.quota`, `generator.cpus`.

Nothing of the machine is changed by them for others: they end with the process that was started.
The options of a part of a system stand below its name: `server.database.cpus`.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpu_group, cpulist
from loadstone.host.cgroup import bounds_of
from loadstone.host.levels import Cpus, Levels, Share, Whole
from loadstone.host.machine import (
    CAP_SYS_RESOURCE,
    THIS_MACHINE,
    Absent,
    Machine,
    Reading,
    has_capability,
    read,
)
from loadstone.host.settings import HostSetting
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.problems import near
from loadstone.spec.target import LEAST_QUOTA

SERVER, GENERATOR = "server", "generator"
PREFIXES = (SERVER, GENERATOR)
SERVER_CPUS, SERVER_NOFILE, SERVER_QUOTA = "server.cpus", "server.nofile", "server.quota"
SERVER_OPTIONS = (SERVER_CPUS, SERVER_NOFILE, SERVER_QUOTA)
GENERATOR_CPUS = "generator.cpus"

LEAST_NOFILE = 64
NO_QUOTA = "none"
"""The level of `server.quota` that means: no group of its own."""
_QUOTA_SOURCE = "https://docs.kernel.org/scheduler/sched-bwc.html"
_AFFINITY_SOURCE = "https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html"
_LIMIT_SOURCE = "https://man7.org/linux/man-pages/man2/getrlimit.2.html"


@dataclass(frozen=True)
class StartOption(HostSetting):
    """An option of the command that starts a process; read as what a process inherits now."""

    machine: Machine = THIS_MACHINE

    def files(self) -> list[Path] | Absent:
        """None: it is no property of the machine."""
        return Absent("it is an option of a process that Loadstone starts")

    def read(self) -> Reading:
        """What a process that is started now would have."""
        return _inherited(self.name)

    def unavailable(self, level: Level | None = None) -> str | None:
        """Whether the tool is there, the processors are online and the limit may be raised."""
        if self.name == SERVER_QUOTA:
            return None if level == NO_QUOTA else _without_groups(self.machine)
        tool = "prlimit" if self.name == SERVER_NOFILE else "taskset"
        if shutil.which(tool) is None:
            return f"absent: the program {tool} (of util-linux) is missing"
        if level is None:
            return None
        return self._limit(level) if self.name == SERVER_NOFILE else self._offline(level)

    def _offline(self, level: Level) -> str | None:
        missing = cpulist.parse(self.check(level)) - self.machine.cpus("online")
        return f"absent: CPU {cpulist.shown(missing)} is offline" if missing else None

    def _limit(self, level: Level) -> str | None:
        most = most_open_files(self.machine)
        if int(self.check(level)) > most:
            return f"denied: Loadstone may not raise its hard limit of {most} (CAP_SYS_RESOURCE)"
        return None


def setting(name: str, machine: Machine) -> StartOption:
    """The option of that name.

    Raises:
        WrongInputError: If there is none.
    """
    cpus = Cpus(machine.cpus("present") or frozenset({0}))
    known: dict[str, tuple[str, Levels, str]] = {
        SERVER_CPUS: ("processors that the server may run on", cpus, _AFFINITY_SOURCE),
        SERVER_NOFILE: (
            "files that each process of the server may open",
            Whole(LEAST_NOFILE, _most_files(machine)),
            _LIMIT_SOURCE,
        ),
        SERVER_QUOTA: (
            "processor time that all processes of the server may use together, in processors",
            Share(LEAST_QUOTA, len(machine.cpus("present")) or 1, "processors", NO_QUOTA),
            _QUOTA_SOURCE,
        ),
        GENERATOR_CPUS: ("processors that the load driver may run on", cpus, _AFFINITY_SOURCE),
    }
    if name not in known:
        raise WrongInputError(f"there is no host.{name}; {near(name, known)}")
    about, levels, source = known[name]
    return StartOption(name, about, levels, source, machine=machine)


def all_known(machine: Machine) -> Iterator[StartOption]:
    """Each of them."""
    for name in (*SERVER_OPTIONS, GENERATOR_CPUS):
        yield setting(name, machine)


def affinity(name: str, asked: str, pid: int) -> FactorReading:
    """Reads on which processors a running process may run.

    Args:
        name: `server.cpus` or `generator.cpus`.
        asked: The list that its start command was given.
        pid: The process.

    Raises:
        TargetError: If it may run on others, or is gone.
    """
    try:
        seen = cpulist.shown(os.sched_getaffinity(pid))
    except OSError as error:
        raise TargetError(f"process {pid} cannot be read: {error.strerror}") from error
    return _compared(name, asked, (cpulist.shown(cpulist.parse(asked)), seen), _inherited(name))


def open_files(asked: int, pid: int) -> FactorReading:
    """Reads how many files a running server may open.

    Raises:
        TargetError: If it is another number, or the process is gone.
    """
    try:
        limits = Path(f"/proc/{pid}/limits").read_text()
    except OSError as error:
        raise TargetError(f"process {pid} cannot be read: {error.strerror}") from error
    match = re.search(r"^Max open files\s+(\d+)", limits, re.MULTILINE)
    seen = int(match[1]) if match else 0
    return _compared(SERVER_NOFILE, asked, (asked, seen), _inherited(SERVER_NOFILE))


def cpu_quota(asked: float, pid: int) -> FactorReading:
    """Reads how much processor time a running server may use.

    Args:
        asked: In processors.
        pid: Of its first process; the others are in the same group.

    Raises:
        TargetError: If it may use more or less, or is gone.
    """
    found = bounds_of(pid).cpu
    step = 1 / cpu_group.period_us(asked)
    seen: Level = NO_QUOTA if found is None else round(found.cpus, 6)
    held = asked if found is not None and abs(found.cpus - asked) <= step else seen
    return _compared(SERVER_QUOTA, asked, (asked, held), _inherited(SERVER_QUOTA))


def option_of(name: str) -> tuple[str, str] | None:
    """The part and the option that a setting of a server names; None if it names none.

    Args:
        name: `server.cpus`, or of a part of a system `server.database.cpus`.

    Returns:
        The part, empty for the whole system, and the option: `("database", "server.cpus")`.
    """
    family, _, rest = name.partition(".")
    part, _, option = rest.rpartition(".")
    plain = f"{family}.{option}"
    return (part, plain) if plain in SERVER_OPTIONS else None


def _without_groups(machine: Machine) -> str | None:
    """Why no control group with a quota can be made."""
    found = cpu_group.place(machine)
    if isinstance(found, Path):
        return None
    return f"{'absent' if isinstance(found, Absent) else 'denied'}: {found.reason}"


def _compared(
    name: str, requested: Level, asked_seen: tuple[Level, Level], before: str
) -> FactorReading:
    """A reading, if the process has what was asked for.

    Raises:
        TargetError: If not.
    """
    asked, seen = asked_seen
    if asked != seen:
        raise TargetError(
            f"host.{name} was asked to be {asked}, but the process runs with {seen}",
            advice="loadstone list host shows what this machine allows",
        )
    return FactorReading(
        factor=f"host.{name}", requested=requested, read_back=seen, before=before, how="restart"
    )


def _inherited(name: str) -> str:
    """What a process has that is started without the option."""
    if name == SERVER_NOFILE:
        return str(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    if name == SERVER_QUOTA:
        cpu = bounds_of().cpu
        return NO_QUOTA if cpu is None else f"{cpu.cpus:g}"
    return cpulist.shown(os.sched_getaffinity(0))


def most_open_files(machine: Machine) -> int:
    """Files that a server which is started here may be allowed to open.

    Args:
        machine: This one.

    Returns:
        The hard limit of this process; what the kernel allows where it may be raised.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = _most_files(machine)
    unbound = hard == resource.RLIM_INFINITY or has_capability(CAP_SYS_RESOURCE)
    return most if unbound else min(hard, most)


def _most_files(machine: Machine) -> int:
    most = read(machine.at("/proc/sys/fs/nr_open"))
    return int(most) if isinstance(most, str) and most.isdigit() else 2**20
