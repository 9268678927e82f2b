"""The host's CPU, memory, disks, network and pressure, from `/proc`."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.mounts import block_device, whole_disks
from loadstone.host.proc import (
    DiskCounters,
    NetworkCounters,
    Stat,
    parse_diskstats,
    parse_meminfo,
    parse_netdev,
    parse_pressure,
    parse_stat,
)
from loadstone.probes.base import Probe
from loadstone.probes.host_fullness import HostFullness
from loadstone.results.record import Notice
from loadstone.results.sample import Sample
from loadstone.results.usage import ResourceUse

MEMORY_PRESSURE_WARNING_PERCENT = 1.0
_PRESSURES = ("cpu", "io", "memory")


@dataclass(frozen=True)
class _Reading:
    """All counters at one moment."""

    at_s: float
    stat: Stat
    disks: DiskCounters
    data_disk: DiskCounters | None
    network: NetworkCounters
    pressure: dict[str, dict[str, int]]


class HostProbe(Probe):
    """Reads the whole host once a second.

    Args:
        data: A folder on the file system whose disk is shown on its own (`data_disk_...`), beside
            the sum over all whole disks (`disk_...`).
        proc: Where `/proc` is; another place in tests.
        sys: Where `/sys` is.
    """

    name = "host"

    def __init__(
        self, data: Path | None = None, *, proc: Path = Path("/proc"), sys: Path = Path("/sys")
    ) -> None:
        self._proc = proc
        self._whole = whole_disks(sys)
        self._device = block_device(data, proc) if data is not None else None
        self._files: dict[str, int] = {}
        self._before: _Reading | None = None
        self._stalled_percent = 0.0
        self._count = 0
        self._fullness = HostFullness()

    def start(self) -> None:
        """Opens the files and takes the first reading."""
        names = ["stat", "meminfo", "diskstats", "net/dev"]
        for name in [*names, *(f"pressure/{kind}" for kind in _PRESSURES)]:
            with contextlib.suppress(OSError):
                self._files[name] = os.open(self._proc / name, os.O_RDONLY | os.O_CLOEXEC)
        self._before = self._read()

    def sample(self, t_s: float) -> list[Sample]:
        """What happened since the last time, as rates and shares."""
        before, now = self._before, self._read()
        self._before = now
        if before is None:
            return []
        values = self._rates(before, now) | self._memory()
        self._count += 1
        self._fullness.note(t_s, values)
        self._stalled_percent += values.get("pressure_memory_full_percent", 0.0)
        return [Sample(t_s, self.name, metric, value) for metric, value in values.items()]

    def stop(self) -> None:
        """Closes the files."""
        for handle in self._files.values():
            os.close(handle)
        self._files = {}

    def uses(self, from_s: float, to_s: float) -> list[ResourceUse]:
        """Processors, memory, and the disk of the data."""
        return self._fullness.over(from_s, to_s)

    def notices(self) -> list[Notice]:
        """That memory ran short."""
        stalled = self._stalled_percent / self._count if self._count else 0.0
        if stalled <= MEMORY_PRESSURE_WARNING_PERCENT:
            return []
        return [
            Notice(
                code="memory-pressure",
                severity="warning",
                message=f"all work stood still {stalled:.1f} % of the time for want of memory",
                advice="give the target less memory, or the host more",
            )
        ]

    def _text(self, name: str) -> str:
        """A file of `/proc` as it is now; empty where this kernel has none."""
        handle = self._files.get(name)
        if handle is None:
            return ""
        parts, offset = [], 0
        while part := os.pread(handle, 1 << 16, offset):
            parts.append(part)
            offset += len(part)
        return b"".join(parts).decode()

    def _read(self) -> _Reading:
        disks = parse_diskstats(self._text("diskstats"))
        whole = [disk.counters for disk in disks if disk.name in self._whole]
        return _Reading(
            at_s=time.monotonic(),
            stat=parse_stat(self._text("stat")),
            disks=sum(whole, DiskCounters()),
            data_disk=next((d.counters for d in disks if d.device == self._device), None),
            network=parse_netdev(self._text("net/dev")),
            pressure={kind: self._pressure(kind) for kind in _PRESSURES},
        )

    def _pressure(self, kind: str) -> dict[str, int]:
        try:
            return parse_pressure(self._text(f"pressure/{kind}"))
        except OSError:  # the kernel was started with psi=0
            return {}

    def _memory(self) -> dict[str, float]:
        memory = parse_meminfo(self._text("meminfo"))
        names = {"available": "MemAvailable", "dirty": "Dirty", "writeback": "Writeback"}
        return {
            f"memory_{metric}_bytes": float(memory[name])
            for metric, name in names.items()
            if name in memory
        }

    @staticmethod
    def _rates(before: _Reading, now: _Reading) -> dict[str, float]:
        passed_s = max(now.at_s - before.at_s, 1e-6)
        values = _cpu(before.stat, now.stat, passed_s)
        values |= _disk("disk", before.disks, now.disks, passed_s)
        if before.data_disk is not None and now.data_disk is not None:
            values |= _disk("data_disk", before.data_disk, now.data_disk, passed_s)
            busy_ms = now.data_disk.busy_ms - before.data_disk.busy_ms
            values["data_disk_busy_percent"] = min(100.0, 0.1 * busy_ms / passed_s)
        received = now.network.received_bytes - before.network.received_bytes
        sent = now.network.sent_bytes - before.network.sent_bytes
        values["network_received_bytes_per_s"] = received / passed_s
        values["network_sent_bytes_per_s"] = sent / passed_s
        return values | _stalls(before, now, passed_s)


def _cpu(before: Stat, now: Stat, passed_s: float) -> dict[str, float]:
    total = max(1, now.cpu.total - before.cpu.total)
    values = {
        f"cpu_{kind}_percent": 100.0
        * max(0, getattr(now.cpu, kind) - getattr(before.cpu, kind))
        / total
        for kind in ("user", "system", "iowait", "steal", "idle")
    }
    return values | {
        "run_queue": float(now.running),
        "blocked_processes": float(now.blocked),
        "context_switches_per_s": (now.context_switches - before.context_switches) / passed_s,
    }


def _disk(
    prefix: str, before: DiskCounters, now: DiskCounters, passed_s: float
) -> dict[str, float]:
    names = {
        "read_bytes_per_s": "read_bytes",
        "write_bytes_per_s": "write_bytes",
        "reads_per_s": "reads",
        "writes_per_s": "writes",
        "flushes_per_s": "flushes",
    }
    return {
        f"{prefix}_{metric}": (getattr(now, field) - getattr(before, field)) / passed_s
        for metric, field in names.items()
    }


def _stalls(before: _Reading, now: _Reading, passed_s: float) -> dict[str, float]:
    values = {}
    for kind in _PRESSURES:
        for level, total_us in now.pressure[kind].items():
            was_us = before.pressure[kind].get(level)
            if was_us is None:
                continue
            name = f"pressure_{kind}_{'full_' if level == 'full' else ''}percent"
            values[name] = min(100.0, (total_us - was_us) / passed_s / 1e4)
    return values
