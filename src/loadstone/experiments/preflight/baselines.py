"""Whether the placements of an experiment can be measured themselves, as its `baseline` asks."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.experiments.designs.baselines import PLACED, baseline_workload, baselines
from loadstone.experiments.preflight.refusals import refuse_beyond_generator, refuse_unfit
from loadstone.factors.base import Parts
from loadstone.factors.in_force import unavailable_in
from loadstone.spec.design import CompareDesign, SweepDesign
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem, problems_of

_BASELINE: Path = ("baseline",)


def baseline_problems(experiment: Experiment) -> list[Problem]:
    """What keeps the baselines from being made; nothing where none are asked for."""
    if experiment.baseline is None:
        return []
    problems = [*_of_experiment(experiment), *_of_parameters(experiment)]
    return problems or list(_of_placements(experiment))


def _of_experiment(experiment: Experiment) -> Iterator[Problem]:
    """A database, whose placement is the factor, in one folder."""
    from loadstone.workloads.registry import kind_of

    design, workload = experiment.design, kind_of(experiment.workload)
    if workload.measures_places:
        said = f"workload {workload.name} measures its placements already: leave it out"
        yield Problem(_BASELINE, said)
    compared = isinstance(design, CompareDesign) and design.factor == PLACED
    swept = isinstance(design, SweepDesign) and PLACED in design.factors
    if not compared and not swept:
        yield Problem(
            _BASELINE,
            f"it measures the placements that are compared, and {PLACED} is no factor here: make "
            f"the design a compare or a sweep with {PLACED}",
        )
    for name, other in experiment.target.others.items():
        if other.data != experiment.target.data:
            where = ("target", "others", name, "data")
            yield Problem(
                where, "the placements of all systems are measured in target.data: write the same"
            )


def _of_parameters(experiment: Experiment) -> list[Problem]:
    from loadstone.workloads.registry import workload_class, workload_of

    spec = baseline_workload(experiment)
    model = workload_class(spec.name).Parameters
    if "fio" in spec.parameters:
        return [Problem((*_BASELINE, "fio"), "a baseline has a profile, and no job file")]
    try:
        model.model_validate(spec.parameters)
        tests = [step for step in workload_of(spec).steps() if step.column]
    except ValidationError as error:
        return problems_of(error, model, spec.parameters, _BASELINE)
    except LoadstoneError as error:
        return [Problem(_BASELINE, _said(error))]
    if not tests:
        said = f"profile {spec.parameters['profile']} has no tests of the disk: choose another"
        return [Problem((*_BASELINE, "profile"), said)]
    return []


def _of_placements(experiment: Experiment) -> Iterator[Problem]:
    """What the database may have and the folder may not; and programs that are missing."""
    from loadstone.results.statistics.ranks import FEWEST_PLACES
    from loadstone.workloads.registry import workload_of

    for ask in workload_of(baseline_workload(experiment)).tools(None).values():
        try:
            ask()
        except LoadstoneError as error:
            yield Problem(_BASELINE, _said(error))
            return
    try:
        known = baselines(experiment, design_of(experiment).variants(experiment))
    except LoadstoneError:
        return  # the design is wrong, and says so itself
    if len(known) < FEWEST_PLACES:
        yield Problem(
            _BASELINE,
            f"{len(known)} placements have no ranks that could be predicted: name "
            f"{FEWEST_PLACES} levels of {PLACED} at least",
        )
    for placement, parts in known.items():
        try:
            _refuse(parts)
        except LoadstoneError as error:
            yield Problem(_BASELINE, f"of {placement}: {_said(error)}")


def _refuse(parts: Parts) -> None:
    from loadstone.targets.registry import target_for

    target_for(parts.target).describe(parts.target)
    refuse_unfit(parts, "cold")
    refuse_beyond_generator(parts)
    unavailable_in(parts)


def _said(error: LoadstoneError) -> str:
    return f"{error.message} ({error.advice})" if error.advice else error.message
