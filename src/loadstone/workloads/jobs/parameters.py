"""The parameters of the workload `jobs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from loadstone.applications.base import AnyApplication
from loadstone.applications.registry import APPLICATIONS, application_class, application_of
from loadstone.errors import WrongInputError
from loadstone.spec.base import Spec
from loadstone.units import Duration
from loadstone.workloads.jobs.by_application import (
    MOST_NODES,
    MOST_RANKS,
    Nodes,
    Ranks,
    check_counts,
    check_words,
    of_application,
)
from loadstone.workloads.jobs.layout import PLACEMENTS
from loadstone.workloads.mix import Mix, check_mix

MOST_JOBS = 256
MOST_UNDER_WAY = 64
"""Of an open load that does not say how many: the others wait with the lab."""
SHORTCUTS = ("command", "deck", "segy", "velocities")
"""Parameters that stand for the one of the same name of the application that has it."""


class JobsParameters(Spec):
    """Parameters of `jobs`."""

    application: str = Field(
        default="pstm",
        description="What all jobs run: `flow`, `pstm`, `pattern` or `command`. With a mix: left "
        "out.",
    )
    jobs: int = Field(
        default=2,
        ge=1,
        le=MOST_JOBS,
        description="Jobs that run at once. Of an open load: the most that are submitted and not "
        "over, those that the scheduler keeps waiting too; 64 if it is not said.",
    )
    mix: Mix = Field(
        default_factory=dict,
        description="Jobs of several applications at once, in the place of application and jobs: "
        "`flow=2,pstm=1`.",
    )
    ranks: Ranks = Field(default=1, description="Of each job; or by application: `flow:8,pstm:16`.")
    nodes: Nodes = Field(
        default=0,
        description="Nodes of each job, or by application. 0: as few as hold its ranks if it is "
        "compact, all of the cluster if it is distributed.",
    )
    placement: str = Field(
        default="compact",
        description="`compact` (a job's ranks on as few nodes as hold them) or `distributed` (over "
        "all nodes); or by application: `flow:distributed,pstm:compact`.",
    )
    inputs: Literal["separate", "shared"] = Field(
        default="separate",
        description="`separate`: each job has a copy of the input files in its working folder, "
        "made before it runs. `shared`: all jobs read the same files.",
    )
    replace: bool = Field(
        default=False,
        description="A job that ends while others run is replaced by another of its application, "
        "so that the load stays until the last of the first jobs has ended.",
    )
    gate_timeout: Duration = Field(
        default=120.0,
        gt=0,
        description="So long the jobs wait for each other before they run.",
    )
    time_limit: Duration = Field(
        default=3600.0, ge=1, description="A job that runs longer is ended by the scheduler."
    )
    memory: int | None = Field(
        default=None,
        ge=1,
        le=100_000_000,
        description="MiB for each rank, asked of the scheduler. Where it counts memory, a job that "
        "names none may get all of a node.",
    )
    sample: Duration = Field(
        default=1.0, ge=0.05, le=3600, description="The file I/O of ranks is looked at so often."
    )
    poll: Duration = Field(
        default=0.5, ge=0.05, le=600, description="The scheduler is asked for its jobs so often."
    )
    command: str | None = Field(
        default=None, description="With application: command. What each rank runs."
    )
    deck: str | None = Field(
        default=None, description="With flow: an ECLIPSE deck (*.DATA) in place of a generated one."
    )
    segy: str | None = Field(
        default=None, description="With pstm: seismic traces (SEG-Y) in place of generated ones."
    )
    velocities: str | None = Field(
        default=None, description="With pstm: the velocities that go with a SEG-Y file."
    )
    applications: dict[str, Any] = Field(
        default_factory=dict,
        description="Parameters of each application by its name: `flow: {size: 20x20x5}`, or "
        "`flow.size: 20x20x5`; docs/applications.md has them all.",
    )

    @field_validator("ranks")
    @classmethod
    def _ranks(cls, given: int | str) -> int | str:
        check_counts(given, tuple(APPLICATIONS), 1, MOST_RANKS)
        return given

    @field_validator("nodes")
    @classmethod
    def _nodes(cls, given: int | str) -> int | str:
        check_counts(given, tuple(APPLICATIONS), 0, MOST_NODES)
        return given

    @field_validator("placement")
    @classmethod
    def _placements(cls, given: str) -> str:
        """Of any application: a design may vary which there are."""
        check_words(given, tuple(APPLICATIONS), PLACEMENTS)
        return given

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, given: object) -> object:
        """`true` and `false` are commands, too."""
        return str(given).lower() if isinstance(given, bool) else given

    @field_validator("applications", mode="after")
    @classmethod
    def _nested(cls, given: dict[str, Any]) -> dict[str, Any]:
        """`flow.size: 5` is `flow: {size: 5}`, as a factor and an option write it."""
        found: dict[str, Any] = {}
        for name, value in given.items():
            first, _, inner = name.partition(".")
            if first not in APPLICATIONS:
                raise ValueError(f"there is no application {first!r}: {', '.join(APPLICATIONS)}")
            if not inner and not isinstance(value, Mapping):
                raise ValueError(f"{first} is {value!r}: write its parameters by name")
            found.setdefault(first, {}).update({inner: value} if inner else value)
        return found

    @model_validator(mode="after")
    def _known(self) -> JobsParameters:
        try:
            application_class(self.application)
        except WrongInputError as error:
            raise ValueError(error.message) from error
        if self.mix:
            check_mix(self.mix, tuple(APPLICATIONS), "application")
            if sum(self.mix.values()) > MOST_JOBS:
                raise ValueError(f"the mix has {sum(self.mix.values())} jobs: {MOST_JOBS} at most")
        return self

    @model_validator(mode="after")
    def _of_applications(self) -> JobsParameters:
        """The parameters of each application, and shortcuts that none of them has."""
        try:
            found = [self.made(name) for name in self.counts]
        except WrongInputError as error:
            raise ValueError(error.message) from error
        for name in SHORTCUTS:
            known = any(name in type(each.parameters).model_fields for each in found)
            if getattr(self, name) is not None and not known:
                raise ValueError(f"{name} is a parameter of none of {', '.join(self.counts)}")
        return self

    @property
    def counts(self) -> Mapping[str, int]:
        """Application: how many jobs of it run at once."""
        mixed = {name: count for name, count in self.mix.items() if count}
        return mixed or {self.application: self.jobs}

    @property
    def at_once(self) -> int:
        """Jobs that run at once."""
        return sum(self.counts.values())

    @property
    def under_way(self) -> int:
        """The most jobs of an open load that are submitted and not over, those that wait too."""
        is_said = "jobs" in self.model_fields_set and not self.mix
        return self.at_once if is_said else MOST_UNDER_WAY

    def ranks_of(self, application: str) -> int:
        """Ranks of a job of an application."""
        return int(of_application(self.ranks, application, "1"))

    def nodes_of(self, application: str) -> int:
        """Nodes of a job of an application; 0: as its placement says."""
        return int(of_application(self.nodes, application, "0"))

    def placement_of(self, application: str) -> str:
        """`compact` or `distributed`."""
        return of_application(self.placement, application, "compact")

    def made(self, application: str) -> AnyApplication:
        """The application with its parameters.

        Raises:
            WrongInputError: If one is wrong.
        """
        known = application_class(application).Parameters.model_fields
        short = {
            name: value
            for name in SHORTCUTS
            if name in known and (value := getattr(self, name)) is not None
        }
        return application_of(application, {**self.applications.get(application, {}), **short})
