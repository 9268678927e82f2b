"""How the load of a workload is raised, for searches and scale curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

from loadstone.spec.design import LoadedBy
from loadstone.spec.plans import Change
from loadstone.spec.profile import ProfileSpec


@dataclass(frozen=True)
class SearchIncrements:
    """How a search goes up where the experiment does not say."""

    first: float
    method: Literal["steps", "bisection"] = "bisection"
    coarse: float | None = None
    fine: float | None = None


class LoadSearch:
    """What a search raises, how, and what each level must keep to where nobody says it."""

    over: ClassVar[LoadedBy] = "users"
    """What is raised where neither the design nor the profile says it."""
    rate_unit: ClassVar[str] = "operations/s"
    """Of the rate that is raised."""
    objective: ClassVar[tuple[str, ...]] = ("p99 < 1000 ms", "errors < 1 %")
    """What a level must keep to."""
    unit_of_users: ClassVar[str] = "users"
    """What is raised where it is no rate, as people call it."""
    sessions_option: ClassVar[str] = "--sessions"
    """What says how many operations of an open load may be under way at a time."""
    curve_metric: ClassVar[str | None] = None
    """Whose growth with the load a curve tells of; None: the headline. It is named where that is
    of a share of the load, as throughput per job is."""
    soak_s: ClassVar[float] = 0.0
    """How long the level that was found must hold."""

    def __init__(self, parameters: BaseModel) -> None:
        self.parameters = parameters

    def at_rate(self, profile: ProfileSpec, rate: float) -> list[Change]:
        """What makes this rate the load: the rate of an open profile.

        Args:
            profile: Of the experiment.
            rate: In `rate_unit`.
        """
        return [Change(factor="profile.rate_per_s", level=rate)]

    def rate_given(self, profile: ProfileSpec) -> float | None:
        """The rate that the user wrote, in `rate_unit`: where a search over rates begins."""
        return profile.rate_per_s

    def at_users(self, profile: ProfileSpec, users: int) -> list[Change]:
        """What makes so many users the load: those of a closed profile."""
        return [Change(factor="profile.users", level=users)]

    def raised_to(self, over: LoadedBy, level: float) -> dict[str, Any]:
        """The control line of the driver that raises a running load to a level."""
        if over == "rate":
            return {"control": "rate", "rate_per_s": level}
        return {"control": "users", "users": int(level)}

    def increments(self, over: LoadedBy) -> SearchIncrements:
        """Where a search begins and how it goes up, if the experiment does not say."""
        return SearchIncrements(first=1.0 if over == "users" else 100.0)
