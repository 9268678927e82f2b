"""Fields that an experiment does not use, as it is: an option that sets one is refused."""

from __future__ import annotations

from collections.abc import Iterator

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.experiments.preflight.spellings import plain_factor
from loadstone.host.locality import at_address
from loadstone.spec.design import SearchDesign
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path
from loadstone.workloads.judging import COMPARING
from loadstone.workloads.registry import workload_of


def idle_fields(experiment: Experiment) -> dict[Path, str]:
    """The fields that have no effect, with the reason."""
    found: dict[Path, str] = {
        ("profile", name): why for name, why in experiment.profile.idle.items()
    }
    if at_address(experiment.target):
        found["target", "data"] = "a server at an address has its own folder"
    else:
        found["target", "password"] = "nobody logs in where no address is given"
    workload = workload_of(experiment.workload)
    found |= {("profile", name): why for name, why in workload.idle(experiment.profile).items()}
    if not workload.hurried():
        found["profile", "gather"] = f"users of {experiment.workload.name} do not log in"
    if experiment.durability is None:
        found["crashes",] = "nothing is crashed (--durability, or loadstone crash)"
    if experiment.design.kind not in COMPARING:
        found["margin",] = f"a {experiment.design.kind} compares nothing"
    return found | dict(_varied(experiment)) | design_of(experiment).idle(experiment)


def _varied(experiment: Experiment) -> Iterator[tuple[Path, str]]:
    """Fields that every configuration of the design sets anew."""
    if isinstance(experiment.design, SearchDesign):
        return
    try:
        variants = design_of(experiment).variants(experiment)
    except LoadstoneError:
        return
    changed = [
        {plain_factor(experiment, change.factor) for change in variant.changes}
        for variant in variants
    ]
    for factor, path in _fields_of_factors(experiment):
        if changed and all(plain_factor(experiment, factor) in each for each in changed):
            yield path, "the design sets it in every trial"


def _fields_of_factors(experiment: Experiment) -> Iterator[tuple[str, Path]]:
    """Factor: the field that holds its level where nothing varies it."""
    for name in type(experiment.profile).model_fields:
        yield f"profile.{name}", ("profile", name)
    for name in experiment.workload.parameters:
        yield f"workload.{name}", ("workload", "parameters", name)
    for name in experiment.target.settings:
        yield f"target.{name}", ("target", "settings", name)
    for name in experiment.host:
        yield f"host.{name}", ("host", name)
