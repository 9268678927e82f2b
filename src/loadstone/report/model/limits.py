"""What limited a system in the trials of a variant."""

from __future__ import annotations

from pydantic import Field

from loadstone.results.base import Record


class LookedAt(Record):
    """Something that can run out, and how far it was used."""

    title: str = Field(description="In words: `the processors of nodes`.")
    full: bool = Field(description="So much that it may limit the system.")
    evidence: str


class LimitReport(Record):
    """What limited a system in a measured phase of some trials."""

    variant: str
    phase: str = Field(default="", description="Of trials that have several.")
    limit: str = Field(
        description="What limited most of the trials, in words; empty: not found in most of them."
    )
    evidence: str = Field(description="Of it; empty: not found.")
    times: int = Field(description="Trials in which that is what was found.")
    trials: int = Field(description="Of so many.")
    uses: list[LookedAt] = Field(
        description="What was looked at in the last such trial, the likeliest limit first."
    )

    @property
    def looked_at(self) -> str:
        """What was looked at, in words."""
        return ", ".join(use.title for use in self.uses)
