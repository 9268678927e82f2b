"""What a plan says about the event archive, and which user does what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal

from pydantic import Field

from loadstone.limits import (
    LEAST_EVENTS_PER_S,
    LONGEST_INTERVAL_S,
    LONGEST_LATE_S,
    LONGEST_THRESHOLD_S,
    MOST_BATCH_EVENTS,
    MOST_BUFFER_EVENTS,
    MOST_ELEMENTS,
    MOST_EVENTS_PER_S,
    MOST_SEGMENT_EVENTS,
    MOST_STATIONS,
    SHORTEST_INTERVAL_S,
)
from loadstone.runner.plan import Plan, RefusalError, Strict, read_model

PATH = "workload.parameters"

INSERT, SWITCH, PREALLOCATE = "insert", "switch", "preallocate"
CLOSE, VISIBLE = "close", "visible"
ELEMENT_WINDOW, GROUP_LAST, MINUTE = "element-window", "group-last", "minute"
OPERATIONS = (INSERT, SWITCH, PREALLOCATE, CLOSE, VISIBLE, ELEMENT_WINDOW, GROUP_LAST, MINUTE)

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Parameters(Strict):
    """Parameters of the archive; `docs/driver-protocol.md` says what each is."""

    stations: int = Field(ge=1, le=MOST_STATIONS)
    events_per_s: float = Field(ge=LEAST_EVENTS_PER_S, le=MOST_EVENTS_PER_S)
    elements: int = Field(ge=1, le=MOST_ELEMENTS)
    path: Literal["direct", "staged"]
    segment_events: int = Field(ge=1, le=MOST_SEGMENT_EVENTS)
    preallocate: bool
    index: Literal["live", "on-close"]
    compress: bool
    move: bool
    buffer_events: int = Field(ge=1, le=MOST_BUFFER_EVENTS)
    batch_events: int = Field(ge=1, le=MOST_BATCH_EVENTS)
    interval_s: float = Field(ge=SHORTEST_INTERVAL_S, le=LONGEST_INTERVAL_S)
    threshold_ms: float = Field(ge=0.0, le=LONGEST_THRESHOLD_S * 1e3)
    late_share: Share
    late_by_s: float = Field(ge=0.0, le=LONGEST_LATE_S)
    disorder_share: Share
    operators: int = Field(ge=0)
    events: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether a segment has its index from the beginning."""
        return self.index == "live"


class Role(Enum):
    """What a user does."""

    KEEPER = "keeper"
    CLOSER = "closer"
    OPERATOR = "operator"
    STATION = "station"


@dataclass(frozen=True)
class UserRole:
    """The role of a user; `station` is the number of its station."""

    role: Role
    station: int = 0


def part_of(parameters: Parameters, user: int) -> UserRole:
    """What a user does."""
    if user < 2:
        return UserRole(Role.KEEPER if user == 0 else Role.CLOSER)
    if user - 2 < parameters.operators:
        return UserRole(Role.OPERATOR)
    return UserRole(Role.STATION, user - 2 - parameters.operators)


def read_parameters(plan: Plan) -> Parameters:
    """Reads and checks the parameters of a plan.

    Raises:
        RefusalError: It names the wrong field, or what DuckDB cannot do.
    """
    parameters = read_model(Parameters, plan.workload.parameters, within=PATH)
    if parameters.path == "staged":
        raise _refuse("path", 'DuckDB has no stored procedures; write "direct"')
    if parameters.compress:
        raise _refuse("compress", "DuckDB compresses every table by itself; write false")
    if parameters.move:
        raise _refuse("move", "DuckDB keeps all tables in one file; write false")
    return parameters


def _refuse(field: str, problem: str) -> RefusalError:
    return RefusalError(f"{PATH}.{field}", problem)
