"""How the trials of an experiment are arranged, as its file states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from loadstone.limits import MOST_RATE_PER_S
from loadstone.spec.base import Level, Spec
from loadstone.units import Duration


class RunDesign(Spec):
    """One configuration, repeated."""

    kind: Literal["run"] = "run"
    first_block: int = Field(
        default=1,
        ge=1,
        description="Number of the first block, which decides the load that is drawn: "
        "`first_block: 3` repeats the load of block 3 of another experiment of this seed.",
    )


class GraduateDesign(Spec):
    """One configuration, repeated, under the graduated load of the profile."""

    kind: Literal["graduate"] = "graduate"


MOST_LOOKED_BLOCKS = 200
"""Of an experiment that looks at its verdicts on the way."""

Looks = Annotated[list[Annotated[int, Field(ge=1, le=MOST_LOOKED_BLOCKS)]], Field(min_length=2)]
"""Blocks after which an experiment may stop, ascending; the last is the maximum."""

_LOOKS = (
    "Blocks after which the verdicts are looked at, as `[4, 6, 8, 12]`: it stops as soon as every "
    "one is decided. The last is the most `repeats`."
)


class CompareDesign(Spec):
    """Two or more levels of one factor, interleaved in randomised blocks."""

    kind: Literal["compare"] = "compare"
    factor: str = Field(description="For example `target.shared_buffers` or `workload.style`.")
    levels: list[Level] = Field(min_length=2, description="The first is the baseline.")
    looks: Looks | None = Field(default=None, description=_LOOKS)


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
    looks: Looks | None = Field(default=None, description=_LOOKS)


class SweepDesign(Spec):
    """A matrix of factors and levels."""

    kind: Literal["sweep"] = "sweep"
    matrix: Literal["full", "one-at-a-time"] = "full"
    factors: dict[str, Annotated[list[Level], Field(min_length=1)]] = Field(min_length=1)
    relative_to: dict[str, Annotated[dict[str, Level], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="Figure: the cell that it is held against, which is in every block like the "
        "others: `{throughput_per_job: {workload.jobs: 1, workload.placement: compact}}`. A factor "
        "that is left out has the level of the cell that is compared. A figure is a metric, or of "
        "jobs the name of an application. Default: the first cell.",
    )


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


def _form_of(levels: object) -> str:
    return "a range" if isinstance(levels, Mapping | LevelRange) else "a list"


class ScaleDesign(Spec):
    """The same work at 1 to N of something, with the law of its scalability."""

    kind: Literal["scale"] = "scale"
    over: str = Field(
        description="`users`, `clients`, `processors` (those that the server may run on), or any "
        "factor whose levels are numbers."
    )
    levels: Annotated[
        Annotated[Annotated[list[float], Field(min_length=2)], Tag("a list")]
        | Annotated[LevelRange, Tag("a range")],
        Discriminator(_form_of),
    ] = Field(description="A list, or `{from: 1, to: 8}` with a `step` that is 1 by default.")
    users_each: float | None = Field(
        default=None,
        gt=0,
        description="Closed users for each one of N, so that load grows with the system: with 40, "
        "two nodes have 80. Default: the users of the profile at every N.",
    )


Design = Annotated[
    RunDesign
    | GraduateDesign
    | CompareDesign
    | LadderDesign
    | SweepDesign
    | CrashDesign
    | SearchDesign
    | ScaleDesign,
    Field(discriminator="kind"),
]


def looks_in(design: Design) -> tuple[int, ...]:
    """The looks of a design; none where the number of repeats is fixed."""
    return tuple(getattr(design, "looks", None) or ())
