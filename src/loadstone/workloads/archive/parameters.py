"""The parameters of the event archive, and the users that follow from them."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, model_validator

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
from loadstone.spec.base import Spec
from loadstone.units import Duration
from loadstone.workloads.base import NO_WAITS

INSERT, SWITCH, PREALLOCATE, CLOSE, VISIBLE = "insert", "switch", "preallocate", "close", "visible"
QUERIES = ("element-window", "group-last", "minute")
"""What operators ask: one element over a time, the last values of a group, events of a minute."""
GROUPS = {
    "stations": (INSERT,),
    "operators": QUERIES,
    "attendants": (SWITCH, PREALLOCATE, CLOSE, VISIBLE),
}
"""Groups of users and what they do."""

ATTENDANTS = 2
"""Users that look after the archive: one switches segments, one closes them."""
PERIOD_S = {SWITCH: 0.1, PREALLOCATE: 0.1, CLOSE: 0.2, VISIBLE: 1.0, **dict.fromkeys(QUERIES, 1.0)}
"""How often each operation but `insert` is due, for each of its users."""


class ArchiveParameters(Spec):
    """Parameters of `archive`."""

    rate: float = Field(
        default=10_000.0,
        ge=LEAST_EVENTS_PER_S,
        le=1e8,
        description="Events a second, of all stations together.",
    )
    events_per_s: float = Field(
        default=1000.0,
        ge=LEAST_EVENTS_PER_S,
        le=MOST_EVENTS_PER_S,
        description="Events a second that a station is built for: it decides how many there are.",
    )
    elements: int = Field(
        default=100,
        ge=1,
        le=MOST_ELEMENTS,
        description="Data points of each station that send events.",
    )
    path: Literal["direct", "staged"] = Field(
        default="direct",
        description="`direct`: bulk copy into the current segment. `staged`: bulk copy into a "
        "temporary table, from which a stored procedure moves the rows into the segment.",
    )
    segment_events: int = Field(
        default=5_000_000,
        ge=1000,
        le=MOST_SEGMENT_EVENTS,
        description="Events after which a segment is switched.",
    )
    preallocate: bool = Field(
        default=True,
        description="Make the next segment while the present one has a fifth of its events to go; "
        "otherwise it is made at the switch, while stations wait.",
    )
    index: Literal["live", "on-close"] = Field(
        default="live",
        description="The index by element and time: kept while events come, or made at the close.",
    )
    compress: bool = Field(default=False, description="Compress a segment when it is closed.")
    move: bool = Field(
        default=False,
        description="Move a segment with its index to a second place when it is closed; where "
        "that is says target.storage.archive.",
    )
    buffer_events: int = Field(
        default=60_000,
        ge=1,
        le=MOST_BUFFER_EVENTS,
        description="Events that a station can hold back; more are lost.",
    )
    batch_events: int = Field(
        default=20_000,
        ge=1,
        le=MOST_BATCH_EVENTS,
        description="Most events of one bulk insert.",
    )
    interval: Duration = Field(
        default=1.0,
        ge=SHORTEST_INTERVAL_S,
        le=LONGEST_INTERVAL_S,
        description="A station's bulk inserts are due so often.",
    )
    threshold: Duration = Field(
        default=1.0,
        gt=0,
        le=LONGEST_THRESHOLD_S,
        description="A bulk insert that takes longer counts as buffering.",
    )
    late_share: float = Field(
        default=0.01, ge=0, le=1, description="Share of events that come late."
    )
    late_by: Duration = Field(
        default=5.0, le=LONGEST_LATE_S, description="How late they come at most."
    )
    disorder_share: float = Field(
        default=0.005,
        ge=0,
        le=1,
        description="Share of events whose time lies before that of the event in front of them.",
    )
    operators: int = Field(
        default=0, ge=0, le=10_000, description="Users who query beside the inserts, once a second."
    )
    csv: str | None = Field(
        default=None,
        description="File whose events each station replays instead of made-up ones, with the "
        "columns ts, element, value, status and text; its times are shifted to now.",
    )

    @model_validator(mode="after")
    def _stations_possible(self) -> ArchiveParameters:
        if self.stations > MOST_STATIONS:
            raise ValueError(
                f"a rate of {self.rate:g} at {self.events_per_s:g} events/s of a station needs "
                f"{self.stations:,} stations: raise events_per_s ({MOST_STATIONS:,} are the most)"
            )
        return self

    @model_validator(mode="after")
    def _stations_not_idle(self) -> ArchiveParameters:
        if self.rate / self.stations < LEAST_EVENTS_PER_S:
            raise ValueError(
                f"a rate of {self.rate:g} leaves each of {self.stations:,} stations fewer than "
                f"{LEAST_EVENTS_PER_S:g} events/s: raise rate or events_per_s"
            )
        return self

    @model_validator(mode="after")
    def _buffer_holds_an_interval(self) -> ArchiveParameters:
        most = math.ceil(self.events_per_s * self.interval)
        if self.csv is None and self.buffer_events < most:
            raise ValueError(
                f"buffer_events of {self.buffer_events:,} loses events on any target: a station "
                f"of {self.events_per_s:g} events/s holds back {most:,} from one bulk insert to "
                f"the next ({self.interval:g}s): raise buffer_events, or lower events_per_s or "
                "interval"
            )
        return self

    @property
    def stations(self) -> int:
        """As many as it takes to make the rate, none above what it is built for."""
        return math.ceil(self.rate / self.events_per_s)

    def rate_of(self, stations: int) -> float:
        """The rate that makes so many stations; a product rounded up would make one more."""
        rate = stations * self.events_per_s
        return rate if rate / self.events_per_s <= stations else math.nextafter(rate, 0.0)

    @property
    def users(self) -> int:
        """Users of the driver: attendants, operators, stations, in this order."""
        return ATTENDANTS + self.operators + self.stations

    def driver(self) -> dict[str, Any]:
        """The parameters as the driver's plan has them, but for the events to replay."""
        return {
            "stations": self.stations,
            "events_per_s": self.rate / self.stations,
            "elements": self.elements,
            "path": self.path,
            "segment_events": self.segment_events,
            "preallocate": self.preallocate,
            "index": self.index,
            "compress": self.compress,
            "move": self.move,
            "buffer_events": self.buffer_events,
            "batch_events": self.batch_events,
            "interval_s": self.interval,
            "threshold_ms": self.threshold * 1e3,
            "late_share": self.late_share,
            "late_by_s": self.late_by,
            "disorder_share": self.disorder_share,
            "operators": self.operators,
        }

    def pacing(self) -> dict[str, Any]:
        """Grid pacing: every operation is due at a period of its own, and users are not in step."""
        periods = {INSERT: self.interval, **PERIOD_S}
        return {
            "default": NO_WAITS,
            "operations": {
                name: {**NO_WAITS, "every_s": period_s} for name, period_s in periods.items()
            },
        }
