"""A load at fractions of what a system can do, with the power at each. Pure.

The figure of all levels together is the sum of their throughputs over the sum of their average
powers, active idle included, as in the graduated benchmarks of servers (SPECpower_ssj2008, design
document, "Metric"). It is not the mean of the levels' own figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import fsum
from typing import Literal

from pydantic import Field

from loadstone.results.base import Record

OVERALL, CALIBRATED = "overall_per_watt", "calibrated_per_s"
PEAK_WATTS, IDLE_WATTS, PROPORTIONALITY = "peak_watts", "idle_watts", "proportionality"
FIGURES = (OVERALL, CALIBRATED, PEAK_WATTS, IDLE_WATTS, PROPORTIONALITY)
"""Of a graduated trial, beside those of its workload."""

Form = Literal["short", "full", "own"]


class CalibrationInterval(Record):
    """One interval of load at full speed."""

    name: str = Field(description="`calibration 3`.")
    rate_per_s: float


class GraduatedLevel(Record):
    """A level of the load, as it was measured."""

    name: str = Field(description="`90 %`, `active idle`.")
    share: float = Field(description="Of the calibrated rate, or of the users; 0: active idle.")
    target_per_s: float | None = Field(
        description="Operations a second that were to become due; None: users, whose rate follows "
        "from how long they wait."
    )
    users: int | None = Field(default=None, description="Closed: of this level.")
    due_per_s: float | None = Field(description="That became due; None: closed users.")
    achieved_per_s: float = Field(description="That ended well.")
    achieved_share: float | None = Field(
        default=None, description="Of what became due; None where nothing did, and of users."
    )
    watts: float | None = Field(
        default=None, description="Mean of the experiment's meter; None: no meter, or no figure."
    )
    joules_per_operation: float | None = None
    p50_s: float | None = Field(default=None, description="Response time of what is judged.")
    p95_s: float | None = None
    p99_s: float | None = None
    steady: bool = Field(
        default=True,
        description="Whether response times have a steady state: at the calibrated rate open "
        "arrivals have none, since as much arrives as can be done.",
    )
    holds: bool
    reasons: list[str] = Field(default=[], description="Why it does not hold.")
    lab_cpu_share: float | None = Field(
        default=None, description="Processors that the lab itself used, of one."
    )
    from_s: float = Field(description="On the trial's clock.")
    duration_s: float

    @property
    def per_watt(self) -> float | None:
        """Operations a second for each watt; None without power."""
        return None if not self.watts else self.achieved_per_s / self.watts


class GraduatedRecord(Record):
    """What a trial says of a load that went through levels."""

    form: Form
    over: Literal["rate", "users"]
    unit: str = Field(description="Of the rate: `operations/s`, `new-orders/min`.")
    calibrated_per_s: float | None = Field(description="The rate at 100 %; None: users.")
    calibrated_by: Literal["measured", "given"]
    settled: bool = Field(
        default=True,
        description="Whether the last two calibrations agreed, without a rising trend.",
    )
    calibrations: list[CalibrationInterval] = []
    levels: list[GraduatedLevel] = Field(default=[], description="In the order in which they ran.")
    overall: float | None = Field(
        default=None, description="Sum of all throughputs over the sum of all average powers."
    )
    reason: str = Field(default="", description="Why there is no overall figure.")
    mark: str = Field(
        default="", description="Of its watts and all that follows from them: `simulated`."
    )

    @property
    def idle_watts(self) -> float | None:
        """At active idle."""
        return next((each.watts for each in self.levels if each.share == 0), None)

    @property
    def peak_watts(self) -> float | None:
        """At the highest load."""
        return max(self.levels, key=lambda each: each.share).watts if self.levels else None

    @property
    def idle_share(self) -> float | None:
        """What active idle takes, of the watts at the highest load."""
        idle, peak = self.idle_watts, self.peak_watts
        return None if idle is None or not peak else idle / peak

    @property
    def proportionality(self) -> float | None:
        """See `proportionality`; None where a level has no watts."""
        points = [(each.share, each.watts) for each in self.levels]
        known = [(share, watts) for share, watts in points if watts is not None]
        return proportionality(known) if len(known) == len(points) else None

    @property
    def joules_per_operation(self) -> float | None:
        """Energy of all levels over all operations of them, each level for as long as it was."""
        if not self.levels or any(each.watts is None for each in self.levels):
            return None
        joules = fsum((each.watts or 0.0) * each.duration_s for each in self.levels)
        operations = fsum(each.achieved_per_s * each.duration_s for each in self.levels)
        return joules / operations if operations else None


def joules_of(watts: float | None, rate_per_s: float) -> float | None:
    """Energy of an operation; None without power, or where none was made.

    Args:
        watts: On average.
        rate_per_s: Operations a second.
    """
    return watts / rate_per_s if watts is not None and rate_per_s > 0 else None


def figure_of(levels: Sequence[GraduatedLevel], planned: Sequence[str]) -> tuple[float | None, str]:
    """The figure of all levels, or why there is none.

    Args:
        levels: As they were measured.
        planned: Names of all levels.

    Returns:
        `overall` and nothing, or None and the reason.
    """
    reason = "; ".join(_reasons(levels, planned))
    pairs = [(each.achieved_per_s, each.watts or 0.0) for each in levels]
    return (None, reason) if reason else (overall(pairs), "")


def _reasons(levels: Sequence[GraduatedLevel], planned: Sequence[str]) -> Iterator[str]:
    measured = {each.name for each in levels}
    missing = [each for each in planned if each not in measured]
    if missing:
        yield f"not measured: {', '.join(missing)}"
    for level in levels:
        if not level.holds:
            yield f"{level.name} does not hold: {', '.join(level.reasons)}"
    dark = [each.name for each in levels if each.watts is None]
    if len(dark) == len(levels):
        yield "no meter gave watts"
    elif dark:
        yield f"no watts of {', '.join(dark)}"


def overall(levels: Sequence[tuple[float, float]]) -> float:
    """Operations a second for each watt, over all levels.

    Args:
        levels: Of each, active idle among them: operations a second, and average watts.

    Raises:
        ValueError: If nothing was drawn.
    """
    watts = fsum(each for _, each in levels)
    if watts <= 0:
        raise ValueError("no power was drawn")
    return fsum(rate for rate, _ in levels) / watts


def proportionality(levels: Sequence[tuple[float, float]]) -> float | None:
    """How nearly power follows load: 1 if it is proportional to it, 0 if it is always the same.

    It is 1 - (A - 0.5) / 0.5, with A the area under the curve of power over load, both as shares of
    their peak. Points are joined by straight lines. A curve that lies below proportional power
    gives more than 1.

    Source: Ryckbosch, F., Polfliet, S., Eeckhout, L. (2011). Trends in Server Energy
    Proportionality. IEEE Computer 44(9):69-72.

    Args:
        levels: Of each: its share of the highest load, and its watts. Idle has the share 0.

    Returns:
        None without a level at 0, without load, or without power at the peak.
    """
    points = sorted(levels)
    if len(points) < 2 or points[0][0] != 0 or points[-1][0] <= 0 or points[-1][1] <= 0:
        return None
    highest, peak = points[-1]
    area = fsum((b[0] - a[0]) / highest * (a[1] + b[1]) / (2 * peak) for a, b in pairwise(points))
    return 1 - (area - 0.5) / 0.5
