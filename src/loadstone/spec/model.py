"""The experiment: what is run, on what, under which load, and what is varied."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from loadstone.limits import (
    MOST_PROCESSES,
    MOST_QUEUED,
    MOST_RATE_PER_S,
    MOST_SESSIONS,
    MOST_THREADS,
    SHORTEST_PHASE_S,
)
from loadstone.units import Duration

Level = bool | int | float | str
"""A value that a factor takes."""

EXPERIMENT_VERSION: Literal[1] = 1


class Spec(BaseModel):
    """Base of everything an experiment file says: frozen, strict about unknown fields, finite."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class WorkloadSpec(Spec):
    """Which workload, with which parameters."""

    name: str = Field(description="Name of a workload: `loadstone list workloads`.")
    parameters: dict[str, Level | dict[str, Level] | list[Level]] = Field(
        default_factory=dict, description="Its parameters; the rest have defaults."
    )


class StorageSpec(Spec):
    """Where the data of a system that Loadstone starts lie, as placements by role.

    Which roles there are its target says: `data` of most, `log` and `archive` of servers.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, str]

    data: str | None = Field(
        default=None, description="Placement of the data; default: a plain folder."
    )

    @model_validator(mode="before")
    @classmethod
    def _named_only(cls, value: object) -> object:
        """A role without a placement is one that is not named."""
        if not isinstance(value, Mapping):
            return value
        return {role: placement for role, placement in value.items() if placement is not None}

    @property
    def named(self) -> dict[str, str]:
        """Role: the placement of what has that role."""
        return {role: text for role, text in self.model_dump().items() if text is not None}

    def placed(self, role: str, placement: str | None) -> StorageSpec:
        """The same with another placement for a role; None: the default."""
        return StorageSpec.model_validate(self.named | {role: placement})


class ProcessSpec(Spec):
    """How the processes of a server are started."""

    cpus: str | None = Field(
        default=None, description="Processors they may run on, as a list: `0`, `0-3,8`."
    )
    nofile: int | None = Field(default=None, ge=64, description="Files that each may open.")


_INSTALLED = ("mariadb",)
"""Engines that Loadstone does not bring along."""


def default_server(engine: str) -> str:
    """What `server` is where it is not said."""
    return "local" if engine in _INSTALLED else "embedded"


class TargetSpec(Spec):
    """The system under test."""

    engine: str = Field(description="Name of an engine: `loadstone list targets`.")
    server: str = Field(
        default_factory=lambda known: default_server(known.get("engine", "")),
        description="`embedded`, `local`, `local:MAJOR`, or an address "
        "(`postgresql://user@host:port/db`, `spark://host:port`). Default: `embedded`; `local` for "
        "mariadb.",
    )
    password: str | None = Field(
        default=None, description="Where the password is: `env:NAME` or `file:PATH`, never itself."
    )
    data: str | None = Field(
        default=None, description="Folder for the data of a server that Loadstone starts."
    )
    settings: dict[str, Level] = Field(
        default_factory=dict, description="Settings of the server that all trials share."
    )
    storage: StorageSpec = StorageSpec()
    process: ProcessSpec = ProcessSpec()
    others: dict[str, TargetSpec] = Field(
        default_factory=dict,
        description="Further systems by name, as levels of the factor `target.engine`. A level "
        "that is not among them is an engine with nothing else said.",
    )

    def other(self, name: str) -> TargetSpec:
        """The system that a level of `target.engine` means."""
        if name in self.others:
            found = self.others[name]
        elif name == self.engine:
            found = self
        else:
            found = TargetSpec(engine=name)
        return found.model_copy(update={"others": self.others})

    @property
    def site(self) -> tuple[str, str, str | None]:
        """Specs that are equal in this are about the same server, or file."""
        return self.engine, self.server, self.data

    @property
    def alone(self) -> TargetSpec:
        """This system without the others."""
        return self.model_copy(update={"others": {}})

    def with_settings(self, settings: Mapping[str, Level]) -> TargetSpec:
        """The same target with further settings."""
        return self.model_copy(update={"settings": {**self.settings, **settings}})

    @field_validator("others")
    @classmethod
    def _flat(cls, value: dict[str, TargetSpec]) -> dict[str, TargetSpec]:
        nested = [name for name, spec in value.items() if spec.others]
        if nested:
            raise ValueError(f"{nested[0]} has others of its own: name all of them in one place")
        return value

    @field_validator("password")
    @classmethod
    def _reference(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("env:", "file:")):
            raise ValueError("a password is a reference: write env:NAME or file:PATH")
        return value


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
    think_time: Literal["none", "specified"] | Duration = Field(
        default="none",
        description="`none`, `specified` (keying and think times of the workload's origin), "
        "or the mean of a negative-exponential think time.",
    )
    warm_up: Duration = Field(default=5.0, description="Load before the measurement.")
    ramp: Duration = Field(default=0.0, description="Users or rate rise from one to full.")
    measure: Duration = Field(default=60.0, ge=SHORTEST_PHASE_S, description="The measured phase.")
    phases: list[MeasuredPhase] = Field(
        default=[],
        description="Several measured phases, one after the other, each with its own figures. "
        "Default: one of `measure` at the whole load.",
    )
    backlog: Literal["drain", "discard"] = Field(
        default="drain", description="Open: what happens to a backlog at a change of phase."
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

    @field_validator("warm_up", "ramp")
    @classmethod
    def _none_or_long_enough(cls, value: float) -> float:
        if 0 < value < SHORTEST_PHASE_S:
            raise ValueError("is too short: write 0s for none, or 1ms or more")
        return value

    @property
    def idle(self) -> dict[str, str]:
        """The fields that have no effect under this load, with the reason."""
        if self.load == "open":
            return {"users": "an open load has a rate and sessions, not users"}
        why = "closed users have no rate (an open load has one)"
        return dict.fromkeys(("arrival", "sessions", "queue", "backlog"), why)

    @property
    def measured(self) -> list[MeasuredPhase]:
        """The measured phases, in order; one at least."""
        return self.phases or [MeasuredPhase(name="measure")]

    @property
    def measured_s(self) -> float:
        """The length of all measured phases together."""
        return fsum(phase.measure or self.measure for phase in self.measured)

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
        if self.load == "open" and self.rate_per_s is None:
            raise ValueError("an open load needs rate_per_s")
        if self.load == "open" and self.think_time != "none":
            raise ValueError("think times belong to closed users: an open load has a rate")
        if self.load == "closed" and self.rate_per_s is not None:
            raise ValueError("rate_per_s belongs to an open load: write load: open")
        return self


OutageKind = Literal["pause", "kill", "full-disk"]
"""`pause`: the server's processes stand still. `kill`: they end at once, and it is started again.
`full-disk`: nothing more fits on the placement of its data."""


class OutageSpec(Spec):
    """A server that is out of service for a while, in the midst of the measured phase."""

    model_config = ConfigDict(serialize_by_alias=True)

    kind: OutageKind = Field(
        description="`pause`: the server's processes stand still (SIGSTOP). `kill`: they are "
        "killed, and the server is started again. `full-disk`: the placement of its data is "
        "filled, and freed again."
    )
    after: Duration = Field(default=10.0, description="Measured load before it begins.")
    lasts: Duration = Field(default=5.0, alias="for", gt=0, description="How long it lasts.")


class RunDesign(Spec):
    """One configuration, repeated."""

    kind: Literal["run"] = "run"
    first_block: int = Field(
        default=1,
        ge=1,
        description="Number of the first block, which decides the load that is drawn: "
        "`first_block: 3` repeats the load of block 3 of another experiment of this seed.",
    )


class CompareDesign(Spec):
    """Two or more levels of one factor, interleaved in randomised blocks."""

    kind: Literal["compare"] = "compare"
    factor: str = Field(description="For example `target.shared_buffers` or `workload.style`.")
    levels: list[Level] = Field(min_length=2, description="The first is the baseline.")


class Rung(Spec):
    """One step of a ladder: one change on top of all rungs before it."""

    name: str
    change: dict[str, Level] = Field(min_length=1, description="Factor and its new level.")
    because: str | None = Field(default=None, description="Why it might help.")
    several: bool = Field(default=False, description="Says that the rung changes several things.")

    @model_validator(mode="after")
    def _one_change(self) -> Rung:
        if len(self.change) > 1 and not self.several:
            raise ValueError(
                f"rung {self.name!r} changes {len(self.change)} things: split it, "
                "or say several: true and the report will say it too"
            )
        return self


class LadderDesign(Spec):
    """Cumulative rungs, each against the one before and against the baseline."""

    kind: Literal["ladder"] = "ladder"
    rungs: list[Rung] = Field(min_length=1)
    keep: Literal["all", "better"] = Field(
        default="all",
        description="`all` rungs stay; or only those `better` by verdict, decided rung by rung.",
    )
    reference: str | None = Field(
        default=None, description="A published ladder to compare the shape with."
    )


class SweepDesign(Spec):
    """A matrix of factors and levels."""

    kind: Literal["sweep"] = "sweep"
    matrix: Literal["full", "one-at-a-time"] = "full"
    factors: dict[str, Annotated[list[Level], Field(min_length=1)]] = Field(min_length=1)


Failure = Literal["kill", "power-loss"]
"""`kill`: the server's processes end at once. `power-loss`: unflushed writes are lost as well."""


class CrashDesign(Spec):
    """One configuration, crashed again and again under load."""

    kind: Literal["crash"] = "crash"
    failure: Failure = Field(
        default="kill",
        description="`kill`: all processes of the server are killed. `power-loss`: what was not "
        "flushed to the disk is thrown away as well.",
    )
    crashes: int = Field(default=5, ge=1, le=1000, description="How often.")
    first_block: int = Field(
        default=1,
        ge=1,
        description="Number of the first crash, which decides the load and the moment drawn.",
    )


LoadedBy = Literal["rate", "users"]
"""What a search raises."""


class SearchDesign(Spec):
    """The highest rate, or the most users, that a system can sustain."""

    model_config = ConfigDict(serialize_by_alias=True)

    kind: Literal["search"] = "search"
    over: LoadedBy | None = Field(
        default=None,
        description="What is raised. Default: the rate of an open load, else what the workload "
        "says, which is users for most.",
    )
    first: float | None = Field(
        default=None,
        alias="from",
        gt=0,
        le=MOST_RATE_PER_S,
        description="The first level; default: the rate or the users of the profile if they are "
        "given, else the workload's.",
    )
    method: Literal["steps", "bisection"] | None = Field(
        default=None,
        description="After doubling: `steps` goes up in coarse and then in fine steps, `bisection` "
        "halves the bracket. Default: the workload's.",
    )
    coarse: float | None = Field(
        default=None, gt=0, le=MOST_RATE_PER_S, description="Coarse step; steps only."
    )
    fine: float | None = Field(
        default=None, gt=0, le=MOST_RATE_PER_S, description="Fine step; steps only."
    )
    precision: float = Field(
        default=2.0,
        gt=0,
        le=50,
        description="Bisection only: percent of the level within which it is to be found.",
    )
    at_most: float | None = Field(
        default=None, gt=0, le=MOST_RATE_PER_S, description="No level above it is tried."
    )
    objective: list[str] = Field(
        default_factory=list,
        description="What must hold in every window: `p99 < 1000 ms`, `new-order.p95 < 500 ms`, "
        "`loss = 0`, `errors < 0.1 %`. Default: the workload's.",
    )
    window: Duration = Field(default=10.0, gt=0, description="The objective is judged over each.")
    failures: Literal[1, 2] = Field(
        default=2,
        description="So many trials of a level must fail before it counts as failed: with 2, a "
        "single spike misleads nobody.",
    )
    longest: Duration | None = Field(
        default=None,
        gt=0,
        description="Samples lengthen from profile.measure to this while the bracket narrows; "
        "trials of the confirmation are as long. Default: twice profile.measure.",
    )
    soak: Duration | None = Field(
        default=None,
        description="How long the level that was found must hold; `0s`: no soak. Default: the "
        "workload's, none for most.",
    )
    confirm: int = Field(
        default=3,
        ge=0,
        le=100,
        description="Fresh trials of each of 95, 100 and 105 % of the level, in random order.",
    )
    approach: Literal["fresh", "raise"] = Field(
        default="fresh",
        description="`fresh`: each level is a trial of its own. `raise`: the load of one running "
        "trial is raised level by level until one fails; fresh trials go on from there.",
    )


class LevelRange(Spec):
    """Levels in equal steps."""

    model_config = ConfigDict(serialize_by_alias=True)

    first: float = Field(alias="from", gt=0)
    to: float = Field(gt=0)
    step: float = Field(default=1, gt=0)


class ScaleDesign(Spec):
    """The same work at 1 to N of something, with the law of its scalability."""

    kind: Literal["scale"] = "scale"
    over: str = Field(
        description="`users`, `clients`, `processors` (those that the server may run on), or any "
        "factor whose levels are numbers."
    )
    levels: Annotated[list[float], Field(min_length=2)] | LevelRange = Field(
        description="A list, or `{from: 1, to: 8}` with a `step` that is 1 by default."
    )


Design = Annotated[
    RunDesign
    | CompareDesign
    | LadderDesign
    | SweepDesign
    | CrashDesign
    | SearchDesign
    | ScaleDesign,
    Field(discriminator="kind"),
]


class Price(Spec):
    """What the system under test costs, for figures per price."""

    amount: float | None = Field(default=None, gt=0, description="In one; or `items`.")
    items: dict[str, Annotated[float, Field(gt=0)]] | None = Field(
        default=None,
        min_length=1,
        description="A price list: what is paid for, and how much; the price is their sum.",
    )
    currency: str = "USD"
    covers: str = Field(default="", description="What it covers: hardware, licences, years.")

    @property
    def total(self) -> float:
        """The amount, or the sum of the items."""
        return fsum((self.items or {}).values()) if self.amount is None else self.amount

    @model_validator(mode="after")
    def _one_form(self) -> Price:
        if self.amount is None and self.items is None:
            raise ValueError("a price needs an amount, or items with an amount each")
        if self.amount is not None and self.items is not None:
            raise ValueError("the amount is the sum of the items: write one of the two")
        return self


class Experiment(Spec):
    """One experiment file."""

    version: Literal[1] = EXPERIMENT_VERSION
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)
    title: str = ""
    workload: WorkloadSpec
    target: TargetSpec
    profile: ProfileSpec = ProfileSpec()
    host: dict[str, Level] = Field(
        default_factory=dict,
        description="Settings of this machine that all trials share: `vm.dirty_ratio: 10`.",
    )
    design: Design = RunDesign()
    repeats: int = Field(default=1, ge=1, le=1000, description="Trials of each configuration.")
    cache: Literal["warm", "cold"] = Field(
        default="warm", description="State of the caches at the start of each trial."
    )
    reload: bool = Field(
        default=False,
        description="Load the data anew in each trial, under its settings, so that load time is "
        "measured too; otherwise it is loaded once and restored.",
    )
    durability: Failure | None = Field(
        default=None,
        description="After its trials each configuration is crashed under load, and every commit "
        "that was acknowledged is looked for: `kill` or `power-loss`.",
    )
    crashes: int = Field(
        default=5, ge=1, le=1000, description="Crashes of each configuration, with `durability`."
    )
    outage: OutageSpec | None = Field(
        default=None,
        description="In each trial the server is out of service for a while, and the load goes on.",
    )
    metric: str | None = Field(
        default=None, description="What the verdicts are about; default: the workload's headline."
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    disturbance: float = Field(
        default=20.0,
        gt=0,
        description="Percent by which the machine's own speed may move before a trial is marked "
        "disturbed and repeated.",
    )
    extra_trials: int | None = Field(
        default=None,
        ge=0,
        description="How many disturbed trials may be made again in all; default: a fifth of the "
        "planned trials, at least 2.",
    )
    price: Price | None = None
    seed: int = Field(default=42, ge=0, lt=2**63)
