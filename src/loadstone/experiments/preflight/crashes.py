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
    from loadstone.targets.walk import system
    from loadstone.workloads.registry import workload_class

    workload, target = experiment.workload.name, experiment.target
    if workload_class(workload).Durability is None:
        return [f"workload {workload} cannot tell which commits a crash has lost"]
    reasons = []
    for each in system(target).undivided():
        if at_address(each.spec):
            reasons.append(
                f"the server at {each.spec.server} is not Loadstone's to let fail: "
                "choose server: embedded or local"
            )
        elif not (each.kind.serves or each.kind.in_process):
            reasons.append(f"{each.spec.engine} has nothing that could fail")
    return reasons


def _storage_reasons(experiment: Experiment, failure: Failure) -> list[str]:
    """Power can be lost only on a device whose unflushed writes Loadstone can throw away."""
    from loadstone.targets.walk import system

    if failure != "power-loss":
        return []
    if next(system(experiment.target).parts(), None) is not None:
        return [f"{experiment.target.engine} has several disks, those of its parts: choose kill"]
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
