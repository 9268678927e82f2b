"""How the load generator itself did."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class GeneratorProcess(Record):
    """One of several driver processes, over the measured phase."""

    pid: int
    cpu_share: float = Field(description="Of one core per worker thread, 0 to 1.")
    lag_p99_s: float | None = None


class GeneratorHealth(Record):
    """Whether the load generator kept up, over the measured phase."""

    cpu_user_s: float
    cpu_system_s: float
    engine: str | None = Field(
        default=None, description="Name and version of an engine within the driver."
    )
    engine_cpu_s: float | None = Field(default=None, description="Of both, what that engine used.")
    cpu_share: float = Field(
        description="Of one core per worker thread, 0 to 1; without an engine within the driver. "
        "Of several processes the busiest one's."
    )
    max_rss_bytes: int
    lag_p99_s: float | None = Field(
        default=None, description="Of several processes the latest one's."
    )
    lag_p999_s: float | None = None
    late_starts: int = 0
    dropped: int = 0
    nofile: int = 0
    processes: list[GeneratorProcess] = Field(
        default=[], description="All, if several processes shared the load."
    )
    apart_s: float = Field(
        default=0.0, description="Between the first and the last of them to begin or end it."
    )
