"""Who watches an experiment: the terminal's progress display, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.results.record import Notice, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant


class Observer:
    """Is told what happens, in order. Every method does nothing unless a subclass says more."""

    def experiment_begins(
        self, experiment: Experiment, variants: Sequence[Variant], trials_planned: int
    ) -> None:
        """Before anything is started.

        Args:
            experiment: As it will run.
            variants: Its configurations, the baseline first.
            trials_planned: Trials without repeats of disturbed ones.
        """

    def activity(self, text: str) -> None:
        """Something that takes a while begins: `restoring the data`."""

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        """A trial begins.

        Args:
            plan: Of the trial.
            number: Its position, from 1.
            of: Trials known so far.
        """

    def frame(self, frame: Mapping[str, Any]) -> None:
        """The driver said something, while load runs or data is loaded."""

    def trial_ends(self, result: TrialResult) -> None:
        """A trial was recorded."""

    def notice(self, notice: Notice) -> None:
        """Something that the user should know now."""

    def experiment_ends(self, path: Path) -> None:
        """All is written and put back.

        Args:
            path: Folder of the experiment's results.
        """
