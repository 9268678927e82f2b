"""A load at fractions of what a system can do, as an experiment file states it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from loadstone.limits import SHORTEST_PHASE_S
from loadstone.spec.base import Spec
from loadstone.units import Duration

ACTIVE_IDLE = "active idle"
"""Name of the level without load: the system is ready for it."""
_TENTHS = [100.0, 90.0, 80.0, 70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0, 0.0]


@dataclass(frozen=True)
class Stretch:
    """The lengths of a level: without load, then at its load, of which a part is measured."""

    delay_s: float
    ramp_s: float
    measure_s: float
    ramp_down_s: float

    @property
    def whole_s(self) -> float:
        """All of it."""
        return self.delay_s + self.ramp_s + self.measure_s + self.ramp_down_s


_FORMS = {
    "short": Stretch(1.0, 2.0, 13.0, 1.0),
    "full": Stretch(10.0, 30.0, 240.0, 30.0),
}
"""Fourteen of them take 4 and 72 minutes. The full one is that of the graduated benchmarks of
servers (SPECpower_ssj2008 run and reporting rules, 2.5)."""


class GraduatedLoad(Spec):
    """Levels of load, one after the other, each with figures of its own."""

    form: Literal["short", "full"] = Field(
        default="short",
        description="Lengths that are not given: with three calibrations and eleven levels `short` "
        "takes 4 minutes, `full` 72.",
    )
    levels: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=_TENTHS,
        min_length=1,
        max_length=100,
        description="Percent of the calibrated rate, or of the users; 0: active idle. Default: "
        "100, 90 ... 10 and 0.",
    )
    order: Literal["down", "up", "random"] = Field(
        default="down",
        description="In which the levels run; active idle is the last, or the first.",
    )
    calibrations: int = Field(
        default=3, ge=2, le=50, description="Intervals at full speed, at least."
    )
    most_calibrations: int = Field(
        default=10,
        ge=2,
        le=50,
        description="They go on until the last two differ by less than 2 % without a rising trend, "
        "and so many are the most.",
    )
    delay: Duration | None = Field(
        default=None, description="Without load, before each level. Default: that of the form."
    )
    ramp: Duration | None = Field(
        default=None, description="At the level's load, before it is measured."
    )
    measure: Duration | None = Field(
        default=None, ge=SHORTEST_PHASE_S, description="The measured interval of a level."
    )
    ramp_down: Duration | None = Field(
        default=None, description="At the level's load, after it was measured."
    )

    @field_validator("levels")
    @classmethod
    def _each_once(cls, value: list[float]) -> list[float]:
        twice = [each for each in value if value.count(each) > 1]
        if twice:
            raise ValueError(f"the level {twice[0]:g} is there twice: name each once")
        if not any(value):
            raise ValueError("there is no load: name a level above 0")
        return value

    @field_validator("delay", "ramp", "ramp_down")
    @classmethod
    def _none_or_long_enough(cls, value: float | None) -> float | None:
        if value is not None and 0 < value < SHORTEST_PHASE_S:
            raise ValueError("is too short: write 0s for none, or 1ms or more")
        return value

    @model_validator(mode="after")
    def _enough(self) -> GraduatedLoad:
        if self.most_calibrations < self.calibrations:
            raise ValueError(
                f"most_calibrations is {self.most_calibrations}, and there are "
                f"{self.calibrations} at least: write as many or more"
            )
        return self

    @property
    def stretch(self) -> Stretch:
        """The lengths that hold."""
        usual = _FORMS[self.form]
        return Stretch(
            usual.delay_s if self.delay is None else self.delay,
            usual.ramp_s if self.ramp is None else self.ramp,
            usual.measure_s if self.measure is None else self.measure,
            usual.ramp_down_s if self.ramp_down is None else self.ramp_down,
        )

    @property
    def form_told(self) -> Literal["short", "full", "own"]:
        """The form, or that it is the experiment's own."""
        as_form = self.stretch == _FORMS[self.form] and sorted(self.levels) == sorted(_TENTHS)
        return self.form if as_form else "own"

    @property
    def ordered(self) -> list[float]:
        """The levels from the highest to the lowest, or the other way round."""
        return sorted(self.levels, reverse=self.order != "up")


def level_name(percent: float) -> str:
    """Of a level: `90 %`, `active idle`."""
    return f"{percent:g} %" if percent else ACTIVE_IDLE
