"""What each configuration held of its users, in the form in which such results are published."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class TierFigures(Record):
    """A part of the system over the measured load: medians of the valid trials."""

    part: str
    cpu_percent: float | None = Field(description="Of the processors that it may use.")
    processors: float | None = Field(
        description="That it may use: its quota, its list of processors, or those of the machine. "
        "None: not recorded."
    )
    memory_bytes: float | None


class TransactionFigures(Record):
    """An operation by which the workload is judged: medians of the valid trials."""

    operation: str
    per_s: float
    mean_ms: float
    p95_ms: float


class HeldRow(Record):
    """A configuration of closed users. Errors are sums over its valid trials."""

    variant: str
    trials: int = Field(description="How many it is of.")
    users: int
    rate: float | None = Field(description="Of the workload's own headline; None: it has none.")
    response_mean_ms: float | None = Field(
        description="Of all operations that are judged, from when they were due."
    )
    errors_before: int = Field(description="Operations that failed in ramp and warm-up.")
    errors_measured: int = Field(description="Those that failed in the measured phases.")
    host_cpu_percent: float | None = Field(
        description="Of this machine's processors, whoever used them; None: not sampled."
    )
    tiers: list[TierFigures]
    transactions: list[TransactionFigures]


class HeldReport(Record):
    """All configurations of closed users, in the order of the design."""

    label: str = Field(description="Of the rate.")
    unit: str
    rows: list[HeldRow]
