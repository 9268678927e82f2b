"""Reads an experiment's folder as it lies there: whole, partial, or left by a killed run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from loadstone.errors import WrongInputError
from loadstone.results.frames import FRAMES_FILE
from loadstone.results.metrics import all_metrics
from loadstone.results.record import (
    DurabilityRecord,
    LevelBound,
    Notice,
    SkippedRung,
    Status,
    TrialResult,
)
from loadstone.results.standing import NOTHING_TAKEN, Standing, standing, with_status
from loadstone.results.trial_files import (
    DESIGN_FILE,
    EXPERIMENT_FILE,
    INVENTORY_FILE,
    PLAN_FILE,
    RESULT_FILE,
    read_json,
    read_model,
)
from loadstone.spec.design import CrashDesign, LadderDesign, SearchDesign, looks_in
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.registry import workload_of

_OF_A_TRIAL = (PLAN_FILE, RESULT_FILE, FRAMES_FILE)
"""A folder with one of these is, or was, that of a trial."""


_NOT_ENDED = (Status.RUNNING, Status.INTERRUPTED)


class PairRecord(BaseModel):
    """Two variants that the design compares."""

    model_config = ConfigDict(frozen=True)

    candidate: str
    baseline: str
    role: Literal["previous", "baseline", "pair"]
    decided_among: int | None = None
    first_block: int = 1
    metric: str | None = None
    """The only one by which they are compared; None: every one that no pair names."""


class DesignRecord(BaseModel):
    """What `design.json` holds."""

    model_config = ConfigDict(frozen=True)

    variants: list[Variant]
    pairs: list[PairRecord]
    command: str = ""
    kept: dict[str, bool] | None = None
    skipped: list[SkippedRung] = []
    bound: LevelBound | None = None


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
    """One experiment's files; trials in the order in which they ran.

    Trials that measured a placement itself stand apart: they are of no variant.
    """

    path: Path
    experiment: Experiment
    design: DesignRecord
    trials: list[RecordedTrial]
    notices: list[Notice]
    """What could not be read, and why."""
    baselines: list[RecordedTrial] = field(default_factory=list)
    standing: Standing = NOTHING_TAKEN
    """What was taken from its trials, and which are left out for it."""

    @property
    def all_trials(self) -> list[RecordedTrial]:
        """Baselines of placements among them."""
        return sorted([*self.trials, *self.baselines], key=_in_order)

    def of_placements(self) -> RecordedExperiment:
        """The baselines as an experiment of their own, a variant for each placement.

        Raises:
            ValueError: If there are none.
        """
        if not self.baselines:
            raise ValueError(f"{self.path.name} has no baselines of placements")
        first = self.baselines[0].plan
        variants = {trial.plan.variant.name: trial.plan.variant for trial in self.baselines}
        experiment = self.experiment.model_copy(
            update={"workload": first.workload, "target": first.target, "metric": None}
        )
        design = DesignRecord(variants=list(variants.values()), pairs=[])
        return replace(
            self, experiment=experiment, design=design, trials=self.baselines, baselines=[]
        )

    def with_all(self) -> RecordedExperiment:
        """The same, with no trial left out for what was taken from it."""
        return self._counting(frozenset())

    def without_marked(self) -> RecordedExperiment:
        """The same, with each trial left out that is marked for what was taken from it."""
        return self._counting(frozenset(self.standing.marked))

    def _counting(self, left_out: frozenset[str]) -> RecordedExperiment:
        def told(trials: Sequence[RecordedTrial]) -> list[RecordedTrial]:
            out = [trial.result.trial in left_out for trial in trials]
            return [
                replace(trial, result=with_status(trial.result, left_out=is_out))
                for trial, is_out in zip(trials, out, strict=True)
            ]

        return replace(self, trials=told(self.trials), baselines=told(self.baselines))

    def trials_of(self, variant: str) -> list[RecordedTrial]:
        """All trials of a variant, whatever their status."""
        return [trial for trial in self.trials if trial.result.variant == variant]

    def valid_trials_of(self, variant: str) -> list[RecordedTrial]:
        """The trials of a variant whose figures count."""
        return [trial for trial in self.trials_of(variant) if trial.counts]

    def pairs_by(self, metric: str) -> list[PairRecord]:
        """The pairs that are compared by a metric: those that name it, else those that name none.

        One that names it is left out where its candidate has no such figure at all: an application
        that runs in some cells only has one in these.
        """
        named = [pair for pair in self.design.pairs if pair.metric == metric]
        if not named:
            return [pair for pair in self.design.pairs if pair.metric is None]
        return [pair for pair in named if self._may_have(pair.candidate, metric)]

    def _may_have(self, variant: str, metric: str) -> bool:
        """Whether a variant has the figure, or no valid trial that could tell."""
        trials = self.valid_trials_of(variant)
        names = {each.name for trial in trials for each in all_metrics(trial.result)}
        return not trials or metric in names

    def blocks_made(self, pair: PairRecord) -> int:
        """Blocks of the stage of a pair in which each trial came to an end, valid or not."""
        design = self.experiment.design
        names = {variant.name for variant in self.design.variants}
        if isinstance(design, LadderDesign) and design.keep == "better":
            names = {pair.candidate, pair.baseline}
        ended = {
            (trial.result.block, trial.result.variant)
            for trial in self.trials
            if not trial.is_crash and trial.result.status not in _NOT_ENDED
        }
        made = 0
        while all((pair.first_block + made, name) in ended for name in names):
            made += 1
        return made

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
    measured = next(iter(looks_in(experiment.design)), experiment.repeats)
    return measured, 0 if experiment.durability is None else experiment.crashes


def read_experiment(folder: Path) -> RecordedExperiment:
    """Reads all of an experiment's folder but frames and samples.

    Args:
        folder: `results/<experiment>`.

    Raises:
        WrongInputError: If it is no folder of an experiment.
    """
    if not (folder / EXPERIMENT_FILE).is_file():
        raise WrongInputError(
            f"{folder} is not the folder of an experiment: it has no {EXPERIMENT_FILE}",
            advice="name a result that `loadstone list` shows",
        )
    experiment = read_model(folder / EXPERIMENT_FILE, Experiment)
    trials: list[RecordedTrial] = []
    notices: list[Notice] = []
    for trial in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        if not any((trial / name).exists() for name in _OF_A_TRIAL):
            continue
        try:
            trials.append(_read_trial(trial, notices))
        except WrongInputError as error:
            notices.append(_left_out(trial, error.message))
    trials.sort(key=_in_order)
    measured = [trial for trial in trials if trial.plan.baseline_of is None]
    baselines = [trial for trial in trials if trial.plan.baseline_of is not None]
    design = _read_design(folder, experiment, measured, notices)
    found = standing([trial.result for trial in trials], experiment.disturbance)
    read = RecordedExperiment(folder, experiment, design, measured, notices, baselines, found)
    return read._counting(found.left_out)


def _in_order(trial: RecordedTrial) -> tuple[int, str]:
    return trial.result.order, trial.result.trial


def _read_design(
    folder: Path,
    experiment: Experiment,
    trials: Sequence[RecordedTrial],
    notices: list[Notice],
) -> DesignRecord:
    """What is compared with what; of a folder that has lost it the variants of its trials."""
    try:
        return read_model(folder / DESIGN_FILE, DesignRecord)
    except WrongInputError as error:
        notices.append(damaged(f"{error.message}: nothing is compared"))
    variants = {trial.plan.variant.name: trial.plan.variant for trial in trials}
    only = Variant(name=experiment.name, changes=[], step=[])
    return DesignRecord(variants=list(variants.values()) or [only], pairs=[])


def _read_trial(folder: Path, notices: list[Notice]) -> RecordedTrial:
    plan = read_model(folder / PLAN_FILE, TrialPlan)
    result = read_model(folder / RESULT_FILE, TrialResult)
    if result.repeat_command:  # it names the folder in which the trial was made
        again = f"loadstone run {shlex.quote(str(folder / PLAN_FILE))}"
        result = result.model_copy(update={"repeat_command": again})
    inventory: dict[str, Any] = {}
    # A trial that did not come to its load has none.
    if result.fingerprint is not None or (folder / INVENTORY_FILE).exists():
        try:
            inventory = read_json(folder / INVENTORY_FILE)
        except WrongInputError as error:
            notices.append(damaged(error.message))
    return RecordedTrial(path=folder, plan=plan, result=result, inventory=inventory)


def damaged(what: str) -> Notice:
    """That a file of a result is missing or cannot be read to its end.

    Args:
        what: Which file, and what is wrong with it.
    """
    return Notice(
        code="damaged-file",
        severity="warning",
        message=f"{what}; what it held is not in this report",
        advice="copy the folder again from where it was made",
    )


def _left_out(trial: Path, why: str) -> Notice:
    return Notice(
        code="unreadable-trial",
        severity="warning",
        message=f"trial {trial.name} is left out: {why}",
        advice="copy the folder again; where a killed run was writing it, run it again",
    )
