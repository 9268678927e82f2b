"""Counters of the whole machine that tell what was taken from whoever runs on it.

Sources: of the kernel's documentation `accounting/psi.rst`, `admin-guide/iostats.rst`; proc(5) for
`stat` and `vmstat`; clock_gettime(2).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from loadstone.host.proc import parse_diskstats, parse_pressure, parse_stat

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PRESSURES = ("cpu", "io", "memory")


@dataclass(frozen=True)
class Strain:
    """At one moment, since boot. What this kernel does not tell is missing."""

    values: dict[str, float]
    """`busy_cpu_s` and `stolen_cpu_s` over all processors, `device_busy_s` and `device_bytes` of
    the device, `stalled_cpu_s`, `stalled_io_s`, `stalled_memory_s` in which some work waited,
    `reclaims` in which a program had to free memory before it got some."""
    clock_s: float
    """How far the clock of the day is ahead of the one that only counts."""
    suspended_s: float
    """How long the machine slept."""


def strain(device: str | None = None, proc: Path = Path("/proc")) -> Strain:
    """Reads the counters.

    Args:
        device: `major:minor` of the block device that matters; None: there is none.
        proc: In tests another folder.
    """
    values: dict[str, float] = {}
    if text := _text(proc / "stat"):
        cpu = parse_stat(text).cpu
        values["stolen_cpu_s"] = cpu.steal / _TICKS_PER_S
        values["busy_cpu_s"] = (cpu.user + cpu.system) / _TICKS_PER_S
    for kind in _PRESSURES:
        if (some := parse_pressure(_text(proc / "pressure" / kind)).get("some")) is not None:
            values[f"stalled_{kind}_s"] = some / 1e6
    if text := _text(proc / "vmstat"):
        lines = (line.split() for line in text.splitlines() if line.startswith("allocstall"))
        values["reclaims"] = float(sum(int(count) for _, count in lines))
    if device is not None:
        for disk in parse_diskstats(_text(proc / "diskstats")):
            if disk.device == device:
                counters = disk.counters
                values["device_busy_s"] = counters.busy_ms / 1e3
                values["device_bytes"] = float(counters.read_bytes + counters.write_bytes)
    counted, boot = time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME
    return Strain(
        values,
        clock_s=time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(boot),
        suspended_s=time.clock_gettime(boot) - time.clock_gettime(counted),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # a kernel without it, or started with psi=0
        return ""
