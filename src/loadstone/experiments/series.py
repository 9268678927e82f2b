"""The trials of an experiment, one after the other, as its design hands them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from loadstone.errors import RefusedError
from loadstone.experiments.designs import Stages, crashes_of, repeated, trials_of
from loadstone.experiments.lab import Lab
from loadstone.experiments.preflight.space import Space
from loadstone.experiments.session_limit import sessions_named, with_session_limit
from loadstone.experiments.trial import run_trial
from loadstone.factors.in_force import parts_of
from loadstone.probes.inventory import changed
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import Notice, Status, TrialResult
from loadstone.results.standing import judged
from loadstone.results.trial_files import INVENTORY_FILE, read_json, write_json, write_result
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan


@dataclass
class Series:
    """The trials of an experiment, as they are made."""

    experiment: Experiment
    stages: Stages
    folder: ExperimentFolder
    lab: Lab
    command: str
    """What was typed, for the record."""

    def __post_init__(self) -> None:
        self.results: list[TrialResult] = []
        self._space = Space()
        self._planned = trials_of(self.experiment)
        extra = self.experiment.extra_trials
        measured = self._planned - crashes_of(self.experiment)
        self._extra = max(2, measured // 5) if extra is None else extra
        self._sessions = sessions_named(self.experiment)
        self._plans: dict[str, TrialPlan] = {}
        self._answered: set[str] = set()
        """Trials that were made again."""
        self.lab.judge = lambda result: self._judged([*self.results, result])[-1]

    def make(self) -> None:
        """Makes them, stage by stage; repeats those whose measured time was taken from them."""
        while plans := self.stages.next(self._judged(self.results)):
            write_design(self.folder, self.stages, self.command)
            waiting = list(plans)
            while waiting:
                plan = waiting.pop(0)
                self._trial(plan)
                if self.lab.interrupts.requested or _hopeless(self.results):
                    return
                for disturbed in self._to_make_again(plan.block):
                    self.lab.observer.notice(_disturbed(disturbed))
                    again = self._again(self._plans[disturbed.trial])
                    waiting.insert(_rest_of_block(waiting, plan), again)
        write_design(self.folder, self.stages, self.command)
        self._mark_another_host()

    def _mark_another_host(self) -> None:
        """Says of the last trial that facts which are asked for once are others at the end."""
        now = changed(self.lab.standing)
        if not now or not self.results:
            return
        notice = Notice(
            code="host-changed",
            severity="warning",
            message=f"the host is another than at the first trial: {', '.join(sorted(now))}",
            advice="make the experiment again: its trials were not made on one machine",
        )
        last = self.results[-1]
        self.results[-1] = last.model_copy(update={"notices": [*last.notices, notice]})
        trial = self.folder.path / last.trial
        write_result(trial, self.results[-1])
        if (trial / INVENTORY_FILE).exists():  # not of one that failed before
            inventory = read_json(trial / INVENTORY_FILE)
            write_json(trial / INVENTORY_FILE, {**inventory, "host": {**inventory["host"], **now}})
        self.lab.observer.notice(notice)

    def _judged(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """With the status that each has among all so far."""
        return judged(results, self.experiment.disturbance, self._planned)

    def _to_make_again(self, block: int) -> Iterator[TrialResult]:
        """Those of a block that are to be made again and were not yet."""
        for result in self._judged(self.results):
            if result.block != block or result.trial in self._answered:
                continue
            if self._extra > 0 and self.stages.makes_again(result):
                self._answered.add(result.trial)
                self._extra -= 1
                self._planned += 1
                yield result

    def _trial(self, plan: TrialPlan) -> None:
        self._refuse_overfull(plan)
        number = len(self.results) + 1
        plan = plan.model_copy(update={"experiment": self.folder.name, "order": number})
        plan = with_session_limit(plan, self._sessions)
        self.lab.observer.trial_begins(plan, number, max(self._planned, number))
        result = run_trial(plan, self.folder.trial(plan), self.lab)
        self.results.append(result)
        self._plans[plan.trial] = plan
        self.lab.observer.trial_ends(result)

    def _refuse_overfull(self, plan: TrialPlan) -> None:
        """A full disk would look like a level that does not hold."""
        if plan.crash is not None:
            return
        try:
            self._space.refuse(parts_of(plan))
        except RefusedError as error:
            shows = f"; loadstone report {self.folder.path} shows what was found"
            raise RefusedError(
                f"{plan.trial} is not made: {error.message}",
                advice=f"{error.advice}{shows if self.results else ''}",
            ) from None

    def _again(self, plan: TrialPlan) -> TrialPlan:
        """The same trial once more, with the load of its block."""
        made = [
            result
            for result in self.results
            if (result.variant, result.block) == (plan.variant.name, plan.block)
        ]
        return repeated(plan, len(made) + 1, len(self.results) + 1)


def _rest_of_block(waiting: Sequence[TrialPlan], plan: TrialPlan) -> int:
    """How many trials of a block are still waiting: next after them comes what is made again.

    So soon, the machine is as it was for the others of the block; at the end of a stage, what
    drifts would fall on the variant that was disturbed.
    """
    return next((at for at, other in enumerate(waiting) if other.block != plan.block), len(waiting))


def _hopeless(results: Sequence[TrialResult]) -> bool:
    """The first two trials failed, or three in a row; baselines of placements count by themselves.

    Once a level of a search has held, that those above it fail is what the search is to find out.
    """
    if any(level.holds for result in results for level in result.levels):
        return False
    of_kind = [
        result
        for result in results
        if (result.baseline_of is None) == (results[-1].baseline_of is None)
    ]
    last = [result.status is Status.FAILED for result in of_kind[-3:]]
    return (len(of_kind) == 2 and all(last)) or (len(last) == 3 and all(last))


def _disturbed(result: TrialResult) -> Notice:
    taken = max(result.taken or (), key=lambda each: each.share, default=None)
    why = "with the rest of its block" if taken is None else taken.evidence
    return Notice(
        code="trial-disturbed",
        severity="warning",
        message=f"{result.trial} is kept, left out and made again: {why} while it was measured",
    )


def write_design(folder: ExperimentFolder, stages: Stages, command: str) -> None:
    """Writes what is compared with what, as far as it is known."""
    folder.write_design(
        stages.variants,
        [asdict(pair) for pair in stages.pairs],
        command,
        stages.kept,
        stages.skipped,
        bound=stages.bound,
    )
