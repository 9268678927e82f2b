"""Whether the outage that an experiment asks for can be made here."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.factors.registry import apply_changes
from loadstone.host.locality import at_address
from loadstone.placements.place import FILLABLE, parse
from loadstone.spec.design import CrashDesign
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem
from loadstone.spec.target import TargetSpec
from loadstone.units import format_duration

_FIELD: Path = ("outage",)


def outage_problems(experiment: Experiment) -> list[Problem]:
    """Why the outage cannot be made, found without starting anything; none without an outage."""
    if experiment.outage is None:
        return []
    return [Problem(_FIELD, reason) for reason in dict.fromkeys(_reasons(experiment))]


def _reasons(experiment: Experiment) -> Iterator[str]:
    from loadstone.targets.registry import target_for

    outage = experiment.outage
    assert outage is not None  # noqa: S101 - the caller looked
    target = target_for(experiment.target)
    if isinstance(experiment.design, CrashDesign):
        yield "a crash experiment ends at its failure: choose another design"
    if not target.serves:
        yield f"{target.engine} has no server that could be out of service"
        return
    if at_address(experiment.target):
        yield (
            f"the server at {experiment.target.server} is not Loadstone's: "
            "choose server: embedded or local"
        )
        return
    for variant in design_of(experiment).variants(experiment):
        parts = apply_changes(experiment, variant.changes)
        measured_s = parts.profile.measured_s
        if outage.after + outage.lasts >= measured_s:
            yield (
                f"it ends {format_duration(outage.after + outage.lasts)} after the load was first "
                f"measured, which lasts {format_duration(measured_s)} only"
            )
        if outage.kind == "full-disk":
            yield from _unfillable(parts.target)


def _unfillable(spec: TargetSpec) -> Iterator[str]:
    """Only a disk that nobody else uses may be filled, and memory only up to a stated size."""
    example = "storage.data: loop:ext4,size=4GB"
    if spec.storage.data is None:
        yield f"a plain folder shares its disk with others: choose {example}"
        return
    try:
        place = parse(spec.storage.data)
    except LoadstoneError as error:
        yield error.message
        return
    if place.kind not in FILLABLE:
        yield f"{place.text} cannot be filled: choose one of {', '.join(FILLABLE)}"
    elif place.size_bytes is None:
        yield f"{place.text} has no size of its own to be filled up to: choose {example}"
