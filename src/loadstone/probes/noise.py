"""The machine's own speed, measured in about a tenth of a second before and after each trial.

It is for the record: it leaves no trial out. Whether it moved is for `results.statistics.drift` to
say; here are only figures, all of them times of a fixed piece of work, so that more is slower.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

CPU_SLICES = 5
_CPU_STEPS = 40_000
"""About 4 ms of integer work on a processor of 2020. On a virtual machine the best of 20 such
slices moved by 4.7 % (coefficient of variation of 60 draws), that of 8 by twice as much: enough
for a figure that is for the record."""
_LCG_FACTOR, _LCG_STEP, _LCG_MASK = 1_103_515_245, 12_345, 0x7FFF_FFFF
MEMORY_PASSES = 3
_MEMORY_BYTES = 64 * 1024**2
"""More than most last-level caches hold."""
DISK_WRITES = 6
_DISK_BLOCK_BYTES = 8192
_DISK_LIMIT_S = 0.1


def machine_speed(folder: Path) -> dict[str, float]:
    """Measures CPU, memory and disk.

    * `cpu_work_us`: the same integer work, the best of several slices: interruptions by others
      only ever lengthen a slice, so the best one is the processor's own speed. (What neighbours
      take of it is in the host probe's steal and pressure.)
    * `memory_read_us`: time to read a MiB of a buffer of 64 MiB, the best
      of several passes. (Copies swing by a fifth with the neighbours' use of the memory bus, which
      a database hardly feels; reads do not.)
    * `disk_sync_us`: an 8 kB write that is made durable (`fdatasync`), the median. Virtual disks
      have two speeds and more (a write-back cache, a throttle): it is shown, and needs a wider
      limit of its own if it is judged at all.

    Args:
        folder: Whose disk is tried. A figure that cannot be had is left out.
    """
    figures = {
        "cpu_work_us": min(_timed_us(_integer_work) for _ in range(CPU_SLICES)),
        "memory_read_us": _memory_us_per_mib(),
    }
    disk_us = _disk_sync_us(folder)
    return figures if disk_us is None else figures | {"disk_sync_us": disk_us}


def _integer_work() -> int:
    """A linear congruential generator (constants of C99, 7.20.2.2): nothing can be skipped."""
    value = 1
    for _ in range(_CPU_STEPS):
        value = (value * _LCG_FACTOR + _LCG_STEP) & _LCG_MASK
    return value


def _memory_us_per_mib() -> float:
    source = np.ones(_MEMORY_BYTES // 8, dtype=np.float64)
    best_us = min(_timed_us(source.sum) for _ in range(MEMORY_PASSES))
    return best_us / (_MEMORY_BYTES / 1024**2)


def _disk_sync_us(folder: Path) -> float | None:
    times_us = []
    block = os.urandom(_DISK_BLOCK_BYTES)
    give_up_at = time.perf_counter() + _DISK_LIMIT_S
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            file.write(block)
            os.fsync(file)
            for _ in range(DISK_WRITES):
                times_us.append(_timed_us(lambda: _write_durably(file.fileno(), block)))
                if time.perf_counter() > give_up_at:
                    break
    except OSError:
        return None
    return float(np.median(times_us))


def _write_durably(handle: int, block: bytes) -> None:
    os.pwrite(handle, block, 0)
    os.fdatasync(handle)


def _timed_us(work: Callable[[], object]) -> float:
    begun = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - begun) / 1e3
