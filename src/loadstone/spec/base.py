"""What the parts of an experiment file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Level = bool | int | float | str
"""A value that a factor takes."""


class Spec(BaseModel):
    """Base of everything an experiment file says: frozen, strict about unknown fields, finite."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )
