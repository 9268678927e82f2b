"""Whether the crashes that an experiment asks for can be made here."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.experiments.designs.crash import on_volatile_devices
from loadstone.factors.registry import apply_changes
from loadstone.host.locality import at_address
from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.spec.design import CrashDesign, Failure
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem
from loadstone.spec.target import TargetSpec


def failure_of(experiment: Experiment) -> Failure | None:
    """The failure that the experiment's crash trials make, if it has any."""
    if isinstance(experiment.design, CrashDesign):
        return experiment.design.failure
    return experiment.durability


def crash_problems(experiment: Experiment) -> list[Problem]:
    """Why the crashes cannot be made, found without starting anything; none without crashes."""
    failure = failure_of(experiment)
    if failure is None:
        return []
    path: Path = ("durability",)
    if isinstance(experiment.design, CrashDesign):
        path = ("design",)
        if experiment.durability is not None:
            return [Problem(("durability",), "a crash experiment says its failure in design")]
        if experiment.repeats > 1:
            return [Problem(("repeats",), "a crash experiment repeats by design: crashes")]
    reasons = [*_general_reasons(experiment), *_storage_reasons(experiment, failure)]
    return [Problem(path, reason) for reason in dict.fromkeys(reasons)]


def _general_reasons(experiment: Experiment) -> list[str]:
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import workload_class

    workload, target = experiment.workload.name, experiment.target
    if workload_class(workload).Durability is None:
        return [f"workload {workload} cannot tell which commits a crash has lost"]
    if at_address(target):
        return [
            f"the server at {target.server} is not Loadstone's to let fail: "
            "choose server: embedded or local"
        ]
    cls = target_for(target)
    if not (cls.serves or cls.in_process):
        return [f"{target.engine} has nothing that could fail"]
    return []


def _storage_reasons(experiment: Experiment, failure: Failure) -> list[str]:
    """Power can be lost only on a device whose unflushed writes Loadstone can throw away."""
    if failure != "power-loss":
        return []
    reasons = []
    for variant in design_of(experiment).variants(experiment):
        try:
            spec = on_volatile_devices(apply_changes(experiment, variant.changes).target)
        except LoadstoneError as error:
            advice = f" ({error.advice})" if error.advice else ""
            reasons.append(f"{variant.name}: {error.message}{advice}")
            continue
        reasons += _unavailable(spec)
    return reasons


def _unavailable(spec: TargetSpec) -> Sequence[str]:
    found = {text: support.unavailable(parse(text)) for text in spec.storage.named.values()}
    return [f"{text} cannot be made here: {reason}" for text, reason in found.items() if reason]
