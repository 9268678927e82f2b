"""The parameters of decision support."""

from __future__ import annotations

import os
from typing import Literal

from pydantic import Field

from loadstone.spec.base import Spec
from loadstone.units import Duration
from loadstone.workloads.dss.streams import streams_of
from loadstone.workloads.dss.tables import Indexes


class DecisionSupportParameters(Spec):
    """Parameters of `dss`."""

    scale: float = Field(
        default=1.0, gt=0, le=100_000, description="Scale factor; about 1 GB of raw data each."
    )
    streams: int | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="Query streams of the throughput run; 0: power run only. Default: the least "
        "number that the origin asks for at this scale, 2 at scale 1.",
    )
    refreshes: bool = Field(
        default=True,
        description="Orders are inserted and deleted around the power run and beside the streams. "
        "Without them there is no power figure.",
    )
    indexes: Indexes | Literal["usual"] = Field(
        default="usual",
        description="`none`, `keys` (primary keys), `foreign` (and foreign keys with an index "
        "each), `dates` (and an index of each date). `usual`: what owners of the engine would "
        "make.",
    )
    warm_up: bool = Field(
        default=True,
        description="Each query runs once before, with the parameters of the origin's validation; "
        "at scale 1 the answers are checked against the published ones.",
    )
    plans: bool = Field(
        default=True,
        description="The plan of each query is kept, as its execution in the warm-up showed it.",
    )
    time_limit: Duration = Field(
        default=3600.0, gt=0, description="A query that takes longer is broken off."
    )
    load_sessions: int = Field(
        default_factory=lambda: len(os.sched_getaffinity(0)),
        ge=1,
        le=1000,
        description="Sessions that load at once, where the engine loads in several.",
    )

    @property
    def query_streams(self) -> int:
        """Streams of the throughput run."""
        return streams_of(self.scale) if self.streams is None else self.streams

    @property
    def pairs(self) -> int:
        """Pairs of refreshes: one for the power run and one for each stream."""
        return self.query_streams + 1 if self.refreshes else 0

    @property
    def refreshes_beside(self) -> int:
        """Refresh functions beside the streams: both for each."""
        return 2 * self.query_streams if self.refreshes else 0
