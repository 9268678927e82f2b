"""Samples of host and target as columns over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from loadstone.meters.probe import METER_PROBE
from loadstone.probes.own import OWN_PROBE
from loadstone.probes.parts import PARTS_PROBE
from loadstone.report.model.trials import Series
from loadstone.results.columns import texts
from loadstone.results.samples import SCHEMA

HOST_PROBE = "host"
"""Probes of this name, or whose name begins with it and a dot or dash, are about the machine."""

_MOST_POINTS = 600


def read_samples(path: Path) -> pa.Table | None:
    """The samples of a trial: `t_s`, `probe`, `metric`, `value`; None if they cannot be read."""
    if not path.is_file():
        return None
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read().select(SCHEMA.names)
    except (pa.ArrowException, OSError, KeyError):
        return None


def host_series(samples: pa.Table | None, origin: float) -> Series:
    """What the host's probes saw."""
    return binned(rows_of(samples, is_host), origin)


def target_series(samples: pa.Table | None, origin: float) -> Series:
    """What the engine's probes saw."""
    return binned(rows_of(samples, is_target), origin)


def is_host(probe: str) -> bool:
    """Whether a probe of that name watches the machine, not the target."""
    return probe == HOST_PROBE or probe.startswith((f"{HOST_PROBE}.", f"{HOST_PROBE}-"))


def is_target(probe: str) -> bool:
    """Whether it watches neither the machine nor Loadstone itself, nor what parts take of both."""
    of_others = is_host(probe) or is_meter(probe)
    return not of_others and probe not in (OWN_PROBE, PARTS_PROBE)


def is_meter(probe: str) -> bool:
    """Whether it reads a power meter."""
    return probe.startswith(f"{METER_PROBE}.")


def binned(rows: Sequence[Mapping[str, Any]], origin: float) -> Series:
    """Columns over time, with the mean of what lies in one point.

    Args:
        rows: `t_s`, `metric`, `value`.
        origin: Zero of the chart, on the clock of the rows.
    """
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


def rows_of(samples: pa.Table | None, wanted: Callable[[str], bool]) -> list[dict[str, Any]]:
    """The samples of probes whose names are wanted; none without samples."""
    if samples is None or not samples.num_rows:
        return []
    probes = [probe for probe in samples["probe"].unique().to_pylist() if wanted(probe)]
    chosen = samples.filter(pc.is_in(samples["probe"], value_set=texts(probes)))
    rows: list[dict[str, Any]] = chosen.to_pylist()
    return [row for row in rows if row["value"] is not None]


def _binned(bins: Any, values: Any, count: int) -> list[float | None]:
    """Mean of the samples in each bin; None where there is none."""
    finite = np.isfinite(values)
    sums = np.bincount(bins[finite], weights=values[finite], minlength=count)
    numbers = np.bincount(bins[finite], minlength=count)
    return [
        float(f"{total / number:.5g}") if number else None
        for total, number in zip(sums, numbers, strict=True)
    ]
