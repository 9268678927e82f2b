"""Reads an experiment's folder as it lies there: whole, partial, or left by a killed run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from loadstone.errors import WrongInputError
from loadstone.results.record import DurabilityRecord, Notice, SkippedRung, Status, TrialResult
from loadstone.spec.model import CrashDesign, Experiment, SearchDesign
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.registry import workload_of


class PairRecord(BaseModel):
    """Two variants that the design compares."""

    model_config = ConfigDict(frozen=True)

    candidate: str
    baseline: str
    role: Literal["previous", "baseline", "pair"]


class DesignRecord(BaseModel):
    """What `design.json` holds."""

    model_config = ConfigDict(frozen=True)

    variants: list[Variant]
    pairs: list[PairRecord]
    command: str = ""
    kept: dict[str, bool] | None = None
    skipped: list[SkippedRung] = []


@dataclass(frozen=True)
class RecordedTrial:
    """One trial's files."""

    path: Path
    plan: TrialPlan
    result: TrialResult
    inventory: dict[str, Any]

    @property
    def counts(self) -> bool:
        """Whether its figures enter medians and comparisons; those of a crash never do."""
        return self.result.status is Status.VALID and not self.is_crash

    @property
    def is_crash(self) -> bool:
        """Whether it was to end by a failure."""
        return self.plan.crash is not None

    @property
    def workload(self) -> AnyWorkload | None:
        """None for one that this Loadstone cannot read: of another release, for instance."""
        try:
            return workload_of(self.plan.workload)
        except WrongInputError:
            return None


@dataclass(frozen=True)
class RecordedExperiment:
    """One experiment's files; trials in the order in which they ran."""

    path: Path
    experiment: Experiment
    design: DesignRecord
    trials: list[RecordedTrial]
    notices: list[Notice]
    """What could not be read, and why."""

    def trials_of(self, variant: str) -> list[RecordedTrial]:
        """All trials of a variant, whatever their status."""
        return [trial for trial in self.trials if trial.result.variant == variant]

    def valid_trials_of(self, variant: str) -> list[RecordedTrial]:
        """The trials of a variant whose figures count."""
        return [trial for trial in self.trials_of(variant) if trial.counts]

    def crashes_of(self, variant: str) -> list[DurabilityRecord]:
        """What the crashes of a variant showed, of those that show something."""
        return [
            trial.result.durability
            for trial in self.trials_of(variant)
            if trial.result.status is Status.VALID and trial.result.durability is not None
        ]


def expected_trials(experiment: Experiment) -> tuple[int, int]:
    """Measured trials and crashes that each variant has at least."""
    if isinstance(experiment.design, CrashDesign):
        return 0, experiment.design.crashes
    if isinstance(experiment.design, SearchDesign):
        return 0, 0  # each level has as many as it takes
    return experiment.repeats, 0 if experiment.durability is None else experiment.crashes


def read_experiment(folder: Path) -> RecordedExperiment:
    """Reads all of an experiment's folder but frames and samples.

    Args:
        folder: `results/<experiment>`.

    Raises:
        WrongInputError: If it is no folder of an experiment.
    """
    path = folder / "experiment.json"
    if not path.is_file():
        raise WrongInputError(
            f"{folder} is not the folder of an experiment: it has no experiment.json",
            advice="name a result that `loadstone list` shows",
        )
    try:
        experiment = Experiment.model_validate_json(path.read_bytes())
        design = _read_design(folder, experiment)
    except (ValueError, ValidationError) as error:
        raise WrongInputError(f"{folder} cannot be read: {error}") from error
    trials: list[RecordedTrial] = []
    notices: list[Notice] = []
    for trial in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        if not (trial / "plan.json").exists() and not (trial / "result.json").exists():
            continue
        try:
            trials.append(_read_trial(trial))
        except (OSError, ValueError) as error:
            notices.append(_unreadable(trial, error))
    trials.sort(key=lambda trial: (trial.result.order, trial.result.trial))
    return RecordedExperiment(folder, experiment, design, trials, notices)


def _read_design(folder: Path, experiment: Experiment) -> DesignRecord:
    path = folder / "design.json"
    if path.is_file():
        return DesignRecord.model_validate(_json(path))
    only = Variant(name=experiment.name, changes=[], step=[])
    return DesignRecord(variants=[only], pairs=[])


def _read_trial(folder: Path) -> RecordedTrial:
    inventory = folder / "inventory.json"
    return RecordedTrial(
        path=folder,
        plan=TrialPlan.model_validate_json((folder / "plan.json").read_bytes()),
        result=TrialResult.model_validate_json((folder / "result.json").read_bytes()),
        inventory=_json(inventory) if inventory.is_file() else {},
    )


def _json(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text("utf-8"))
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no JSON object")  # noqa: TRY004
    return value


def _unreadable(folder: Path, error: Exception) -> Notice:
    lines = str(error).splitlines() or [type(error).__name__]
    return Notice(
        code="unreadable-trial",
        severity="warning",
        message=f"trial {folder.name} cannot be read and is left out: {lines[0]}",
        advice="it was probably being written when the run was killed; run it again",
    )
