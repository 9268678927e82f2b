"""What the load took of the machine, and how far that was all there is."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class PartUsage(Record):
    """What a part of a system of several took of the machine while load was measured."""

    name: str = Field(description="`database`; `nodes.2` is a part of the part `nodes`.")
    cpu_s: float
    cpu_percent: float = Field(description="Of one processor, on average.")
    memory_bytes: float | None = Field(
        default=None, description="Held on average; memory that processes share is counted once."
    )
    most_memory_bytes: float | None = None
    quota: float | None = Field(default=None, description="Processors that it may use.")
    throttled_percent: float | None = Field(
        default=None,
        description="Share of the time in which its quota was used up, and it stood still until "
        "the next period.",
    )


class ResourceUse(Record):
    """How far something that can run out was used while load was measured."""

    resource: str = Field(
        description="`part processors`, `host processors`, `disk`, `locks`, `threads`, `pool`, ... "
        "(results.limits)."
    )
    part: str = Field(default="", description="Of a system of several parts, the one it is of.")
    used: float = Field(description="Share, 0 to 1, of what `evidence` says.")
    full: bool = Field(description="So much that it may limit the system.")
    evidence: str = Field(description="The figures that say so.")
