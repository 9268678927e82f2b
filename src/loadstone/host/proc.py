"""Readers of `/proc`: text in, figures out.

Sources: proc(5), and `iostats.rst` and `psi.rst` of the kernel's documentation.
"""

from __future__ import annotations

from dataclasses import dataclass

SECTOR_BYTES = 512
"""Unit of `/proc/diskstats`, whatever the device's own sectors are."""


@dataclass(frozen=True)
class CpuTimes:
    """Times of all CPUs together since boot, in clock ticks."""

    user: int
    system: int
    idle: int
    iowait: int
    steal: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.user + self.system + self.idle + self.iowait + self.steal


@dataclass(frozen=True)
class Stat:
    """`/proc/stat`."""

    cpu: CpuTimes
    context_switches: int
    running: int
    blocked: int


@dataclass(frozen=True)
class DiskCounters:
    """One device of `/proc/diskstats`, since boot."""

    reads: int = 0
    read_bytes: int = 0
    writes: int = 0
    write_bytes: int = 0
    busy_ms: int = 0
    flushes: int = 0

    def __add__(self, other: DiskCounters) -> DiskCounters:
        return DiskCounters(
            self.reads + other.reads,
            self.read_bytes + other.read_bytes,
            self.writes + other.writes,
            self.write_bytes + other.write_bytes,
            self.busy_ms + other.busy_ms,
            self.flushes + other.flushes,
        )


@dataclass(frozen=True)
class Disk:
    """A line of `/proc/diskstats`."""

    device: str
    """`major:minor`."""
    name: str
    counters: DiskCounters


@dataclass(frozen=True)
class NetworkCounters:
    """Bytes of all interfaces but the loopback, since boot."""

    received_bytes: int
    sent_bytes: int


def parse_stat(text: str) -> Stat:
    """Reads `/proc/stat`. Guests' time is part of user time; interrupts count as system."""
    cpu, numbers = None, {"ctxt": 0, "procs_running": 0, "procs_blocked": 0}
    for line in text.splitlines():
        name, *values = line.split()
        if name == "cpu":
            user, nice, system, idle, iowait, irq, softirq, steal = [
                int(value) for value in [*values, *["0"] * 8][:8]
            ]
            cpu = CpuTimes(user + nice, system + irq + softirq, idle, iowait, steal)
        elif name in numbers:
            numbers[name] = int(values[0])
    if cpu is None:
        raise ValueError("/proc/stat has no line of all CPUs")
    return Stat(cpu, numbers["ctxt"], numbers["procs_running"], numbers["procs_blocked"])


def parse_meminfo(text: str) -> dict[str, int]:
    """Reads `/proc/meminfo`: name: bytes (or a count, where the file gives no unit)."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        value = rest.split()
        if value:
            found[name] = int(value[0]) * (1024 if value[1:] == ["kB"] else 1)
    return found


def parse_diskstats(text: str) -> list[Disk]:
    """Reads `/proc/diskstats`; flushes are there since Linux 5.5."""
    disks = []
    for line in text.splitlines():
        major, minor, name, *rest = line.split()
        values = [int(value) for value in rest]
        counters = DiskCounters(
            reads=values[0],
            read_bytes=values[2] * SECTOR_BYTES,
            writes=values[4],
            write_bytes=values[6] * SECTOR_BYTES,
            busy_ms=values[9],
            flushes=values[15] if len(values) > 15 else 0,
        )
        disks.append(Disk(f"{major}:{minor}", name, counters))
    return disks


def parse_netdev(text: str) -> NetworkCounters:
    """Reads `/proc/net/dev`."""
    received = sent = 0
    for line in text.splitlines()[2:]:
        name, _, rest = line.partition(":")
        values = rest.split()
        if name.strip() != "lo":
            received, sent = received + int(values[0]), sent + int(values[8])
    return NetworkCounters(received, sent)


def parse_pressure(text: str) -> dict[str, int]:
    """Reads a file of `/proc/pressure`: `some` and `full`: microseconds stalled since boot."""
    found = {}
    for line in text.splitlines():
        kind, *pairs = line.split()
        values = dict(pair.split("=", 1) for pair in pairs)
        found[kind] = int(values["total"])
    return found


def parse_mountinfo(text: str) -> list[dict[str, str]]:
    """Reads `/proc/self/mountinfo`: device, folder, file system and options of each mount."""
    mounts = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        _, _, device, root, folder, options, *_ = before.split(" ")
        kind, source, of_file_system = [*after.split(" ", 2), "", ""][:3]
        mounts.append(
            {
                "device": device,
                "root": _unescaped(root),
                "folder": _unescaped(folder),
                "file_system": kind,
                "source": _unescaped(source),
                "options": options,
                "file_system_options": of_file_system,
            }
        )
    return mounts


def _unescaped(text: str) -> str:
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        text = text.replace(code, character)
    return text
