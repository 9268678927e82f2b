"""The load of a trial, as an experiment file states it."""

from __future__ import annotations

from math import fsum
from typing import Literal

from pydantic import Field, field_validator, model_validator

from loadstone.limits import (
    LONGEST_DELAY_S,
    LONGEST_S,
    MOST_PROCESSES,
    MOST_QUEUED,
    MOST_RATE_PER_S,
    MOST_SESSIONS,
    MOST_THREADS,
    SHORTEST_PHASE_S,
)
from loadstone.spec.base import Spec
from loadstone.spec.graduated import GraduatedLoad, level_name
from loadstone.spec.think_time import ThinkRange, range_as_text
from loadstone.spec.user_rate import UserRate, ramp_s
from loadstone.units import Duration


class MeasuredPhase(Spec):
    """A measured phase of its own, with a share of the load."""

    name: str = Field(min_length=1, max_length=60, description="As reports show it: `80 %`.")
    share: float = Field(
        default=1.0, ge=0, le=100, description="Of the users or the rate of the profile; 0: idle."
    )
    measure: Duration | None = Field(
        default=None,
        ge=SHORTEST_PHASE_S,
        description="Its length; default: that of the profile.",
    )
    delay: Duration = Field(default=0.0, description="Without load, before it.")
    ramp: Duration = Field(default=0.0, description="At its load, before it is measured.")
    ramp_down: Duration = Field(default=0.0, description="At its load, after it was measured.")

    @property
    def around(self) -> dict[str, float]:
        """What lies around it and is not measured: seconds, by name, in order."""
        return {
            f"{self.name}: delay": self.delay,
            f"{self.name}: ramp": self.ramp,
            f"{self.name}: ramp down": self.ramp_down,
        }


class ProfileSpec(Spec):
    """How load arrives."""

    load: Literal["closed", "open"] = Field(
        default="closed",
        description="`closed`: users begin the next operation when the last is done. "
        "`open`: operations become due by a clock, whatever the server does.",
    )
    users: int = Field(default=8, ge=1, le=MOST_SESSIONS, description="Closed: how many users.")
    rate_per_s: float | None = Field(
        default=None,
        gt=0,
        le=MOST_RATE_PER_S,
        description="Open: operations that become due each second.",
    )
    arrival: Literal["uniform", "poisson"] = Field(default="poisson", description="Open only.")
    sessions: int = Field(
        default=64,
        ge=1,
        le=MOST_SESSIONS,
        description="Open: connections that serve the arrivals.",
    )
    queue: int = Field(
        default=10_000, ge=1, le=MOST_QUEUED, description="Open: due operations that may wait."
    )
    think_time: Literal["none", "specified"] | ThinkRange | Duration = Field(
        default="none",
        description="`none`, `specified` (keying and think times of the workload's origin), "
        "the mean of a negative-exponential think time, or the ends of a uniform one (`1s to 3s`).",
    )
    warm_up: Duration = Field(default=5.0, description="Load before the measurement.")
    ramp: UserRate | Duration = Field(
        default=0.0,
        description="Users or rate rise from one to full: how long that takes, or, of users, how "
        "many come each second (`5/s`).",
    )
    gather: Duration | None = Field(
        default=None,
        description="Closed, where users log in: ramp and warm-up go on until the last user has "
        "logged in and made one transaction, but no longer than this. Default: 10min.",
    )
    measure: Duration = Field(default=60.0, ge=SHORTEST_PHASE_S, description="The measured phase.")
    phases: list[MeasuredPhase] = Field(
        default=[],
        description="Several measured phases, one after the other, each with its own figures. "
        "Default: one of `measure` at the whole load.",
    )
    graduated: GraduatedLoad | None = Field(
        default=None,
        description="The load goes through levels: 100, 90 ... 10 % of what the system can do, and "
        "active idle. Of an open load the whole is a rate that is measured first, by users who "
        "never wait, unless `rate_per_s` gives it; of closed users with think time it is `users`.",
    )
    drain: Duration = Field(
        default=0.0,
        description="Closed: how long it takes until all users have left after the measured phase, "
        "one after the other; what they do then is not part of the figures.",
    )
    backlog: Literal["drain", "discard"] = Field(
        default="drain", description="Open: what happens to a backlog at a change of phase."
    )
    delay: Duration = Field(
        default=0.0,
        ge=0,
        le=LONGEST_DELAY_S,
        description="A planted slowdown: the load generator holds every operation up for so long, "
        "as a slower system would. It shows what an experiment would find.",
    )
    threads: int = Field(
        default=1,
        ge=1,
        le=MOST_THREADS,
        description="Worker threads of the driver, of each of its processes.",
    )
    processes: int | Literal["auto"] = Field(
        default="auto",
        description="Driver processes that share the load. `auto`: as many as the limit of open "
        "files asks for, and one for each 1,000 sessions as far as there are processors to spare. "
        "An engine within the driver has always one.",
    )
    cpus: str | None = Field(
        default=None, description="Processors that the driver may run on, as a list: `1`."
    )

    @field_validator("processes")
    @classmethod
    def _some(cls, value: int | str) -> int | str:
        if isinstance(value, int) and not 1 <= value <= MOST_PROCESSES:
            raise ValueError(f"between 1 and {MOST_PROCESSES}, or auto; given {value}")
        return value

    @field_validator("think_time", mode="before")
    @classmethod
    def _range_in_one_form(cls, value: object) -> object:
        return range_as_text(value)

    @field_validator("warm_up", "ramp", "drain")
    @classmethod
    def _none_or_long_enough(cls, value: float | str) -> float | str:
        if isinstance(value, float) and 0 < value < SHORTEST_PHASE_S:
            raise ValueError("is too short: write 0s for none, or 1ms or more")
        return value

    @property
    def idle(self) -> dict[str, str]:
        """The fields that have no effect under this load, with the reason."""
        of_levels = {} if self.graduated is None else {"measure": _LEVELS_HAVE_LENGTHS}
        if self.load == "open":
            return of_levels | {
                "users": "an open load has a rate and sessions, not users",
                "gather": "an open load has no users who come",
            }
        why = "closed users have no rate (an open load has one)"
        return of_levels | dict.fromkeys(("arrival", "sessions", "queue", "backlog"), why)

    @property
    def calibrates(self) -> bool:
        """Whether its rate is that of a load at full speed, which is measured first."""
        return self.graduated is not None and self.load == "open" and self.rate_per_s is None

    @property
    def measured(self) -> list[MeasuredPhase]:
        """The measured phases, in order; one at least."""
        if self.graduated is not None:
            return [stretch_of(self.graduated, percent) for percent in self.graduated.ordered]
        return self.phases or [MeasuredPhase(name="measure")]

    @property
    def measured_s(self) -> float:
        """The length of all measured phases together."""
        return fsum(phase.measure or self.measure for phase in self.measured)

    @property
    def around_s(self) -> float:
        """The length of what lies between measured phases, calibrations among it, in seconds."""
        around_s = fsum(length for phase in self.measured for length in phase.around.values())
        if self.graduated is None or not self.calibrates:
            return around_s
        return around_s + self.graduated.calibrations * self.graduated.stretch.whole_s

    @property
    def ramp_s(self) -> float:
        """The length of the ramp, in seconds."""
        return ramp_s(self.ramp, self.users)

    @property
    def before_s(self) -> float:
        """The length of what comes before the measured phase, as far as it is known."""
        return self.warm_up + self.ramp_s

    @property
    def most_users(self) -> int:
        """The most users of any phase."""
        return max(self.users, *(round(self.users * phase.share) for phase in self.measured))

    @field_validator("phases")
    @classmethod
    def _named_apart(cls, value: list[MeasuredPhase]) -> list[MeasuredPhase]:
        names = [phase.name for phase in value]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"two phases have the name {twice[0]!r}: give each its own")
        return value

    @model_validator(mode="after")
    def _phases_possible(self) -> ProfileSpec:
        if self.most_users > MOST_SESSIONS:
            raise ValueError(
                f"a phase has {self.most_users:,} users: {MOST_SESSIONS:,} are the most"
            )
        rate = (self.rate_per_s or 0.0) * max(phase.share for phase in self.measured)
        if rate > MOST_RATE_PER_S:
            raise ValueError(f"a phase has a rate of {rate:g}: {MOST_RATE_PER_S:g} is the highest")
        return self

    @model_validator(mode="after")
    def _rate(self) -> ProfileSpec:
        if self.load == "open" and self.rate_per_s is None and self.graduated is None:
            raise ValueError("an open load needs rate_per_s")
        if self.load == "open" and self.think_time != "none":
            raise ValueError("think times belong to closed users: an open load has a rate")
        if self.load == "open" and isinstance(self.ramp, str):
            raise ValueError("a ramp in users a second is for closed users: write how long it is")
        if self.ramp_s > LONGEST_S:
            raise ValueError(f"the ramp would take {self.ramp_s:g} s: {LONGEST_S:g} s is the most")
        if self.load == "open" and self.drain:
            raise ValueError("drain belongs to closed users: an open load has none that leave")
        if self.load == "closed" and self.rate_per_s is not None:
            raise ValueError("rate_per_s belongs to an open load: write load: open")
        return self

    @model_validator(mode="after")
    def _levels_possible(self) -> ProfileSpec:
        if self.graduated is None:
            return self
        if self.phases:
            raise ValueError("graduated has measured phases of its own: leave phases out")
        if self.load == "closed" and self.think_time in ("none", 0):
            raise ValueError(
                "closed users who never wait have no fractions: write load: open for fractions of "
                "a calibrated rate, or give the users a think_time"
            )
        return self


_LEVELS_HAVE_LENGTHS = "the levels of a graduated load have lengths of their own"


def stretch_of(graduated: GraduatedLoad, percent: float) -> MeasuredPhase:
    """The measured phase of a level.

    Args:
        graduated: Which says how long it is.
        percent: Of the whole load.
    """
    stretch = graduated.stretch
    level = MeasuredPhase(name=level_name(percent), share=percent / 100)
    lengths_s = {
        "measure": stretch.measure_s,
        "delay": stretch.delay_s,
        "ramp": stretch.ramp_s,
        "ramp_down": stretch.ramp_down_s,
    }
    return level.model_copy(update=lengths_s)
