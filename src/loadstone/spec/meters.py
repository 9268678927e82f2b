"""Power meters, as an experiment file names them: `meters:`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator, model_validator

from loadstone.spec.base import Level, Spec
from loadstone.spec.target import Password
from loadstone.units import Duration, Percent

Scope = Literal["wall", "platform", "package", "dram", "gpu", "board"]
"""What a figure of power is of. Figures of different scopes are never added or compared.

`wall`: the whole system at its plug. `platform`: the whole system, by its own counter (psys).
`package`: processors. `dram`: memory. `gpu`: graphics boards. `board`: another sensor of the board.
"""
MACHINE_ROOT = "/"
"""Root of the tree of this machine."""
MOST_METERS = 64
ChannelName = Annotated[str, Field(min_length=1, max_length=200)]


class MeterBase(Spec):
    """What the words on every kind of meter have in common."""

    kind: str = Field(description="Kind of meter: `loadstone list meters`.")
    name: str = Field(
        default_factory=lambda known: known.get("kind", ""),
        pattern=r"^[a-z0-9][a-z0-9._-]*$",
        max_length=60,
        description="What the results call it; default: its kind.",
    )
    main: bool = Field(
        default=False,
        description="This one is the experiment's meter: figures per watt are by it. Default: wall "
        "before platform before package with DRAM.",
    )
    accuracy: Annotated[Percent, Field(gt=0, le=100)] | None = Field(
        default=None, description="Accuracy that its maker states."
    )
    every: Duration = Field(
        default=1.0, ge=0.01, le=600, description="Time from one reading to the next."
    )
    channels: list[ChannelName] = Field(
        default=[], description="Only these of its zones, sensors or channels; default: all."
    )
    sum: list[ChannelName] = Field(
        default=[],
        description="Channels that are parts of one thing and are added: sockets, power supplies.",
    )

    @property
    def title(self) -> str:
        """Its name for people: with the kind, where that is another word."""
        return self.name if self.name == self.kind else f"{self.name} ({self.kind})"

    @field_validator("sum")
    @classmethod
    def _parts(cls, value: list[str]) -> list[str]:
        if len(value) == 1:
            raise ValueError("a sum has two channels or more: name them, or leave it out")
        return _each_once(value)

    @field_validator("channels")
    @classmethod
    def _channels(cls, value: list[str]) -> list[str]:
        return _each_once(value)

    @model_validator(mode="after")
    def _sum_of_read(self) -> MeterBase:
        unread = [name for name in self.sum if self.channels and name not in self.channels]
        if unread:
            raise ValueError(f"sum names {unread[0]!r}, which is not among channels: name it there")
        return self


class PowercapSpec(MeterBase):
    """Energy counters of the processor (RAPL), by the kernel's powercap."""

    kind: Literal["powercap"] = "powercap"


class HwmonSpec(MeterBase):
    """Power sensors of the board and its power supplies, by the kernel's hwmon."""

    kind: Literal["hwmon"] = "hwmon"
    scope: Scope = Field(
        default="board", description="What its sensors are of; nothing on the machine says it."
    )


class IpmiSpec(MeterBase):
    """The power of a server, as its management controller says it (`ipmitool dcmi`)."""

    kind: Literal["ipmi"] = "ipmi"
    address: str | None = Field(
        default=None, description="Host of the controller; default: that of this machine."
    )
    user: str | None = None
    password: Password = None


class RedfishSpec(MeterBase):
    """The power of a server, as its management controller says it over HTTPS."""

    kind: Literal["redfish"] = "redfish"
    address: str = Field(pattern=r"^https?://[^@\s]+$", description="`https://controller.example`.")
    user: str | None = None
    password: Password = None
    ca: str | None = Field(
        default=None, description="File of the certificates (PEM) by which it is trusted."
    )
    fingerprint: str | None = Field(
        default=None,
        pattern=r"^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$",
        description="SHA-256 of its certificate, instead of `ca`.",
    )
    chassis: str | None = Field(
        default=None, description="Path of its power: `/redfish/v1/Chassis/1/Power`."
    )


class NvmlSpec(MeterBase):
    """Graphics boards of NVIDIA."""

    kind: Literal["nvml"] = "nvml"


class PerfSpec(MeterBase):
    """Energy events of the processor, by the program `perf`."""

    kind: Literal["perf"] = "perf"


class NetworkMeterSpec(MeterBase):
    """A meter at the plug behind a daemon that speaks the lines of SPEC's kind over TCP."""

    kind: Literal["network"] = "network"
    scope: Scope = "wall"
    address: str = Field(
        pattern=r"^[^\s@/]+$", description="`host` or `host:port`; the port is 8888 by default."
    )
    amps: float | None = Field(
        default=None,
        gt=0,
        description="Range of the current that is set for the experiment, and put back after it.",
    )
    volts: float | None = Field(
        default=None, gt=0, description="Range of the voltage, likewise put back."
    )


class CommandSpec(MeterBase):
    """A program of your own that prints a number."""

    kind: Literal["command"] = "command"
    scope: Scope
    command: list[str] = Field(min_length=1, description="The program and its words.")
    unit: Literal["W", "J"] = Field(
        default="W", description="`J`: what it prints is energy that counts up."
    )


class FileSpec(MeterBase):
    """A file that holds a number."""

    kind: Literal["file"] = "file"
    scope: Scope
    path: str = Field(min_length=1, description="The file; it is read again each time.")
    unit: Literal["W", "J"] = Field(
        default="W", description="`J`: the number is energy that counts up."
    )


class EstimateSpec(MeterBase):
    """No meter: watts by a straight line between those at idle and those at full load.

    The share of the processors' time that is busy says where on the line. Every figure of it is
    marked "estimated".
    """

    kind: Literal["estimate"] = "estimate"
    scope: Scope = "wall"
    idle_watts: float = Field(ge=0, description="At idle.")
    full_watts: float = Field(gt=0, description="With all processors busy.")

    @model_validator(mode="after")
    def _rising(self) -> EstimateSpec:
        if self.full_watts <= self.idle_watts:
            raise ValueError("full_watts is more than idle_watts: write the watts at full load")
        return self


class OutsideMeterSpec(MeterBase):
    """A meter of a kind that another package brings (entry points `loadstone.meters`)."""

    scope: Scope | None = Field(default=None, description="If the meter cannot know it.")
    parameters: dict[str, Level] = Field(
        default_factory=dict, description="What the kind wants to be told; see its package."
    )


def _kind_of(value: object) -> str:
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return kind if isinstance(kind, str) and kind in OWN_KINDS else "outside"


OWN_KINDS = (
    *("powercap", "hwmon", "ipmi", "redfish", "nvml", "perf"),
    *("network", "command", "file", "estimate"),
)
"""Kinds that Loadstone brings; any other name is looked up among those of other packages."""

MeterSpec = Annotated[
    Annotated[PowercapSpec, Tag("powercap")]
    | Annotated[HwmonSpec, Tag("hwmon")]
    | Annotated[IpmiSpec, Tag("ipmi")]
    | Annotated[RedfishSpec, Tag("redfish")]
    | Annotated[NvmlSpec, Tag("nvml")]
    | Annotated[PerfSpec, Tag("perf")]
    | Annotated[NetworkMeterSpec, Tag("network")]
    | Annotated[CommandSpec, Tag("command")]
    | Annotated[FileSpec, Tag("file")]
    | Annotated[EstimateSpec, Tag("estimate")]
    | Annotated[OutsideMeterSpec, Tag("outside")],
    Discriminator(_kind_of),
]


def _told_apart(meters: list[Any]) -> list[Any]:
    twice = [name for name, count in Counter(each.name for each in meters).items() if count > 1]
    if twice:
        raise ValueError(f"two meters are called {twice[0]!r}: give one of them another name")
    if sum(each.main for each in meters) > 1:
        raise ValueError("two meters say main: one of them is the experiment's")
    return meters


Meters = Annotated[list[MeterSpec], Field(max_length=MOST_METERS), AfterValidator(_told_apart)]
"""The meters of an experiment: each has a name of its own, and at most one says `main`."""


def _each_once(names: list[str]) -> list[str]:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} stands there twice: a channel counts once")
    return names
