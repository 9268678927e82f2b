"""The experiment: what is run, on what, under which load, and what is varied."""

from __future__ import annotations

from math import fsum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from loadstone.spec.base import Level, Spec
from loadstone.spec.design import Design, Failure, RunDesign
from loadstone.spec.meters import MACHINE_ROOT, Meters
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.units import Duration, Percent

EXPERIMENT_VERSION: Literal[1] = 1
MOST_MARGIN_PERCENT = 100.0
HOURS_OF_A_YEAR = 8760.0
MOST_HOURS_OF_A_YEAR = 8784.0
"""Of a leap year."""


class WorkloadSpec(Spec):
    """Which workload, with which parameters."""

    name: str = Field(description="Name of a workload: `loadstone list workloads`.")
    parameters: dict[str, Level | dict[str, Any] | list[Any]] = Field(
        default_factory=dict,
        description="Its parameters; the rest have defaults. What stands within one, the workload "
        "judges itself.",
    )


OutageKind = Literal["pause", "stop", "kill", "full-disk"]
"""`pause`: the server's processes stand still. `stop`: it is stopped cleanly, and started again.
`kill`: its processes end at once, and it is started again. `full-disk`: nothing more fits on the
placement of its data."""


class OutageSpec(Spec):
    """A server that is out of service for a while, in the midst of the measured phase."""

    model_config = ConfigDict(serialize_by_alias=True)

    kind: OutageKind = Field(
        description="`pause`: the server's processes stand still (SIGSTOP). `stop`: it is stopped "
        "cleanly, and started again. `kill`: its processes are killed, and it is started again. "
        "`full-disk`: the placement of its data is filled, and freed again."
    )
    part: str = Field(
        default="",
        description="Of a system of several parts, the one that is out of service: `database`; "
        "`nodes.2` is the second of the part `nodes`. Default: all of them.",
    )
    after: Duration = Field(default=10.0, description="Measured load before it begins.")
    lasts: Duration = Field(default=5.0, alias="for", gt=0, description="How long it lasts.")


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


class EnergyPrice(Spec):
    """What energy costs where the system stands, for the cost of a year."""

    per_kwh: float = Field(gt=0, description="Of a kWh.")
    currency: str = "USD"
    hours: float = Field(
        default=HOURS_OF_A_YEAR,
        gt=0,
        le=MOST_HOURS_OF_A_YEAR,
        description="How many a year the system runs at the measured mean power.",
    )


class SystemSpec(Spec):
    """What the system under test draws and takes up, as its owner states it."""

    watts: float | None = Field(
        default=None,
        gt=0,
        description="Average power of the whole system under the measured load: stated, not "
        "measured; where the experiment's meter has a figure, that counts. Of a scale, that at "
        "its largest N.",
    )
    rack_units: float | None = Field(
        default=None,
        gt=0,
        description="Height of the whole system in a rack. Of a scale, that at its largest N.",
    )
    covers: str = Field(default="", description="What is in it: servers, disks, switches.")
    energy_price: EnergyPrice | None = Field(
        default=None,
        description="For the energy cost of a year: `{per_kwh: 0.30, currency: EUR}`.",
    )

    @model_validator(mode="after")
    def _something(self) -> SystemSpec:
        if self.watts is None and self.rack_units is None and self.energy_price is None:
            raise ValueError(
                "a system has watts, rack_units or energy_price: write one, or leave it out"
            )
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
    baseline: dict[str, Level] | None = Field(
        default=None,
        description="Each placement of `storage.data` is measured itself, in a trial before those "
        "of the database on it: parameters of the workload `storage`, as `{profile: database, "
        "passes: 1, pass_length: 2s}`; the profile is `database` by default.",
    )
    outage: OutageSpec | None = Field(
        default=None,
        description="In each trial the server is out of service for a while, and the load goes on.",
    )
    metric: str | Annotated[list[str], Field(min_length=1)] | None = Field(
        default=None,
        description="What the verdicts are about, or a list, the headline first; default: the "
        "workload's headline, and the response time of an open load.",
    )
    margin: Percent | None = Field(
        default=None,
        gt=0,
        le=MOST_MARGIN_PERCENT,
        description="The largest change that does not matter, as `3%`: verdicts say where no "
        "change is larger.",
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    detect: Percent | None = Field(
        default=None,
        gt=0,
        le=1000,
        description="The change that is to be found in 80 of 100 such experiments: `5%`. "
        "`loadstone plan` says how many repeats of which length find it at the least cost.",
    )
    disturbance: float | None = Field(
        default=None,
        gt=0,
        description="Percent of the measured time of a trial that others may take beyond what is "
        "usual before it is marked disturbed, left out and made again; default: for each cause the "
        "share from which trials are known to scatter more.",
    )
    extra_trials: int | None = Field(
        default=None,
        ge=0,
        description="How many disturbed trials may be made again in all; default: a fifth of the "
        "planned trials, at least 2.",
    )
    price: Price | None = None
    system: SystemSpec | None = Field(
        default=None,
        description="Power and height of the system under test, for users per watt and per rack "
        "unit: `{watts: 3283, rack_units: 10}`.",
    )
    meters: Meters = Field(
        default=[],
        description="Power meters that are read while load runs: `[{kind: powercap}]`; `loadstone "
        "list meters` says which this machine has. With one there are temperatures, too.",
    )
    meters_root: str = Field(
        default=MACHINE_ROOT,
        min_length=1,
        description="Root of the tree in which meters and temperatures are looked for: one that "
        "imitates a machine. Every figure from another root than `/` is marked simulated.",
    )
    seed: int = Field(default=42, ge=0, lt=2**63)

    @model_validator(mode="before")
    @classmethod
    def _last_look_ends_it(cls, data: Any) -> Any:
        """Where a design has looks, the last of them says how many repeats there are at most."""
        design = data.get("design") if isinstance(data, dict) else None
        looks = design.get("looks") if isinstance(design, dict) else None
        if isinstance(looks, list) and looks and "repeats" not in data:
            return {**data, "repeats": looks[-1]}
        return data

    @model_validator(mode="before")
    @classmethod
    def _levels_of_graduate(cls, data: Any) -> Any:
        """The design `graduate` has a graduated load: an open one, unless users think."""
        design = data.get("design") if isinstance(data, dict) else None
        profile = data.get("profile", {}) if isinstance(data, dict) else None
        if not (isinstance(design, dict) and design.get("kind") == "graduate"):
            return data
        if not isinstance(profile, dict):
            return data
        usual: dict[str, Any] = {"graduated": {}}
        if profile.get("think_time", "none") == "none":
            usual["load"] = "open"
        return {**data, "profile": {**usual, **profile}}

    @property
    def named_metrics(self) -> list[str]:
        """The metrics that are named, the headline first; none: the default holds."""
        if self.metric is None:
            return []
        return [self.metric] if isinstance(self.metric, str) else self.metric

    @field_validator("metric")
    @classmethod
    def _each_once(cls, value: str | list[str] | None) -> str | list[str] | None:
        names = value if isinstance(value, list) else []
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{twice[0]!r} is named twice: name each metric once")
        return value
