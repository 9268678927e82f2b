"""Whole transactions: how one of them went by, from the moment when it was due.

The driver keeps a few of each operation that has requests below it; they come with its last frame,
and stay in the record of the trial.
"""

from __future__ import annotations

from math import fsum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

PARTS = ("blocked_s", "resolve_s", "connect_s", "tls_s", "send_s", "wait_s", "receive_s")
"""What a request is doing, in this order; the parts of the HTTP Archive format (HAR 1.2)."""


class _Told(BaseModel):
    """A driver may say more than is read here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TraceRow(_Told):
    """A request that was sent, or one that failed before. Its parts follow each other."""

    request: str = Field(description="Its name.")
    step: int = Field(description="The step of the transaction that it belongs to, from 1.")
    lane: int | None = Field(
        default=None, description="Its number among those that the step makes at the same time."
    )
    cause: Literal["asked", "redirect", "again"] = Field(
        description="`again`: its connection ended just as it was used again, or the try before "
        "failed."
    )
    at_s: float = Field(description="When it was begun, after the transaction was due.")
    blocked_s: float = Field(default=0.0, description="It waited for a connection to be free.")
    resolve_s: float = Field(default=0.0, description="The name of the host was looked up.")
    connect_s: float = Field(default=0.0, description="A connection was opened.")
    tls_s: float = Field(default=0.0, description="The handshake of TLS.")
    send_s: float = Field(default=0.0, description="It was written and sent.")
    wait_s: float = Field(default=0.0, description="Until the first byte of the answer.")
    receive_s: float = Field(default=0.0, description="From the first byte to the last.")
    connection: Literal["new", "reused"] | None = Field(
        default=None, description="None: it had no connection."
    )
    status: int | None = Field(default=None, description="Of the answer; None: none came.")
    error: str | None = Field(default=None, description="Class of its failure.")
    sent_bytes: int = 0
    received_bytes: int = 0

    @property
    def took_s(self) -> float:
        """All of its parts."""
        return fsum(getattr(self, part) for part in PARTS)

    @property
    def end_s(self) -> float:
        """When it was over, after the transaction was due."""
        return self.at_s + self.took_s


class Trace(_Told):
    """One transaction."""

    phase: str
    due_s: float = Field(description="When it was due, seconds since the driver's start.")
    begun_s: float = Field(description="When it was begun, after that.")
    took_s: float = Field(description="Response time: from when it was due to its end.")
    error: str | None = Field(default=None, description="Class of its failure.")
    rows: list[TraceRow] = Field(description="Of its last attempt, in the order of its steps.")
    left_out: int = Field(default=0, description="Requests of it that were too many to be kept.")


class Traces(_Told):
    """The transactions of one operation that are kept, of the measured load."""

    slowest: Trace | None = Field(default=None, description="Of those that ended well.")
    failed: Trace | None = Field(default=None, description="The slowest that failed.")
    sample: list[Trace] = Field(
        default=[], description="Drawn at random from those that ended well."
    )
