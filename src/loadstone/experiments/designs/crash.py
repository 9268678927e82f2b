"""Crash trials: the design `crash`, and the crashes that any other design can ask for at its end.

A crash trial has the load of its block and ends early: at a moment that is drawn from the trial's
seed, so that the same plan crashes at the same moment again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import ClassVar

from loadstone.experiments.designs.arrange import arrange
from loadstone.experiments.designs.base import BASELINE, AllAtOnce, Around, Design, Pair, Stages
from loadstone.placements import place
from loadstone.results.record import TrialResult
from loadstone.spec.design import CrashDesign, Failure
from loadstone.spec.model import Experiment
from loadstone.spec.plans import CrashPlan, TrialPlan, Variant
from loadstone.spec.target import StorageSpec, TargetSpec

LEAST_AFTER_S, MOST_AFTER_S = 2.0, 6.0
"""Seconds of measured load before a failure, drawn uniformly."""
PLAIN_FOLDER = "loop:ext4"
"""What a plain folder counts as when its disk is to lose power: ext4 with its default options."""


class Crash(Design):
    """One configuration, crashed again and again under load."""

    kind: ClassVar[str] = "crash"
    about: ClassVar[str] = "one configuration, crashed under load: what was acknowledged survives?"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """The base alone."""
        return [Variant(name=BASELINE, changes=[], step=[])]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Nothing to compare."""
        return []

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """Crash trials and nothing else."""
        variants = self.variants(experiment)
        plans = crash_trials(experiment, _crash(experiment), variants, allow_unsafe=allow_unsafe)
        return AllAtOnce(variants, [], plans)

    def first_block(self, experiment: Experiment) -> int:
        """As the file says: a crash can be made again."""
        return _crash(experiment).first_block

    def trials_planned(self, experiment: Experiment) -> int:
        """The crashes."""
        return _crash(experiment).crashes


class CrashesAfter(Around):
    """The stages of another design, then crashes of every variant that they had."""

    def __init__(
        self, experiment: Experiment, failure: Failure, measured: Stages, allow_unsafe: bool
    ) -> None:
        super().__init__(measured)
        self._experiment = experiment
        self._design = CrashDesign(failure=failure, crashes=experiment.crashes)
        self._allow_unsafe = allow_unsafe
        self._crashed = False

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """The design's stages, and when they are done all crashes."""
        measured = [result for result in results if result.durability is None]
        plans = self._measured.next(measured)
        if plans or self._crashed:
            return plans
        self._crashed = True
        return crash_trials(
            self._experiment,
            self._design,
            self.variants,
            first_order=len(results) + 1,
            allow_unsafe=self._allow_unsafe,
        )


def crash_trials(
    experiment: Experiment,
    design: CrashDesign,
    variants: Sequence[Variant],
    *,
    first_order: int = 1,
    allow_unsafe: bool = False,
) -> list[TrialPlan]:
    """Crashes of every variant, in randomised blocks as trials are.

    Args:
        experiment: Gives base and seed.
        design: How they fail, and how often each.
        variants: Each is in every block once.
        first_order: Position of the first among all trials of the experiment.
        allow_unsafe: The user's leave, kept in each plan.

    Raises:
        WrongInputError: If the data of a variant lie where no power can be cut.
    """
    plans = arrange(
        experiment.model_copy(update={"repeats": design.crashes}),
        variants,
        first_block=design.first_block,
        first_order=first_order,
        allow_unsafe=allow_unsafe,
    )
    return [_crashed(plan, design.failure) for plan in plans]


def _crashed(plan: TrialPlan, failure: Failure) -> TrialPlan:
    after_s = random.Random(f"{plan.seed}/crash").uniform(LEAST_AFTER_S, MOST_AFTER_S)
    crash, target = CrashPlan(failure=failure, after_s=round(after_s, 3)), plan.target
    if failure == "power-loss":
        crash = crash.model_copy(update={"in_place_of": target.storage.data or "a plain folder"})
        target = on_volatile_devices(target)
    trial = f"c{plan.trial[1:]}"
    return plan.model_copy(update={"trial": trial, "crash": crash, "target": target})


def on_volatile_devices(target: TargetSpec) -> TargetSpec:
    """The target with its data, and what lies apart from them, where a power loss can be made.

    Raises:
        WrongInputError: If there is no such form of a placement, with the reason.
    """
    texts = {"data": PLAIN_FOLDER, **target.storage.named}
    volatile = {role: place.parse(text).volatile().text for role, text in texts.items()}
    return target.model_copy(update={"storage": StorageSpec(**volatile)})


def _crash(experiment: Experiment) -> CrashDesign:
    assert isinstance(experiment.design, CrashDesign)  # noqa: S101
    return experiment.design
