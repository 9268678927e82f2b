"""The plan, as far as the runner can do it; whatever else one asks for is refused."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from loadstone.limits import (
    LONGEST_DELAY_S,
    LONGEST_S,
    MOST_QUEUED,
    MOST_RATE_PER_S,
    MOST_SESSIONS_OF_RUNNER,
    SHORTEST_PHASE_S,
)
from loadstone.protocol.entry import PROTOCOL_VERSION

_LONGEST_PAUSE_S = 3600.0
_SHORTEST_PERIOD_S = 1e-3
"""A thread cannot keep a finer grid."""

Wait = Annotated[float, Field(ge=0.0, le=LONGEST_S)]
Pause = Annotated[float, Field(ge=0.0, le=_LONGEST_PAUSE_S)]
Rate = Annotated[float, Field(ge=0.0, le=MOST_RATE_PER_S)]
Users = Annotated[int, Field(ge=0, le=MOST_SESSIONS_OF_RUNNER)]


_TAGS: dict[int | str, str] = {"connection": "protocol", "load": "model"}
"""Field that is a union: which of its fields tells it apart."""


class RefusalError(Exception):
    """The plan cannot be run; one line names the field."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"plan refused: {field}: {problem}")
        self.field = field


class Strict(BaseModel):
    """A part of a plan: no unknown fields, no text for a number, no infinite figures."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Retry(Strict):
    """How operations that may succeed when tried again are tried again."""

    max_attempts: int = Field(default=50, ge=1, le=1_000_000)
    backoff_base_s: Pause = 0.001
    backoff_cap_s: Pause = 0.1


class Think(Strict):
    """A think time."""

    distribution: Literal["none", "constant", "uniform", "negative-exponential"] = "none"
    mean_s: Wait = 0.0
    cap: float = Field(default=10.0, ge=1.0, le=1000.0)
    """Longest wait, in means."""
    from_s: Wait = 0.0
    """Shortest and longest uniform one."""
    to_s: Wait = 0.0

    @model_validator(mode="after")
    def _range(self) -> Think:
        if self.distribution != "uniform" and (self.from_s or self.to_s):
            raise ValueError("from_s and to_s belong to a uniform think time")
        if self.to_s < self.from_s:
            raise ValueError("a uniform think time needs to_s of at least from_s")
        return self


class Waits(Strict):
    """The waits around one operation, or the period of a grid on which it is due."""

    keying_s: Wait = 0.0
    think: Think = Think()
    every_s: Annotated[float, Field(ge=_SHORTEST_PERIOD_S, le=LONGEST_S)] | None = None

    @model_validator(mode="after")
    def _grid_or_waits(self) -> Waits:
        if self.every_s is not None and (self.keying_s > 0.0 or self.think != Think()):
            raise ValueError("every_s stands beside keying_s or a think time; give one of them")
        return self


class Pacing(Strict):
    """The waits of users, by operation."""

    default: Waits = Waits()
    operations: dict[str, Waits] = {}


class Range(Strict):
    """The two ends of a linear change."""

    start: Users = Field(alias="from")
    end: Users = Field(alias="to")


class Closed(Strict):
    """Each user begins the next operation when the last is done."""

    model: Literal["closed"]
    users: Range


class Rates(Strict):
    """The two ends of a linear change of a rate."""

    start: Rate = Field(alias="from")
    end: Rate = Field(alias="to")


class Open(Strict):
    """Operations become due by a clock; sessions serve them."""

    model: Literal["open"]
    rate_per_s: Rates
    arrival: Literal["uniform", "poisson"] = "poisson"
    sessions: Annotated[int, Field(ge=1, le=MOST_SESSIONS_OF_RUNNER)]
    queue: int = Field(default=10_000, ge=1, le=MOST_QUEUED)
    """Due operations that may wait for a session; beyond it they are dropped."""


class Phase(Strict):
    """A part of the run."""

    name: str = Field(min_length=1)
    kind: Literal["prepare", "warm-up", "ramp", "measure", "drain", "check"]
    duration_s: Annotated[float, Field(ge=SHORTEST_PHASE_S, le=LONGEST_S)] | None = None
    iterations: Annotated[int, Field(ge=1)] | None = None
    backlog: Literal["drain", "discard"] = "drain"
    """Of open phases: users of closed ones leave none."""
    load: Closed | Open = Field(discriminator="model")

    @model_validator(mode="after")
    def _steady(self) -> Phase:
        if isinstance(self.load, Open):
            if self.duration_s is None or self.iterations is not None:
                raise ValueError("an open phase ends by its duration_s")
        elif self.duration_s is None and not self.users.start == self.users.end > 0:
            raise ValueError("a phase without duration_s needs `from` equal to `to` and above 0")
        return self

    @property
    def users(self) -> Range:
        """Users of a closed phase, or the sessions of an open one."""
        if isinstance(self.load, Closed):
            return self.load.users
        return Range.model_validate({"from": self.load.sessions, "to": self.load.sessions})


class Process(Strict):
    """The part of one process: the runner is the only one, as one process holds the file."""

    index: Literal[0] = 0
    of: Literal[1] = 1


class WorkloadPlan(Strict):
    """The workload and its parameters, which only the workload understands."""

    name: str
    role: Literal["run", "load", "log-in"] = "run"
    parameters: dict[str, Any] = {}


class Plan(Strict):
    """One run."""

    version: int
    seed: int = Field(default=0, ge=0, lt=2**64)
    threads: Literal[1] = 1
    tick_s: float = Field(default=1.0, ge=0.01, le=3600.0)
    finish_s: float = Field(default=10.0, ge=0.0, le=10.0)
    workload: WorkloadPlan
    connection: dict[str, Any]
    """As the target says it: the workload reads it."""
    retry: Retry = Retry()
    delay_s: float = Field(default=0.0, ge=0.0, le=LONGEST_DELAY_S)
    """By which each operation takes longer than it would: a planted slowdown."""
    pacing: Pacing = Pacing()
    process: Process = Process()
    start: Literal["now", "told"] = "now"
    acknowledgements: str | None = None
    phases: tuple[Phase, ...] = Field(min_length=1, strict=False)

    def sessions(self) -> int:
        """Sessions that the phases need at most."""
        return max(max(phase.users.start, phase.users.end) for phase in self.phases)

    def refuse_open(self) -> None:
        """Of workloads that have users only.

        Raises:
            RefusalError: A phase is open.
        """
        for number, phase in enumerate(self.phases):
            if isinstance(phase.load, Open):
                raise RefusalError(
                    f"phases[{number}].load.model", f"{self.workload.name} has no open load"
                )


def parse_plan(text: str | bytes) -> Plan:
    """Reads a plan.

    Raises:
        RefusalError: It names the first wrong field.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise RefusalError(".", f"not a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise RefusalError(".", "not a JSON object")
    version = value.get("version")
    if version != PROTOCOL_VERSION:
        raise RefusalError(
            "version", f"{version} is not known; this runner speaks version {PROTOCOL_VERSION}"
        )
    return read_model(Plan, value)


_Model = TypeVar("_Model", bound=BaseModel)


def read_model(model: type[_Model], value: object, *, within: str = "") -> _Model:
    """Reads a part of the plan that lies at the path `within`.

    Raises:
        RefusalError: It names the first wrong field.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = within
        for part in _fields(first):
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
        given = "" if first["type"] == "missing" else f" (given: {first['input']!r:.80})"
        raise RefusalError(path.removeprefix(".") or ".", first["msg"] + given) from error


def _fields(error: ErrorDetails) -> list[int | str]:
    """Where an error is; the tag by which a union was told apart is no field."""
    fields = list(error["loc"])
    if error["type"].startswith("union_tag"):
        return [*fields, _TAGS[fields[-1]]]
    return [
        part for place, part in enumerate(fields) if place == 0 or fields[place - 1] not in _TAGS
    ]
