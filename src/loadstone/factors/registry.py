"""The factors there are, and what an experiment does with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadstone.errors import RefusedError, WrongInputError
from loadstone.experiments.model import Change, Experiment, ProfileSpec, Variant
from loadstone.factors.base import FactorInfo, FactorKind, Parts
from loadstone.factors.profile import ProfileFactor
from loadstone.factors.target import TargetFactor, unsafe_settings
from loadstone.factors.workload import WorkloadFactor

FACTORS: dict[str, FactorKind] = {
    kind.prefix: kind for kind in (TargetFactor(), WorkloadFactor(), ProfileFactor())
}


def factor_kind(factor: str) -> tuple[FactorKind, str]:
    """The kind of a factor, and its name without the prefix.

    Raises:
        WrongInputError: If no kind has that prefix.
    """
    prefix, _, name = factor.partition(".")
    if prefix not in FACTORS or not name:
        forms = ", ".join(f"{each}.NAME" for each in FACTORS)
        raise WrongInputError(f"{factor!r} is no factor", advice=f"write one of {forms}")
    return FACTORS[prefix], name


def examine(experiment: Experiment, change: Change) -> FactorInfo:
    """What a change of the experiment's base would need.

    Raises:
        WrongInputError: If the factor or the level does not exist.
    """
    kind, name = factor_kind(change.factor)
    return kind.examine(Parts.of(experiment), name, change.level)


def apply_changes(experiment: Experiment, changes: Iterable[Change]) -> Parts:
    """The parts of the experiment with the changes made, in their order.

    Raises:
        WrongInputError: If a level is none of its factor, or does not go with the rest.
    """
    parts = Parts.of(experiment)
    for change in changes:
        kind, name = factor_kind(change.factor)
        parts = kind.apply(parts, name, change.level)
    return parts


def full_name(workload: str, name: str) -> str:
    """The factor that a short name on the command line means: `users` is `profile.users`.

    A name that is neither in the profile nor among the workload's parameters is taken for a
    setting of the target, whose engine will say if it has none.

    Args:
        workload: Name of the workload.
        name: With or without prefix.

    Raises:
        WrongInputError: If it could mean two things.
    """
    from loadstone.workloads.registry import WORKLOADS

    if name.partition(".")[0] in FACTORS:
        return name
    fields = {
        "workload": WORKLOADS[workload].Parameters.model_fields if workload in WORKLOADS else {},
        "profile": ProfileSpec.model_fields,
    }
    first = name.partition(".")[0]
    owners = [prefix for prefix, known in fields.items() if first in known]
    if len(owners) > 1:
        raise WrongInputError(
            f"{name!r} could be {' or '.join(f'{owner}.{name}' for owner in owners)}",
            advice="write it with its prefix",
        )
    return f"{owners[0] if owners else 'target'}.{name}"


def refuse_unsafe(experiment: Experiment, variants: Sequence[Variant], *, allowed: bool) -> None:
    """Stops before a setting that can lose acknowledged commits is applied without leave.

    Raises:
        RefusedError: If there is one and it is not allowed.
    """
    if allowed:
        return
    found: dict[str, str] = {}
    for variant in variants:
        for setting in unsafe_settings(apply_changes(experiment, variant.changes).target):
            found.setdefault(setting, variant.name)
    if not found:
        return
    settings = ", ".join(f"{setting} (in {name!r})" for setting, name in found.items())
    raise RefusedError(
        f"unsafe: {settings}: commits that were acknowledged can be lost in a crash",
        advice="if the data may be lost, add --allow-unsafe; every figure will carry the word",
    )


def refuse_impossible(experiment: Experiment, changes: Iterable[Change]) -> None:
    """Stops before a factor, or a setting of all trials, that its engine cannot change.

    Raises:
        WrongInputError: If a factor or level does not exist.
        RefusedError: If the engine refuses it, with the reason.
    """
    settings = [
        Change(factor=f"target.{name}", level=level)
        for name, level in experiment.target.settings.items()
    ]
    for change in [*settings, *changes]:
        info = examine(experiment, change)
        if info.refused:
            raise RefusedError(f"{change.factor} cannot be changed: {info.refused}")
