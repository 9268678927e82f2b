"""The factors there are, and what an experiment does with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from loadstone.errors import WrongInputError
from loadstone.factors.base import FactorInfo, FactorKind, Parts
from loadstone.factors.host import HostFactor
from loadstone.factors.profile import ProfileFactor
from loadstone.factors.storage import StorageFactor
from loadstone.factors.target import TargetFactor
from loadstone.factors.workload import WorkloadFactor
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change
from loadstone.spec.profile import ProfileSpec

FACTORS: dict[str, FactorKind] = {
    kind.prefix: kind
    for kind in (TargetFactor(), WorkloadFactor(), ProfileFactor(), StorageFactor(), HostFactor())
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
    return kind.examine(base_parts(experiment), name, change.level)


def base_parts(experiment: Experiment) -> Parts:
    """The parts before any change; start options among the host's settings go where they belong.

    Settings of the parts of a system stand among its own, so that all trials say them alike.

    Raises:
        WrongInputError: If the experiment's host settings do not exist or have wrong levels.
    """
    settled = experiment.target.with_only(experiment.target.named_settings)
    parts = replace(Parts.of(experiment), host={}, target=settled)
    for name, level in experiment.host.items():
        parts = FACTORS["host"].apply(parts, name, level)
    return parts


def apply_changes(experiment: Experiment, changes: Iterable[Change]) -> Parts:
    """The parts of the experiment with the changes made, in their order.

    Raises:
        WrongInputError: If a level is none of its factor, or does not go with the rest.
    """
    parts = base_parts(experiment)
    for change in changes:
        kind, name = factor_kind(change.factor)
        parts = kind.apply(parts, name, change.level)
    for kind in FACTORS.values():
        kind.check(parts)
    return replace(parts, target=parts.target.alone)


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
