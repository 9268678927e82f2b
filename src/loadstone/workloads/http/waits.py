"""The think times of a scenario: how long a user waits after a transaction."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from loadstone.limits import LONGEST_S
from loadstone.spec.base import Spec

Distribution = Literal["none", "constant", "uniform", "negative-exponential"]
_FIELDS: dict[str, tuple[str, ...]] = {
    "none": (),
    "constant": ("mean_s",),
    "uniform": ("from_s", "to_s"),
    "negative-exponential": ("mean_s",),
}
"""What each distribution needs; the last may have a cap besides."""


class ThinkTime(Spec):
    """A wait that is drawn anew each time."""

    distribution: Distribution = "negative-exponential"
    mean_s: float | None = Field(
        default=None, ge=0, le=LONGEST_S, description="Of constant and negative-exponential ones."
    )
    cap: float = Field(
        default=10.0,
        ge=1,
        le=1000,
        description="The longest negative-exponential wait, in means (TPC-C 5.2.5.4 has 10).",
    )
    from_s: float | None = Field(
        default=None, ge=0, le=LONGEST_S, description="The shortest of uniform ones."
    )
    to_s: float | None = Field(
        default=None, ge=0, le=LONGEST_S, description="The longest of uniform ones."
    )

    @model_validator(mode="before")
    @classmethod
    def _none_by_its_name(cls, value: object) -> object:
        return {"distribution": "none"} if value == "none" else value

    @model_validator(mode="after")
    def _fields_of_its_distribution(self) -> ThinkTime:
        needed = _FIELDS[self.distribution]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a {self.distribution} think time needs {' and '.join(needed)}")
        allowed = {"distribution", *needed}
        if self.distribution == "negative-exponential":
            allowed.add("cap")
        idle = sorted(self.model_fields_set - allowed)
        if idle:
            raise ValueError(f"{idle[0]} has no effect: the think time is {self.distribution}")
        if self.from_s is not None and self.to_s is not None and self.from_s > self.to_s:
            raise ValueError(f"from_s ({self.from_s:g}) is more than to_s ({self.to_s:g})")
        return self

    def driver(self) -> dict[str, Any]:
        """As the plan's `pacing` has it."""
        names = _FIELDS[self.distribution]
        if self.distribution == "negative-exponential":
            names = (*names, "cap")
        return {
            "distribution": self.distribution,
            **{name: getattr(self, name) for name in names},
        }


NO_THINK_TIME = ThinkTime(distribution="none")
