"""The design `scale`: the same work at 1 to N of something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from loadstone.experiments.designs.base import Design, Pair, level_name
from loadstone.spec.base import Level
from loadstone.spec.design import LevelRange, ScaleDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Problem
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.base import AnyWorkload

USERS = "profile.users"
SCALED = {
    "users": (USERS, "users"),
    "clients": (USERS, "clients"),
    "processors": ("host.server.cpus", "processors"),
}
"""What can be scaled by a short name: its factor, and what N counts."""
_MOST_LEVELS = 200
_WHOLE = 1e-6
"""By how much a product of two numbers may be off a whole one."""


@dataclass(frozen=True)
class Scaled:
    """What is scaled."""

    factor: str
    label: str
    """What N counts."""
    users_each: float | None = None
    """Users for each one of N; None: as many at every N."""

    def users(self, n: float) -> float | None:
        """Those that N has, where they are in proportion to it."""
        return None if self.users_each is None else n * self.users_each

    def level(self, n: float) -> Level:
        """The level of the factor at N: processors are the first N, as a list."""
        if self.label == "processors":
            return "0" if n == 1 else f"0-{n - 1:g}"
        return int(n) if n == int(n) else n

    def name(self, n: float) -> str:
        """Of the variant at N."""
        own, users = Change(factor=self.factor, level=self.level(n)), self.users(n)
        of_load = [] if users is None else [Change(factor=USERS, level=round(users))]
        return level_name([own, *of_load])

    def changes(self, n: float, workload: AnyWorkload, profile: ProfileSpec) -> list[Change]:
        """What makes it N, with its users; a workload that decides those knows what makes so many.

        Args:
            n: How many.
            workload: Of the experiment.
            profile: Likewise.
        """
        if self.factor == USERS and n == int(n):
            return workload.search.at_users(profile, int(n))
        own, users = Change(factor=self.factor, level=self.level(n)), self.users(n)
        of_load = [] if users is None else workload.search.at_users(profile, round(users))
        return [own, *of_load]


class Scale(Design):
    """Each N in every block; the law of its scalability is fitted to the medians."""

    kind: ClassVar[str] = "scale"
    about: ClassVar[str] = "the same work at 1 to N of something, and the law it follows"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """One per N, in their order."""
        from loadstone.workloads.registry import workload_of

        scaled, workload = scaled_by(experiment), workload_of(experiment.workload)
        levels = numbers(experiment)
        changes = [scaled.changes(n, workload, experiment.profile) for n in levels]
        names = [scaled.name(n) for n in levels]
        return [
            Variant(
                name=name,
                changes=each,
                step=each if index else [],
                previous=names[0] if index else None,
            )
            for index, (name, each) in enumerate(zip(names, changes, strict=True))
        ]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """A curve is fitted; no two points of it are compared."""
        return []

    def problems(self, experiment: Experiment) -> list[Problem]:
        """Levels that are none."""
        design = _design(experiment)
        if design.over not in SCALED and "." not in design.over:
            known = ", ".join(SCALED)
            message = f"is none of {known}, nor a factor such as workload.warehouses"
            return [Problem(("design", "over"), f"{design.over!r} {message}")]
        levels = ("design", "levels")
        if isinstance(design.levels, LevelRange):
            wrong = [Problem((*levels, field), text) for field, text in _wrong(design.levels)]
            if wrong:
                return wrong
        unfit = [Problem(levels, text) for text in _unfit(design, scaled_by(experiment))]
        return unfit or [
            Problem(("design", "users_each"), text) for text in _unfit_users(experiment)
        ]


def _wrong(levels: LevelRange) -> Iterator[tuple[str, str]]:
    if levels.to <= levels.first:
        yield "to", "must lie above from"
    elif (levels.to - levels.first) / levels.step > _MOST_LEVELS:
        yield "step", f"makes more than {_MOST_LEVELS} levels"


def _unfit(design: ScaleDesign, scaled: Scaled) -> Iterator[str]:
    if isinstance(design.levels, LevelRange):
        found = [design.levels.first, design.levels.to, design.levels.step]
    else:
        found = design.levels
    if any(n <= 0 for n in found):
        yield "there is nothing to be had at 0 or less"
    if isinstance(design.levels, list) and len(set(found)) < len(found):
        yield "name each level once: repeats says how often it is measured"
    if design.over in SCALED and any(n != int(n) for n in found):
        yield f"{scaled.label} are whole numbers"


def _unfit_users(experiment: Experiment) -> Iterator[str]:
    """Why users cannot be in proportion to N."""
    scaled = scaled_by(experiment)
    if scaled.users_each is None:
        return
    if scaled.factor == USERS:
        yield f"{scaled.label} are what is scaled: leave users_each out"
    elif experiment.profile.load == "open":
        yield "an open load has a rate, not users: leave users_each out"
    else:
        found = ((n, n * scaled.users_each) for n in numbers(experiment))
        for n, users in found:
            if abs(users - round(users)) > _WHOLE or round(users) < 1:
                yield f"makes {users:g} users at {n:g}: users are whole numbers"
                return


def scaled_by(experiment: Experiment) -> Scaled:
    """What the experiment scales."""
    design = _design(experiment)
    factor, label = SCALED.get(
        design.over, (design.over, design.over.partition(".")[2] or design.over)
    )
    return Scaled(factor, label, design.users_each)


def numbers(experiment: Experiment) -> list[float]:
    """Every N, ascending."""
    levels = _design(experiment).levels
    if isinstance(levels, LevelRange):
        count = max(0, int((levels.to - levels.first) / levels.step + 1e-9)) + 1
        found = [levels.first + place * levels.step for place in range(count)]
        return found if found[-1] >= levels.to - 1e-9 else [*found, levels.to]
    return sorted(levels)


def _design(experiment: Experiment) -> ScaleDesign:
    assert isinstance(experiment.design, ScaleDesign)  # noqa: S101
    return experiment.design
