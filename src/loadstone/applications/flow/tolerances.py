"""How far a result of Flow may be from that of a serial run, by quantity.

Serial and parallel runs solve the same equations to the same tolerance with other preconditioners,
so their results differ a little. The bounds stand between two things that were measured on 50
generated decks: the largest difference of parallel runs, and the effect of the smallest change of
porosity that must be caught (docs/applications.md has both).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loadstone.applications.flow.output import Summary

SMALLEST_POROSITY_CHANGE = 0.01
"""Of every cell, relative: such a result must not pass for the right one."""

TOLERANCES: Mapping[str, float] = {
    "FOPT": 1e-3,
    "FGPT": 1e-3,
    "FWIT": 1e-3,
    "FPR": 3e-4,
    "WBHP": 2e-3,
}
"""Vector: the largest difference at a report step, relative to the largest value of the run."""
OF_CO2: Mapping[str, float] = {**TOLERANCES, "FPR": 1e-3}
"""Of CO2 storage, where the pressure follows the time steps more, and the porosity too."""
_DAYS_APART = 1e-3
_LEAST_SCALE = 1.0
"""In the deck's own units: less gas than that is none."""


@dataclass(frozen=True)
class Difference:
    """Where two runs are furthest apart in a vector."""

    vector: str
    """`FOPT`, `WBHP:P1`."""
    relative: float
    """To the largest value of the reference in the run."""
    allowed: float
    step: int
    """From 1."""
    value: float
    reference: float

    @property
    def share(self) -> float:
        """Of what is allowed: above 1 it is too much."""
        return self.relative / self.allowed

    def __str__(self) -> str:
        return (
            f"{self.vector} is {self.value:.7g} at report step {self.step}, the serial run has "
            f"{self.reference:.7g}: {self.relative:.2g} apart, {self.allowed:g} allowed"
        )


def differences(
    found: Summary, reference: Summary, tolerances: Mapping[str, float]
) -> Iterator[Difference]:
    """The largest difference of each vector that the reference has.

    Args:
        found: With all vectors of the reference, and as many report steps.
        reference: Of a serial run.
        tolerances: By vector of the field or of wells.
    """
    for name, right in reference.vectors.items():
        scale = max(_LEAST_SCALE, *(abs(value) for value in right))
        values = found.vectors[name]
        apart = [abs(a - b) / scale for a, b in zip(values, right, strict=True)]
        step = max(range(len(apart)), key=apart.__getitem__)
        allowed = tolerances[name.partition(":")[0]]
        yield Difference(name, apart[step], allowed, step + 1, values[step], right[step])


def unlike(found: Summary, reference: Summary) -> str:
    """Why two runs cannot be compared at all; empty: they can."""
    missing = sorted(set(reference.vectors) - set(found.vectors))
    if missing:
        return f"the summary has no {missing[0]}, the serial run has"
    if not reference.vectors:
        return "the serial run has nothing to compare"
    if found.report_steps != reference.report_steps:
        return f"{found.report_steps} report steps, the serial run has {reference.report_steps}"
    for step, (a, b) in enumerate(zip(found.days, reference.days, strict=True), start=1):
        if abs(a - b) > _DAYS_APART * max(1.0, b):
            return f"report step {step} is at day {a:g}, that of the serial run at day {b:g}"
    return ""
