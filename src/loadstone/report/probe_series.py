"""Samples of host and target as columns over time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.report.model import Series

HOST_PROBE = "host"
"""Probes of this name, or whose name begins with it and a dot or dash, are about the machine."""

_MOST_POINTS = 600


def read_samples(path: Path) -> pa.Table | None:
    """The samples of a trial: `t_s`, `probe`, `metric`, `value`; None if there are none to read."""
    if not path.is_file():
        return None
    try:
        table = pq.read_table(path, columns=["t_s", "probe", "metric", "value"])
    except (pa.ArrowException, OSError):
        return None
    return table if table.num_rows else None


def host_series(samples: pa.Table | None, origin: float) -> Series:
    """What the host's probes saw."""
    return _series(samples, origin, is_host)


def target_series(samples: pa.Table | None, origin: float) -> Series:
    """What all other probes saw."""
    return _series(samples, origin, lambda probe: not is_host(probe))


def is_host(probe: str) -> bool:
    """Whether a probe of that name watches the machine, not the target."""
    return probe == HOST_PROBE or probe.startswith((f"{HOST_PROBE}.", f"{HOST_PROBE}-"))


def _series(samples: pa.Table | None, origin: float, wanted: Callable[[str], bool]) -> Series:
    rows = [] if samples is None else _rows(samples, wanted)
    if not rows:
        return Series(t_s=[], columns={})
    times = np.array([row["t_s"] for row in rows]) - origin
    width_s = max(1.0, (times.max() - times.min()) / _MOST_POINTS)
    bins = np.floor(times / width_s).astype(int)
    bins -= bins.min()
    begin = np.floor(times.min() / width_s) * width_s
    by_metric: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        by_metric.setdefault(row["metric"], []).append(position)
    values = np.array([row["value"] for row in rows], dtype=float)
    count = int(bins.max()) + 1
    return Series(
        t_s=[float(f"{begin + (index + 0.5) * width_s:.5g}") for index in range(count)],
        columns={
            metric: _binned(bins[positions], values[positions], count)
            for metric, positions in by_metric.items()
        },
    )


def _rows(samples: pa.Table, wanted: Callable[[str], bool]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = samples.to_pylist()
    return [row for row in rows if row["value"] is not None and wanted(row["probe"])]


def _binned(bins: Any, values: Any, count: int) -> list[float | None]:
    """Mean of the samples in each bin; None where there is none."""
    finite = np.isfinite(values)
    sums = np.bincount(bins[finite], weights=values[finite], minlength=count)
    numbers = np.bincount(bins[finite], minlength=count)
    return [
        float(f"{total / number:.5g}") if number else None
        for total, number in zip(sums, numbers, strict=True)
    ]
