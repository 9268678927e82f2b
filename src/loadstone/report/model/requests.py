"""The requests that operations are made of, side by side for the variants."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class RequestFigures(Record):
    """A request of a variant over its valid trials. Times are medians of those of the trials."""

    variant: str
    trials: int = Field(description="How many it is of.")
    count: int = Field(description="Those that ended well, in all trials.")
    rate_per_s: float | None = Field(description="Median of the trials.")
    errors: dict[str, int] = Field(description="By class, in all trials.")
    resent: dict[str, int] = Field(description="Sent once more, by class, in all trials.")
    retried: dict[str, int] = Field(
        default={}, description="Further tries, by the class that caused each, in all trials."
    )
    marks: dict[str, int] = Field(
        default={}, description="Of those that ended well, how many had each mark, in all trials."
    )
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None = Field(description="The highest of all trials.")


class RequestRow(Record):
    """A request that an operation is made of, of each variant."""

    operation: str
    request: str
    figures: list[RequestFigures] = Field(
        description="In the order of the variants; those without it are left out."
    )
