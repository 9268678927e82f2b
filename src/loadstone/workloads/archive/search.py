"""How the rate of an event archive is raised."""

from __future__ import annotations

from math import ceil
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.spec.design import LoadedBy
from loadstone.spec.plans import Change
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.search import LoadSearch, SearchIncrements


class ArchiveSearch(LoadSearch):
    """Events a second of more and more stations, none of them lost."""

    over = "rate"
    rate_unit = "events/s"
    objective = ("p99 < 1000 ms", "loss = 0")
    soak_s = 600.0
    parameters: ArchiveParameters

    def at_rate(self, profile: ProfileSpec, rate: float) -> list[Change]:
        """More stations, as the rate needs them.

        Raises:
            WrongInputError: If they replay a file, whose own times say when its events come.
        """
        if self.parameters.csv is not None:
            raise WrongInputError(
                f"no rate can be searched for with csv {self.parameters.csv!r}: the times in the "
                "file say how many events come in a second",
                advice="leave csv out, or run it: rate / events_per_s stations replay the file",
            )
        return [Change(factor="workload.rate", level=rate)]

    def at_users(self, profile: ProfileSpec, users: int) -> list[Change]:
        """So many stations, each of the rate that it is built for."""
        return [Change(factor="workload.rate", level=self.parameters.rate_of(users))]

    def rate_given(self, profile: ProfileSpec) -> float | None:
        """That of the events, unless it is the default."""
        own = self.parameters
        return own.rate if "rate" in own.model_fields_set else None

    def raised_to(self, over: LoadedBy, level: float) -> dict[str, Any]:
        """A running load is raised by whole stations, each of the rate that it began with.

        Rather one too many than less than the level.
        """
        own = self.parameters
        stations = level if over == "users" else level * own.stations / own.rate
        return {"control": "users", "users": own.users - own.stations + ceil(stations - 1e-9)}

    def increments(self, over: LoadedBy) -> SearchIncrements:
        """Over rates, the steps of CERN's own tests."""
        if over == "users":
            return super().increments(over)
        return SearchIncrements(first=15_000.0, method="steps", coarse=15_000.0, fine=1_000.0)
