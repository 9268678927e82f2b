"""What an experiment would do, as a value: its trials, its factors, its time and its space."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.cli.detection import Detection, detection_of
from loadstone.cli.durations import experiment_s, trial_load_s
from loadstone.cli.earlier import Around, around_earlier
from loadstone.errors import RefusedError
from loadstone.experiments.designs import (
    baselines_of,
    crashes_of,
    design_of,
    stages_of,
    trials_of,
)
from loadstone.experiments.designs.baselines import baselines
from loadstone.experiments.designs.looks import look_limits
from loadstone.experiments.designs.search import rules_of
from loadstone.experiments.preflight.check import changes_of
from loadstone.experiments.preflight.offered import offered_notices
from loadstone.experiments.preflight.reach import bound_notices, bound_of
from loadstone.experiments.preflight.refusals import refuse_unavailable
from loadstone.experiments.preflight.space import (
    growth_bytes,
    most_growth_bytes,
    refuse_overfull,
)
from loadstone.factors.base import Parts
from loadstone.factors.host import HostFactor, present
from loadstone.factors.in_force import in_force, parts_of, unsafe_in
from loadstone.factors.registry import apply_changes, base_parts, factor_kind
from loadstone.load.resources import Resources
from loadstone.results.record import SkippedRung
from loadstone.spec.base import Level
from loadstone.spec.design import LadderDesign, looks_in
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, TrialPlan, Variant


@dataclass(frozen=True)
class FactorLine:
    """One level of one factor."""

    factor: str
    level: Level
    needs: str
    unsafe: bool
    refused: str | None
    unavailable: str | None = None
    """Why this machine cannot have it so: absent or denied."""
    present: str | None = None
    """What it is now, of a setting of the host."""


@dataclass(frozen=True)
class TrialLine:
    """One trial."""

    order: int
    trial: str
    block: int
    variant: str
    unsafe: list[str]
    crash: str = ""
    """How it ends: `power-loss after 3.2 s`; empty for a measured trial."""
    baseline_of: str | None = None
    """The placement that is measured itself."""


@dataclass(frozen=True)
class LookLine:
    """The looks of the comparisons that are judged together."""

    among: int
    """How many these are."""
    levels: int
    """How many share their scatter."""
    blocks: list[int]
    limits: list[float]
    """|t| that stops at each."""


@dataclass(frozen=True)
class MatrixLine:
    """A matrix of configurations and tests, and what a block of it costs."""

    configurations: int
    tests: int
    block_s: float
    """About; one trial of each configuration with all its tests."""
    fewest_blocks: int
    """With fewer no verdict is given on any test."""
    pairs: int
    """Judged together where the best of a test is named: all that there are."""


@dataclass(frozen=True)
class BaselineLine:
    """The baselines of the placements, and what their ranks can show."""

    workload: str
    """What each is: tests and their time."""
    placements: int
    trials: int
    load_s: float
    """Of one."""
    files_bytes: int | None
    """Of one."""
    tests: int
    least_p: float
    """Of a test that ranks all placements as the database does, after Holm's correction."""
    fewest_placements: int
    """With as many such a test could be shown to predict."""
    alpha: float


@dataclass(frozen=True)
class Outlook:
    """The whole."""

    experiment: Experiment
    variants: list[Variant]
    trials: list[TrialLine]
    """Of the first stage; all of them, crashes last, unless rungs are decided on the way."""
    trials_at_most: int
    trials_at_least: int
    """Fewer where it may stop at a look."""
    looks: list[LookLine]
    matrix: MatrixLine | None
    """None where no tests are compared one by one."""
    baseline: BaselineLine | None
    """None where the placements are not measured themselves."""
    factors: list[FactorLine]
    settings: list[FactorLine]
    skipped: list[SkippedRung]
    """Rungs that this machine cannot climb."""
    impossible: str | None
    """Why this machine cannot run it at all."""
    duration_s: float | None
    """About; load and what is around it, without loading the data once. None: its work runs to its
    end, and no earlier trial tells how long that takes."""
    around: Around | None
    """What a trial takes beside its load, as measured earlier; None: that is not known yet."""
    data_bytes: int | None
    """About; of one copy of the loaded data of all variants, if it is known."""
    resources: Resources | None
    """What the largest load takes of this machine; None where that is not known before."""
    growth_bytes: int | None
    """About; of what the trial that writes most adds to the database, if it is known."""
    free_bytes: int
    soak_s: float | None
    """How long the level that a search finds must hold; None of other designs."""
    too_few_repeats: str | None
    """Why its comparisons can show nothing, if they cannot."""
    offered: list[str]
    """The metrics of verdicts that no level can change, with the reason."""
    bounded: list[str]
    """That a search ends at what this machine can make, with the level and the reason."""
    detection: Detection | None
    """How the change is found that it is to find; None where none is named."""


def look_ahead(
    experiment: Experiment, data_folder: Path, results: Path, resources: Resources | None = None
) -> Outlook:
    """What the experiment would do, without starting anything.

    Args:
        experiment: Checked.
        data_folder: Where the data of an owned server would lie.
        results: Folder of earlier results.
        resources: What was counted when it was checked.

    Raises:
        LoadstoneError: If it cannot be planned.
    """
    design = design_of(experiment)
    variants = design.variants(experiment)
    stages = stages_of(experiment, allow_unsafe=True)
    plans = stages.next([])
    at_most = trials_of(experiment)
    crashes = crashes_of(experiment)
    if len(plans) == at_most - crashes:
        plans += stages.next([])
    around = around_earlier(experiment, results)
    trials = _trials(plans)
    unsafe = any(trial.unsafe for trial in trials)
    duration_s = experiment_s(
        experiment,
        plans,
        around.seconds if around else None,
        around.load_s if around else None,
    )
    return Outlook(
        experiment=experiment,
        variants=variants,
        trials=trials,
        trials_at_most=at_most,
        trials_at_least=_at_least(experiment, at_most, crashes),
        looks=_looks(experiment),
        matrix=None if duration_s is None else _matrix(experiment, duration_s / max(at_most, 1)),
        baseline=_baseline(experiment, variants, plans),
        factors=_factors(experiment),
        settings=_settings(experiment),
        skipped=stages.skipped,
        impossible=_impossible(experiment, variants, stages.skipped),
        duration_s=duration_s,
        around=around,
        data_bytes=_data_bytes(experiment, variants),
        resources=resources,
        growth_bytes=most_growth_bytes(experiment, variants),
        free_bytes=shutil.disk_usage(_existing(data_folder)).free,
        soak_s=rules_of(experiment).soak_s if experiment.design.kind == "search" else None,
        too_few_repeats=too_few_repeats(experiment),
        offered=[notice.message for notice in offered_notices(experiment)],
        bounded=[notice.message for notice in bound_notices(experiment, bound_of(experiment))],
        detection=detection_of(experiment, results, unsafe=unsafe),
    )


def too_few_repeats(experiment: Experiment) -> str | None:
    """Why none of its comparisons can show a difference, however large; None if they can.

    It is better known before an hour of trials than after it.
    """
    design = design_of(experiment)
    if not design.pairs(experiment):
        return None
    from loadstone.results.statistics import fewest_blocks

    needed = fewest_blocks(design.levels_per_block(experiment))
    if experiment.repeats >= needed:
        return None
    return (
        f"repeats: {experiment.repeats} can show no difference, however large it is; "
        f"{needed} is the least"
    )


def _matrix(experiment: Experiment, trial_s: float) -> MatrixLine | None:
    """What a block costs, where several configurations are compared test by test.

    Args:
        experiment: Checked.
        trial_s: About how long a trial takes, with all around it.
    """
    from loadstone.results.statistics import fewest_blocks
    from loadstone.workloads.registry import workload_of

    design = design_of(experiment)
    tests = [step for step in workload_of(experiment.workload).steps() if step.column]
    if not tests or not design.pairs(experiment):
        return None
    levels = design.levels_per_block(experiment)
    return MatrixLine(
        configurations=len(design.variants(experiment)),
        tests=len(tests),
        block_s=levels * trial_s,
        fewest_blocks=fewest_blocks(levels),
        pairs=levels * (levels - 1) // 2,
    )


def _baseline(
    experiment: Experiment, variants: Sequence[Variant], plans: Sequence[TrialPlan]
) -> BaselineLine | None:
    from loadstone.results.statistics.ranks import fewest_places, least_p
    from loadstone.workloads.registry import workload_of

    known = list(baselines(experiment, variants).values())
    if not known:
        return None
    parts, alpha = known[0], 1.0 - experiment.confidence
    workload = workload_of(parts.workload)
    tests = sum(bool(step.column) for step in workload.steps())
    return BaselineLine(
        workload=workload.arrival(parts.profile),
        placements=len(known),
        trials=baselines_of(experiment),
        load_s=next(trial_load_s(plan) for plan in plans if plan.baseline_of is not None),
        files_bytes=growth_bytes(parts),
        tests=tests,
        least_p=min(1.0, tests * least_p(len(known))),
        fewest_placements=fewest_places(tests, alpha),
        alpha=alpha,
    )


def _at_least(experiment: Experiment, at_most: int, crashes: int) -> int:
    """Trials if every stage is decided at its first look, and no rung is kept."""
    design, looks = design_of(experiment), looks_in(experiment.design)
    if not looks:
        return at_most
    ladder = experiment.design
    climbs = isinstance(ladder, LadderDesign) and ladder.keep == "better"
    stages = len(design.variants(experiment)) - 1 if climbs else 1
    measured = stages * design.levels_per_block(experiment) * looks[0]
    return measured + baselines_of(experiment, looks[0]) + crashes


def _looks(experiment: Experiment) -> list[LookLine]:
    if not looks_in(experiment.design):
        return []
    design = design_of(experiment)
    levels = design.levels_per_block(experiment)
    return [
        LookLine(among, levels, list(looks.blocks), list(looks.limits))
        for among, looks in look_limits(design, experiment).items()
    ]


def _trials(plans: Sequence[TrialPlan]) -> list[TrialLine]:
    """A line for each; a variant is examined once, measured or crashed."""
    kinds = {(plan.variant.name, plan.crash is None): plan for plan in plans}
    unsafe = {kind: unsafe_in(parts_of(plan)) for kind, plan in kinds.items()}
    return [
        TrialLine(
            order,
            plan.trial,
            plan.block,
            plan.variant.name,
            unsafe[plan.variant.name, plan.crash is None],
            f"{plan.crash.failure} after {plan.crash.after_s:.1f} s" if plan.crash else "",
            plan.baseline_of,
        )
        for order, plan in enumerate(plans, start=1)
    ]


def _factors(experiment: Experiment) -> list[FactorLine]:
    parts = base_parts(experiment)
    return [_line(parts, change) for _, change in changes_of(experiment)]


def _settings(experiment: Experiment) -> list[FactorLine]:
    """What all trials share: of the target, of where its data lie, of the host."""
    parts = base_parts(experiment)
    return [_line(parts, change) for change in in_force(parts)]


def _line(parts: Parts, change: Change) -> FactorLine:
    kind, name = factor_kind(change.factor)
    info = kind.examine(parts, name, change.level)
    return FactorLine(
        info.factor,
        info.level,
        info.needs,
        info.unsafe,
        info.refused,
        info.unavailable,
        present(name, parts.target) if kind.prefix == HostFactor.prefix else None,
    )


def _impossible(
    experiment: Experiment, variants: list[Variant], skipped: list[SkippedRung]
) -> str | None:
    try:
        refuse_unavailable(experiment, variants, skipped)
        refuse_overfull(experiment, variants)
    except RefusedError as error:
        return error.message
    return None


def _data_bytes(experiment: Experiment, variants: list[Variant]) -> int | None:
    """One copy of each different data set."""
    from loadstone.workloads.registry import workload_of

    sizes: dict[str, int] = {}
    for variant in variants:
        workload = workload_of(apply_changes(experiment, variant.changes).workload)
        size = workload.expected_size_bytes()
        if size is None:
            return None
        sizes[repr(sorted(workload.data_key().items()))] = size
    return sum(sizes.values())


def _existing(folder: Path) -> Path:
    """The folder, or the nearest around it that is there."""
    return next((each for each in (folder, *folder.absolute().parents) if each.exists()), Path("/"))
