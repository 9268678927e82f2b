"""Whether the outage that an experiment asks for can be made here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.factors.registry import apply_changes
from loadstone.host.locality import at_address
from loadstone.placements.place import FILLABLE, parse
from loadstone.spec.design import CrashDesign
from loadstone.spec.model import Experiment, OutageSpec
from loadstone.spec.problems import Path, Problem
from loadstone.spec.target import TargetSpec
from loadstone.units import format_duration

if TYPE_CHECKING:
    from loadstone.targets.walk import Known

_FIELD: Path = ("outage",)


def outage_problems(experiment: Experiment) -> list[Problem]:
    """Why the outage cannot be made, found without starting anything; none without an outage."""
    if experiment.outage is None:
        return []
    return [Problem(_FIELD, reason) for reason in dict.fromkeys(_reasons(experiment))]


def _reasons(experiment: Experiment) -> Iterator[str]:
    outage = experiment.outage
    assert outage is not None  # noqa: S101 - the caller looked
    if isinstance(experiment.design, CrashDesign):
        yield "a crash experiment ends at its failure: choose another design"
    for variant in design_of(experiment).variants(experiment):
        parts = apply_changes(experiment, variant.changes)
        yield from _without_server(parts.target, outage)
        measured_s = parts.profile.measured_s
        if outage.after + outage.lasts >= measured_s:
            yield (
                f"it ends {format_duration(outage.after + outage.lasts)} after the load was first "
                f"measured, which lasts {format_duration(measured_s)} only"
            )


def _without_server(system: TargetSpec, outage: OutageSpec) -> Iterator[str]:
    """Why there is nothing that could be out of service, or not so."""
    from loadstone.targets.walk import part_in

    try:
        found = part_in(system, outage.part)
    except LoadstoneError as error:
        yield error.message
        return
    servers = [found] if at_address(found.spec) else list(found.undivided())
    for each in servers:
        if not each.kind.serves:
            yield f"{each.spec.engine} has no server that could be out of service"
        elif at_address(each.spec):
            yield (
                f"the server at {each.spec.server} is not Loadstone's: "
                "choose server: embedded or local"
            )
        elif outage.kind == "full-disk" and len(servers) == 1:
            yield from _unfillable(each)
    if outage.kind == "full-disk" and len(servers) > 1:
        names = ", ".join(each.name for each in servers)
        yield f"a full disk is that of one part: write outage.part, one of {names}"


def _unfillable(server: Known) -> Iterator[str]:
    """Only a disk that nobody else uses may be filled, and memory only up to a stated size."""
    spec = server.spec
    if "data" not in server.kind.storage_roles:
        yield f"{server.told}{spec.engine} has no disk of its own that could be filled"
        return
    below = f"parts.{server.name}." if server.name else ""
    example = f"{below}storage.data: loop:ext4,size=4GB"
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
