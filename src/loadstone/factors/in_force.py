"""What is in force in one configuration, whether it came from the base or from a change."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.factors.base import FactorInfo, Parts
from loadstone.factors.registry import FACTORS, factor_kind
from loadstone.factors.target import level_text
from loadstone.host.process import GENERATOR_CPUS, SERVER
from loadstone.spec.plans import Change, TrialPlan
from loadstone.spec.target import PartSpec, TargetSpec


def in_force(parts: Parts) -> Iterator[Change]:
    """Every setting of target, storage and host that differs from what would be without it."""
    target = parts.target
    for name, level in target.named_settings.items():
        yield Change(factor=f"target.{name}", level=level)
    placed: dict[str, TargetSpec | PartSpec] = {"": target, **target.parts}
    for part, of_part in placed.items():
        below = f"{part}." if part else ""
        for role, text in of_part.storage.named.items():
            yield Change(factor=f"storage.{below}{role}", level=text)
        for option, level in of_part.process.named.items():
            yield Change(factor=f"host.{SERVER}.{below}{option}", level=level)
    if parts.profile.cpus is not None:
        yield Change(factor=f"host.{GENERATOR_CPUS}", level=parts.profile.cpus)
    for name, level in parts.host.items():
        yield Change(factor=f"host.{name}", level=level)


def parts_of(plan: TrialPlan) -> Parts:
    """The parts of a resolved trial."""
    return Parts(plan.workload, plan.target, plan.profile, plan.host)


def unsafe_in(parts: Parts) -> list[str]:
    """What can lose acknowledged commits, as `fsync=off` or `host.queue.write_cache=...`.

    Raises:
        WrongInputError: If a name or level in the parts does not exist.
    """
    return [
        f"{info.factor.removeprefix('target.')}={level_text(info.level)}"
        for info in _examined(parts)
        if info.unsafe
    ]


def unavailable_in(parts: Parts) -> dict[str, str]:
    """Factor: why this machine cannot have it so; settings of the target are not asked.

    Raises:
        WrongInputError: If a name or level in the parts does not exist.
    """
    return {
        info.factor: info.unavailable for info in _examined(parts, but="target") if info.unavailable
    }


def _examined(parts: Parts, but: str = "") -> Iterator[FactorInfo]:
    for change in in_force(parts):
        prefix = change.factor.partition(".")[0]
        if prefix != but and prefix in FACTORS:
            kind, name = factor_kind(change.factor)
            yield kind.examine(parts, name, change.level)
