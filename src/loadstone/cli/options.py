"""The options that several verbs share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from loadstone.errors import WrongInputError

LOAD = Group.create_ordered("Load")
TARGET = Group.create_ordered("Target")
EXPERIMENT = Group.create_ordered("Experiment")
EXECUTION = Group.create_ordered("Execution")

Flag = Parameter(negative=(), show_default=False)
Words = Parameter(negative=(), show_default=False)


def _whole(_type: Any, tokens: Sequence[Token]) -> int:
    """Reads a whole number; the library would round 3.5."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value!r} is not a whole number") from None


Whole = Parameter(converter=_whole)
"""Of every option that takes a whole number."""


Looks = Annotated[str | None, Parameter(group=EXPERIMENT, metavar="N,N[,...]")]
"""Of the option that says after which blocks an experiment may stop."""


def _no_reference(_type: Any, value: Any) -> None:
    """Refuses `file:` and addresses, which belong elsewhere, as the name of a folder."""
    if isinstance(value, Path) and re.match(r"[a-z]+:(/|~|$)", str(value)):
        raise ValueError("write the folder itself, without what stands before the colon")


Folder = Parameter(validator=_no_reference)
"""Of an option that takes a folder to write to."""

DEFAULT_RESULTS = Path("results")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShortForm:
    """An experiment said in options. With a file, an option replaces what the file says."""

    users: Annotated[int | None, Parameter(group=LOAD), Whole] = None
    """Closed load: how many users."""
    think_time: Annotated[str | None, Parameter(group=LOAD)] = None
    """`none`, `specified` by the workload's origin, or the mean of a random one, as `2s`."""
    rate: Annotated[float | None, Parameter(group=LOAD)] = None
    """Open load: operations that become due each second."""
    arrival: Annotated[Literal["uniform", "poisson"] | None, Parameter(group=LOAD)] = None
    """Open load: how arrivals are spaced."""
    sessions: Annotated[int | None, Parameter(group=LOAD), Whole] = None
    """Open load: connections that serve the arrivals."""
    warm_up: Annotated[str | None, Parameter(group=LOAD)] = None
    """Load before the measurement: `10s`."""
    ramp: Annotated[str | None, Parameter(group=LOAD)] = None
    """Users or rate rise from one to full: `30s`."""
    measure: Annotated[str | None, Parameter(group=LOAD)] = None
    """The measured phase: `60s`."""
    threads: Annotated[int | None, Parameter(group=LOAD), Whole] = None
    """Worker threads of the driver."""
    scale: Annotated[float | None, Parameter(group=LOAD)] = None
    """Size of the data of a workload that has a scale factor, as `10`."""
    profile: Annotated[str | None, Parameter(group=LOAD)] = None
    """The tests of storage, as `cdm8`: `loadstone list storage` has them."""
    param: Annotated[tuple[str, ...], Parameter(group=LOAD, metavar="NAME=VALUE"), Words] = ()
    """A parameter of the workload, as `warehouses=10`; may be repeated."""

    target: Annotated[str | None, Parameter(group=TARGET)] = None
    """Engine of the system under test; default: what is usual for the workload."""
    server: Annotated[str | None, Parameter(group=TARGET)] = None
    """`embedded` (default), `local` (default of mariadb), `local:15`, or an address as
    `postgresql://user@host/db`."""
    password: Annotated[str | None, Parameter(group=TARGET)] = None
    """Where the password of an address is: `env:NAME` or `file:PATH`."""
    data: Annotated[str | None, Parameter(group=TARGET)] = None
    """Folder for the data of a server that Loadstone starts."""
    on: Annotated[str | None, Parameter(group=TARGET, metavar="PLACE")] = None
    """Storage itself, or a web application, is the system under test: a folder, a device as
    `/dev/sdb`, or an address as `nbd://host/export`, `nfs://host/export`, `iscsi://host/name/1`,
    `https://app.example`."""
    part: Annotated[tuple[str, ...], Parameter(group=TARGET, metavar="PART=ENGINE"), Words] = ()
    """What a part of a system is: `database=mariadb`, or an address; may be repeated."""
    set: Annotated[tuple[str, ...], Parameter(group=TARGET, metavar="NAME=LEVEL"), Words] = ()
    """A setting of the server for all trials, as `shared_buffers=1GB`, or of a part of the system,
    as `database.work_mem=8MB`; may be repeated."""
    host: Annotated[tuple[str, ...], Parameter(group=TARGET, metavar="NAME=LEVEL"), Words] = ()
    """A setting of this machine for all trials, as `vm.swappiness=10`; may be repeated."""
    meter: Annotated[
        tuple[str, ...], Parameter(group=TARGET, metavar="KIND[,NAME=VALUE...]"), Words
    ] = ()
    """A power meter that is read under load, as `powercap` or `network,address=meter:8888`; may be
    repeated: `loadstone list meters`. With a file, they replace the meters that it names."""
    meters_root: Annotated[str | None, Parameter(group=TARGET)] = None
    """Root of a tree that imitates a machine for its meters: every figure is marked simulated."""

    name: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """Name of the experiment and of its folder of results."""
    repeats: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """Trials of each configuration; five can show a difference, three cannot."""
    baseline: Annotated[
        str | None, Parameter(group=EXPERIMENT, metavar="PROFILE[,NAME=VALUE...]")
    ] = None
    """Each placement of `storage.data` is measured itself, before the database on it, with these
    tests of storage: `database,passes=1,pass_length=2s`."""
    durability: Annotated[Literal["kill", "power-loss"] | None, Parameter(group=EXPERIMENT)] = None
    """After its trials each configuration is crashed so; acknowledged commits are looked for."""
    crashes: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """Crashes of each configuration."""
    outage: Annotated[
        str | None, Parameter(group=EXPERIMENT, metavar="KIND[:PART][,after=TIME][,for=TIME]")
    ] = None
    """The server, or a part of the system, is out of service for a while under load: `kill`,
    `stop:nodes.2,after=30s,for=10s`."""
    cache: Annotated[Literal["warm", "cold"] | None, Parameter(group=EXPERIMENT)] = None
    """State of the caches at the start of each trial."""
    metric: Annotated[tuple[str, ...], Parameter(group=EXPERIMENT, metavar="NAME"), Words] = ()
    """What the verdicts are about; default: the workload's headline, or response time under an
    open load. May be repeated: the first is the headline."""
    margin: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """The largest change that does not matter, as `3%`: verdicts say where none is larger."""
    confidence: Annotated[float | None, Parameter(group=EXPERIMENT)] = None
    """Of intervals and verdicts, as `0.95`."""
    seed: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """Of the data, the load and the order of trials."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SearchForm:
    """A search said in options. With a file, an option replaces what the file says."""

    over: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """What is raised: `rate` or `users`; default: what fits the load and the workload."""
    first: Annotated[float | None, Parameter(name="--from", group=EXPERIMENT)] = None
    """The first level; default: `--rate`, `--users`, or the workload's."""
    at_most: Annotated[float | None, Parameter(group=EXPERIMENT)] = None
    """No level above it is tried."""
    objective: Annotated[tuple[str, ...], Parameter(group=EXPERIMENT, metavar="TERM"), Words] = ()
    """What must hold in every window, as `p99 < 50 ms` or `loss = 0`; may be repeated."""
    method: Annotated[Literal["steps", "bisection"] | None, Parameter(group=EXPERIMENT)] = None
    """After doubling: coarse and fine steps, or halving the bracket."""
    coarse: Annotated[float | None, Parameter(group=EXPERIMENT)] = None
    """Coarse step."""
    fine: Annotated[float | None, Parameter(group=EXPERIMENT)] = None
    """Fine step."""
    precision: Annotated[float | None, Parameter(group=EXPERIMENT)] = None
    """Bisection: percent within which the level is to be found; 2 by default."""
    window: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """The objective is judged over each, as `10s`."""
    failures: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """So many trials of a level must fail before it counts as failed: 1 or 2."""
    longest: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """Samples lengthen from `--measure` to this while the bracket narrows."""
    soak: Annotated[str | None, Parameter(group=EXPERIMENT)] = None
    """How long the level that was found must hold, as `1h`; default: what the workload says."""
    confirm: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """Fresh trials of each of 95, 100 and 105 % of the level."""
    approach: Annotated[Literal["fresh", "raise"] | None, Parameter(group=EXPERIMENT)] = None
    """Each level a fresh trial, or first one trial whose load is raised until a level fails."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GraduatedForm:
    """The levels of a graduated load said in options. With a file, an option replaces it."""

    form: Annotated[Literal["short", "full"] | None, Parameter(group=EXPERIMENT)] = None
    """Lengths of the levels: in all 4 minutes (the default), or 72."""
    levels: Annotated[str | None, Parameter(group=EXPERIMENT, metavar="A,B[,...]")] = None
    """Percent of the calibrated rate, or of the users; 0 is active idle: `100,50,0`."""
    order: Annotated[Literal["down", "up", "random"] | None, Parameter(group=EXPERIMENT)] = None
    """In which the levels run; `down` by default."""
    calibrations: Annotated[int | None, Parameter(group=EXPERIMENT), Whole] = None
    """Intervals at full speed, at least; 3 by default."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Output:
    """Where results lie, and how the command answers."""

    results: Annotated[Path, Parameter(group=EXECUTION), Folder] = DEFAULT_RESULTS
    """Folder of all results."""
    json: Annotated[bool, Parameter(group=EXECUTION), Flag] = False
    """Print one JSON document on standard output and nothing else there."""

    @property
    def names_results(self) -> bool:
        """Whether the user named the folder: the default is this very object."""
        return self.results is not DEFAULT_RESULTS


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Execution(Output):
    """What a command that runs trials takes beside the experiment."""

    allow_unsafe: Annotated[bool, Parameter(group=EXECUTION), Flag] = False
    """Allow settings that can lose acknowledged commits; every figure carries the word."""
    force: Annotated[bool, Parameter(group=EXECUTION), Flag] = False
    """Use a database that holds other data: it is set aside, and given back at the end."""
    quiet: Annotated[bool, Parameter(group=EXECUTION), Flag] = False
    """Say nothing but errors and the result."""


def given(form: object) -> list[str]:
    """The options of a form that differ from what holds without them."""
    names = [field.name for field in fields(form) if getattr(form, field.name) != field.default]  # type: ignore[arg-type]
    return [option_of(name) for name in names]


def option_of(field: str) -> str:
    """The option that a field of a form has on the command line."""
    return "--from" if field == "first" else f"--{field.replace('_', '-')}"


def refuse_idle(options: Iterable[str], why: str) -> None:
    """Stops at options that would do nothing.

    Raises:
        WrongInputError: If there is one.
    """
    if idle := list(options):
        raise WrongInputError(f"{', '.join(idle)} would have no effect: {why}")
