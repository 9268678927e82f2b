"""What the parts of a system took of the machine, side by side for the variants."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class PartFigures(Record):
    """A part in a variant: medians of the valid trials."""

    variant: str
    trials: int = Field(description="How many it is of.")
    cpu_percent: float = Field(description="Of one processor, over the measured load.")
    memory_bytes: float | None
    quota: float | None = Field(description="Processors that it may use.")
    throttled_percent: float | None = Field(
        description="Share of the time in which its quota was used up."
    )


class PartRow(Record):
    """A part of a system of several, of each variant."""

    part: str = Field(description="`database`; `nodes.2` is a part of the part `nodes`.")
    figures: list[PartFigures] = Field(
        description="In the order of the variants; those without it are left out."
    )
