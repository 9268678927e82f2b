"""What a probe reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One value of one series. Units are part of the metric's name (`_percent`, `_bytes_per_s`)."""

    t_s: float
    probe: str
    metric: str
    value: float
