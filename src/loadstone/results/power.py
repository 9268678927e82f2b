"""What a power meter said of a stretch of a trial, as it is recorded."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loadstone.results.base import Record
from loadstone.spec.meters import Scope

WATTS = "watts"
"""Name of the metric: the mean power over a measured phase, by the experiment's meter."""

Mark = Literal["", "simulated", "estimated"]
"""What is said beside every figure that comes from power of this kind; empty: it was measured."""


class PowerRecord(Record):
    """The watts of one channel of a meter, or of a sum of channels, over a stretch of a trial.

    `docs/power.md` tells how they are worked out.
    """

    meter: str = Field(description="Name of the meter.")
    kind: str = Field(description="Kind of the meter: `powercap`, `network`, ...")
    channel: str = Field(description="Of a sum, its parts joined by `+`.")
    scope: Scope
    watts: float | None = Field(description="On average; None: see `reason`.")
    joules: float | None = Field(description="Over the whole stretch: watts times its length.")
    covered: float = Field(description="Share of the stretch that was measured, 0 to 1.")
    readings: int = Field(description="Valid ones within the stretch.")
    invalid: int = Field(default=0, description="Readings within it that were no power.")
    lag_s: float | None = Field(
        default=None,
        description="Median time from the source's own stamp to the arrival, if it has stamps.",
    )
    resolution_w: float | None = Field(
        default=None, description="Least difference of watts that its values could show."
    )
    accuracy_percent: float | None = Field(default=None, description="As stated for the meter.")
    reason: str = Field(
        default="",
        description="Why there are no watts; or, beside watts, what was lost on the way.",
    )
    main: bool = Field(default=False, description="By the experiment's meter.")
    simulated: bool = Field(default=False, description="From another root, or a mock.")
    estimated: bool = Field(default=False, description="By a model, not by a meter.")
    parts: list[str] = Field(default=[], description="Of a sum: the channels that were added.")

    @property
    def mark(self) -> Mark:
        """The word that stands beside every figure from it."""
        if self.simulated:
            return "simulated"
        return "estimated" if self.estimated else ""


def main_of(records: list[PowerRecord]) -> PowerRecord | None:
    """The record of the experiment's meter, if there is one."""
    return next((each for each in records if each.main), None)
