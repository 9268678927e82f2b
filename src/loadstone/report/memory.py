"""Resident memory of the load generator and of Loadstone itself: what must not grow for hours."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import pyarrow as pa

from loadstone.probes.own import MEMORY, OWN_PROBE
from loadstone.protocol.frames import Tick
from loadstone.report.model.trials import MemoryReport, MemoryUse, PhaseSpan
from loadstone.report.probe_series import binned, rows_of

WINDOW_S = 300.0
"""The first and the last minutes of a measured phase that are compared; no shorter phase is."""
GENERATOR, OWN = "load generator", "Loadstone"
COLUMNS = {GENERATOR: "generator_bytes", OWN: "loadstone_bytes"}


def memory_report(
    ticks: Sequence[Tick], samples: pa.Table | None, phases: Sequence[PhaseSpan], origin: float
) -> MemoryReport | None:
    """Memory over a trial, second by second.

    Args:
        ticks: Of the trial; of several driver processes they tell the sum.
        samples: Of the probes.
        phases: On the chart's clock.
        origin: Zero of the charts, seconds since the driver's start.

    Returns:
        None if nothing was told.
    """
    # A late tick is of one process, however many there are.
    told = [(tick.to_s, tick.rss_bytes) for tick in ticks if tick.rss_bytes and not tick.late]
    own = rows_of(samples, lambda probe: probe == OWN_PROBE)
    rows = [_row(GENERATOR, t_s, value) for t_s, value in told] + [
        _row(OWN, row["t_s"], row["value"]) for row in own if row["metric"] == MEMORY
    ]
    if not rows:
        return None
    uses = [_use(who, rows, phases, origin) for who in COLUMNS]
    return MemoryReport(series=binned(rows, origin), uses=[use for use in uses if use is not None])


def _row(who: str, t_s: float, value: float) -> dict[str, Any]:
    return {"t_s": t_s, "metric": COLUMNS[who], "value": float(value)}


def _use(
    who: str, rows: Sequence[dict[str, Any]], phases: Sequence[PhaseSpan], origin: float
) -> MemoryUse | None:
    own = [(row["t_s"] - origin, row["value"]) for row in rows if row["metric"] == COLUMNS[who]]
    if not own:
        return None
    measured = [phase for phase in phases if phase.kind == "measure"]
    from_s = min((phase.from_s for phase in measured), default=0.0)
    to_s = max((phase.to_s for phase in measured), default=0.0)
    is_long = to_s - from_s >= 2 * WINDOW_S
    return MemoryUse(
        who=who,
        most_bytes=round(max(value for _, value in own)),
        first_bytes=_median(own, from_s, from_s + WINDOW_S) if is_long else None,
        last_bytes=_median(own, to_s - WINDOW_S, to_s) if is_long else None,
    )


def _median(told: Sequence[tuple[float, float]], from_s: float, to_s: float) -> int | None:
    values = [value for t_s, value in told if from_s <= t_s <= to_s]
    return round(median(values)) if values else None
