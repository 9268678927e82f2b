"""The variants of an experiment: what each changes, and its figures."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.factors.target import OTHER_TARGET
from loadstone.report.figures import figures
from loadstone.report.model.variants import ChangeText, MetricInfo, VariantReport
from loadstone.report.reading import RecordedExperiment
from loadstone.results.durability import verdict
from loadstone.results.record import Status
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant
from loadstone.spec.target import PartSpec


def variant_reports(
    folder: RecordedExperiment, metrics: Sequence[MetricInfo]
) -> list[VariantReport]:
    """All variants in the design's order, also those without a valid trial."""
    return [_report(folder, variant, metrics) for variant in folder.design.variants]


def _report(
    folder: RecordedExperiment, variant: Variant, metrics: Sequence[MetricInfo]
) -> VariantReport:
    trials = folder.trials_of(variant.name)
    # A crash runs on another device than the figures: its settings count only where it is all.
    measured = [trial for trial in trials if not trial.is_crash] or trials
    unsafe = {setting: None for trial in measured for setting in trial.result.unsafe}
    return VariantReport(
        name=variant.name,
        previous=variant.previous,
        step=[
            ChangeText(
                factor=change.factor,
                before=_level_before(folder, variant, change.factor),
                after=change.level,
            )
            for change in variant.step
        ],
        levels={change.factor: change.level for change in variant.changes},
        several=len(variant.step) > 1,
        because=variant.because,
        unsafe=list(unsafe),
        kept=(folder.design.kept or {}).get(variant.name),
        trials=[trial.result.trial for trial in trials],
        disturbed=sum(trial.result.status is Status.DISTURBED for trial in trials),
        figures=figures(
            folder.valid_trials_of(variant.name), metrics, folder.experiment.confidence
        ),
        durability=verdict(folder.crashes_of(variant.name), folder.experiment.confidence),
    )


def _level_before(folder: RecordedExperiment, variant: Variant, factor: str) -> Level | None:
    """The factor's level in the variant before: declared there or in the base; else the default.

    Of a setting of the host, which has no default, what was there before it was set.
    """
    previous = next((v for v in folder.design.variants if v.name == variant.previous), None)
    for change in previous.changes if previous else []:
        if change.factor == factor:
            return change.level
    base = _base_level(folder.experiment, factor)
    if base is None and factor.startswith("host."):
        return _found(folder, variant, factor)
    return base


def _found(folder: RecordedExperiment, variant: Variant, factor: str) -> Level | None:
    """What the first trial of a variant found before it set the factor."""
    readings = [
        reading
        for trial in folder.trials_of(variant.name)
        for reading in trial.result.factors
        if reading.factor == factor
    ]
    return readings[0].before if readings else None


def _base_level(experiment: Experiment, factor: str) -> Level | None:
    kind, _, name = factor.partition(".")
    if factor == OTHER_TARGET:
        return experiment.target.engine
    if kind == "target":
        return experiment.target.named_settings.get(name)
    if kind == "host":
        return experiment.host.get(name)
    value: object
    if kind == "workload":
        value = experiment.workload.parameters.get(name)
    elif kind == "storage":
        part, _, role = name.rpartition(".")
        owner = experiment.target.parts.get(part, PartSpec()) if part else experiment.target
        value = getattr(owner.storage, role, None)
    else:
        value = getattr(experiment.profile, name, None)
    return value if isinstance(value, bool | int | float | str) else None
