"""What all recorded values are."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of all recorded values."""

    model_config = ConfigDict(frozen=True, extra="forbid")
