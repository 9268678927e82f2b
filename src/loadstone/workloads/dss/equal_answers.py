"""Do the trials of an experiment that asked the same have the same answers?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from loadstone.protocol.steps import StepRun
from loadstone.results.record import CheckResult, Status, TrialResult
from loadstone.results.trial_files import RESULT_FILE, read_plan, read_result
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.answers import difference
from loadstone.workloads.dss.checks import PUBLISHED, REFERENCE, answer_file, answered, read_answer
from loadstone.workloads.dss.metrics import REFRESHES
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.published import TIED
from loadstone.workloads.dss.queries import NUMBERS, operation
from loadstone.workloads.dss.rounds import POWER, VALIDATION_STREAM

EQUAL = CheckSpec(
    "answers equal those of other trials",
    "of the same experiment, at any scale and on any engine: each row and value, in order, of the "
    "validation, and of power runs of the same seed after the same refresh 1. The other trial is "
    "the first that passed one of the two above, else the first that counts, else the first that "
    "ended; never one whose answers were refuted",
)
_OF_ALL = {PUBLISHED.name, REFERENCE.name}
"""Checks that hold answers against some that were not made by a trial."""
_OF_ANSWERS = {*_OF_ALL, EQUAL.name}


def check_equal(folder: Path, steps: Sequence[StepRun]) -> CheckResult | None:
    """The answers equal those of an earlier trial of the experiment that asked the same.

    The validation asks the same in all trials of a scale, before anything is changed. The power run
    does in those that drew the same load, after the same refresh 1 or none.

    Args:
        folder: Of the trial.
        steps: All that ended.

    Returns:
        None if there is no such trial. Of a stream in which another trial has answers and this one
        none at all, nothing was shown: the check has failed.
    """
    own = _Trial(folder)
    inserted = any(
        (step.stream, step.operation) == (POWER, refresh.INSERT) and step.ended_well
        for step in steps
    )
    others = {
        VALIDATION_STREAM: own.alike(VALIDATION_STREAM),
        POWER: own.alike(POWER) if inserted or not own.parameters.refreshes else None,
    }
    found = [_compared(own, other, name, steps) for name, other in others.items() if other]
    if not found:
        return None
    wrong = [one.said for one in found if not one.passed]
    return EQUAL.of(
        passed=not wrong,
        detail="; ".join(wrong or [one.said for one in found]),
    )


@dataclass(frozen=True)
class _Trial:
    """A trial of the experiment, as its folder shows it."""

    folder: Path

    @cached_property
    def plan(self) -> TrialPlan:
        return read_plan(self.folder)

    @cached_property
    def parameters(self) -> DecisionSupportParameters:
        return DecisionSupportParameters.model_validate(self.plan.workload.parameters)

    @cached_property
    def result(self) -> TrialResult | None:
        """None if there is none yet."""
        return read_result(self.folder) if (self.folder / RESULT_FILE).is_file() else None

    def __str__(self) -> str:
        return f"{self.folder.name} ({self.plan.target.engine})"

    def alike(self, stream: str) -> _Trial | None:
        """The earlier trial whose answers of a stream are most to be trusted; None without any.

        Whose answers are known to be wrong is none. One that was held against the published ones
        or a second reading comes first, then one that counts, then any; of equal ones the first.
        """
        others = (_Trial(path) for path in self.folder.parent.iterdir() if path != self.folder)
        fit = [
            other
            for other in others
            if other.has_answers(stream)
            and other.plan.order < self.plan.order
            and other.asked(stream) == self.asked(stream)
            and (stream == VALIDATION_STREAM or other.inserted)
        ]
        return min(fit, key=lambda other: (other.doubt, other.plan.order), default=None)

    def has_answers(self, stream: str) -> bool:
        """Whether it has ended, and any query of a stream has an answer that is not refuted."""
        if self.result is None or any(
            check.name in _OF_ANSWERS and not check.passed for check in self.result.checks
        ):
            return False
        return any(self.has_answer(stream, operation(query)) for query in NUMBERS)

    def has_answer(self, stream: str, name: str) -> bool:
        """Whether a query of a stream has an answer."""
        return answer_file(self.folder, stream, name).is_file()

    def asked(self, stream: str) -> tuple[object, ...]:
        """What decides the answers of a stream."""
        scale = self.parameters.scale
        if stream == VALIDATION_STREAM:
            return (scale,)
        return (scale, self.plan.seed, self.plan.data_seed, self.parameters.refreshes)

    @property
    def inserted(self) -> bool:
        """Whether refresh 1 of the power run ended well, if there is one."""
        told = REFRESHES[refresh.INSERT].name
        metrics = self.result.metrics if self.result else []
        return not self.parameters.refreshes or any(value.name == told for value in metrics)

    @property
    def doubt(self) -> int:
        """The less, the more its answers are to be trusted."""
        if self.result is None:
            return 3
        if any(check.name in _OF_ALL and check.passed for check in self.result.checks):
            return 0
        return 1 if self.result.status in {Status.VALID, Status.DISTURBED} else 2


@dataclass(frozen=True)
class _Compared:
    """How the answers of a stream compare with those of another trial."""

    passed: bool
    said: str


def _compared(own: _Trial, other: _Trial, stream: str, steps: Sequence[StepRun]) -> _Compared:
    wrong, equal = [], 0
    for name in map(operation, NUMBERS):
        if not (answered(steps, stream, name) and other.has_answer(stream, name)):
            continue
        expected = read_answer(other.folder, stream, name)
        found = read_answer(own.folder, stream, name)
        differs = difference(expected, found, TIED.get(name, ()))
        equal += differs is None
        if differs is not None:
            wrong.append(f"{name} ({stream}) {differs}")
    if wrong:
        return _Compared(False, f"{own} answers otherwise than {other}: {'; '.join(wrong)}")
    said = f"{equal} answers of {own} ({stream}) equal those of {other}"
    return _Compared(equal > 0, said)
