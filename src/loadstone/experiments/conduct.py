"""From an experiment to its results: the one path that every run takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import InterruptedTrialError, LeftBehindError, LoadstoneError
from loadstone.experiments.data import DataStates
from loadstone.experiments.designs import (
    design_of,
    stages_of,
    trials_of,
)
from loadstone.experiments.designs.baselines import measured_target
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.lab import Lab, Site
from loadstone.experiments.log_in import refuse_shut_out
from loadstone.experiments.metering import find_meters
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.baselines import baseline_problems
from loadstone.experiments.preflight.cautions import cautions
from loadstone.experiments.preflight.check import changes_of
from loadstone.experiments.preflight.crashes import crash_problems
from loadstone.experiments.preflight.outages import outage_problems
from loadstone.experiments.preflight.reach import bound_notices, bound_of
from loadstone.experiments.preflight.refusals import (
    refuse_claimed_host,
    refuse_impossible,
    refuse_problems,
    refuse_unavailable,
    refuse_unfit,
    refuse_unsafe,
)
from loadstone.experiments.preflight.space import refuse_overfull
from loadstone.experiments.putting_back import put_back
from loadstone.experiments.series import Series, write_design
from loadstone.factors.registry import apply_changes
from loadstone.factors.target import OTHER_TARGET, level_text
from loadstone.host.state import HostState
from loadstone.journal import Journal, make_folder_of_pointers
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.files import full_disk_said
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import Notice
from loadstone.results.trial_files import JOURNAL_FILE
from loadstone.spec.model import Experiment
from loadstone.spec.target import PlaceOfSystem, TargetSpec
from loadstone.targets.base import Target, TargetContext
from loadstone.targets.registry import target_for


@dataclass(frozen=True)
class RunOptions:
    """What the user said beside the experiment."""

    results: Path
    """Folder of all results."""
    command: str
    """What was typed, for the record."""
    allow_unsafe: bool = False
    """Settings that can lose acknowledged commits may be applied."""
    force: bool = False
    """A database that is not marked as Loadstone's may be used."""


def conduct(experiment: Experiment, options: RunOptions, observer: Observer) -> Path:
    """Runs an experiment.

    Trials that fail are recorded and the rest is made all the same, except when the first ones
    fail: then nothing is to be expected of the others.

    Returns:
        The folder of its results.

    Raises:
        LoadstoneError: If it cannot be begun.
        LeftBehindError: After everything was written, if something could not be put back.
        InterruptedTrialError: After everything was written and put back, if it was interrupted.
    """
    examine(experiment, allow_unsafe=options.allow_unsafe)
    stages = stages_of(experiment, allow_unsafe=options.allow_unsafe)
    if bound := bound_of(experiment):
        stages = stages.kept_to(bound)
    make_folder_of_pointers()
    folder = ExperimentFolder.create(options.results, experiment.name)
    experiment = experiment.model_copy(update={"name": folder.name})
    folder.write_experiment(experiment)
    write_design(folder, stages, options.command)
    begun = stages.variants or design_of(experiment).variants(experiment)
    observer.experiment_begins(experiment, begun, trials_of(experiment))
    for rung in stages.skipped:
        observer.notice(rung.notice())
    for notice in [*cautions(experiment, begun), *bound_notices(experiment, bound)]:
        observer.notice(notice)
    interrupts = Interrupts()
    try:
        with (
            full_disk_said(folder.path),
            interrupts.installed(),
            _lab(experiment, folder, options, observer, interrupts) as lab,
        ):
            Series(experiment, stages, folder, lab, options.command).make()
    except LeftBehindError:  # that is told, interrupted or not
        raise
    except Exception as error:
        if interrupts.requested:
            raise _interrupted(folder) from error
        folder.remove_unless_begun()
        raise
    finally:
        if folder.path.exists():
            _index(folder, observer)
        observer.experiment_ends(folder.path)
    if interrupts.requested:
        raise _interrupted(folder)
    return folder.path


def _interrupted(folder: ExperimentFolder) -> InterruptedTrialError:
    return InterruptedTrialError(
        f"interrupted; what was measured is in {folder.path}",
        advice=f"loadstone report {folder.path}",
    )


def examine(experiment: Experiment, *, allow_unsafe: bool) -> None:
    """Refuses what cannot or must not be run, before anything is touched.

    Raises:
        LoadstoneError: With the reason.
    """
    design = design_of(experiment)
    variants = design.variants(experiment)
    refuse_impossible(experiment, [change for _, change in changes_of(experiment)])
    for variant in variants:
        parts = apply_changes(experiment, variant.changes)
        target_for(parts.target).describe(parts.target)
        refuse_unfit(parts, experiment.cache)
    refuse_unavailable(experiment, variants, design.skipped(experiment))
    refuse_problems("the baselines of the placements", baseline_problems(experiment))
    refuse_problems("crash trials", crash_problems(experiment))
    refuse_problems("the outage", outage_problems(experiment))
    refuse_overfull(experiment, variants)
    refuse_unsafe(experiment, variants, allowed=allow_unsafe)
    refuse_claimed_host(experiment, variants)


@contextmanager
def _lab(
    experiment: Experiment,
    folder: ExperimentFolder,
    options: RunOptions,
    observer: Observer,
    interrupts: Interrupts,
) -> Iterator[Lab]:
    """The targets, open, once all meters were found; everything is put back at the end."""
    journal = Journal(folder.path / JOURNAL_FILE, options.command)
    context = TargetContext(
        journal=journal,
        owner=experiment.name,
        force=options.force,
    )
    host = HostState(journal)
    targets: list[Target] = []
    failed: list[Exception] = []
    try:
        metering = find_meters(experiment, journal, observer)
        targets += (target_for(spec)(spec.alone, context) for spec in systems(experiment))
        refuse_shut_out(experiment, targets, observer)
        for number, target in enumerate(targets):
            observer.activity(f"starting the target ({target.engine})")
            target.open()
            if number:
                target.stop()
        yield Lab(
            [Site(target, DataStates(target, observer)) for target in targets],
            journal,
            interrupts,
            observer,
            host,
            metering,
        )
    except Exception as error:
        if not interrupts.requested:
            failed.append(error)
        raise
    finally:
        with interrupts.shielded():
            observer.activity("putting things back")
            put_back([*(each.close for each in reversed(targets)), host.put_back], journal, failed)


def systems(experiment: Experiment) -> list[TargetSpec]:
    """The systems under test, as the experiment has them, in the order in which they are used."""
    base = experiment.target
    found: dict[PlaceOfSystem, TargetSpec] = {}
    for variant in design_of(experiment).variants(experiment):
        levels = [change.level for change in variant.changes if change.factor == OTHER_TARGET]
        spec = base.other(level_text(levels[-1])) if levels else base
        found.setdefault(spec.site, spec)
    if experiment.baseline is not None:
        folder = measured_target(experiment)
        found.setdefault(folder.site, folder)
    return list(found.values())


def _index(folder: ExperimentFolder, observer: Observer) -> None:
    """Lists the results; the files are the truth, so a failure is said and hides nothing."""
    from loadstone.results.store import index_experiment  # a second of SQLAlchemy, after the load

    try:
        index_experiment(folder.path, finish_interrupted)
    except LoadstoneError as error:
        observer.notice(
            Notice(
                code="not-indexed",
                severity="warning",
                message=error.message,
                advice=error.advice or "",
            )
        )
