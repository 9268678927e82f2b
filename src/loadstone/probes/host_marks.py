"""When the host was under strain."""

from __future__ import annotations

from loadstone.probes.bounds import THROTTLED
from loadstone.probes.marks import Mark, SampleTable, marks

MEBIBYTE = 1024.0**2

_UNUSUAL: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("host: waits for CPU", ("pressure_cpu_percent",), 20.0),
    ("host: waits for I/O", ("pressure_io_full_percent", "pressure_io_percent"), 10.0),
    ("host: waits for memory", ("pressure_memory_percent",), 2.0),
    ("host: disk flushes", ("data_disk_flushes_per_s", "disk_flushes_per_s"), 20.0),
    ("host: disk writes", ("data_disk_write_bytes_per_s", "disk_write_bytes_per_s"), 8 * MEBIBYTE),
    ("host: dirty pages written", ("memory_writeback_bytes",), 8 * MEBIBYTE),
    ("host: CPU stolen", ("cpu_steal_percent",), 5.0),
    ("host: CPU quota used up", (THROTTLED,), 5.0),
)
"""Kind, metrics (the first that was sampled counts), and the value below which it is noise."""


def host_marks(samples: SampleTable) -> list[Mark]:
    """Intervals in which a figure of the host stood out from the rest of the trial.

    Args:
        samples: Of the host's probe, of the interval that is judged.
    """
    return [
        mark
        for kind, metrics, floor in _UNUSUAL
        for mark in marks(kind, samples.first_of(*metrics).unusual(floor))
    ]
