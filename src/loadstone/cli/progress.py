"""What a run shows while it runs: a live display on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from loadstone.cli.durations import about, experiment_s, whole_s
from loadstone.cli.live import LoadState
from loadstone.experiments.observer import Observer
from loadstone.experiments.searching import amount, first_reason, reason_text
from loadstone.results.durability import crash_text
from loadstone.results.metrics import all_metrics, marked
from loadstone.results.record import LevelReason, Notice, Status, TrialResult
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.registry import workload_of

MARKS = {
    Status.VALID: ("✓", "green"),
    Status.DISTURBED: ("~", "yellow"),
    Status.INVALID: ("✗", "red"),
    Status.FAILED: ("✗", "red"),
    Status.INTERRUPTED: ("■", "yellow"),
    Status.RUNNING: ("…", "dim"),
}


SIGN_EVERY_S = 5.0
"""After so long without a line there is a sign of life."""
LOOK_EVERY_S = 0.5
"""How often one is thought of."""


class Collector(Observer):
    """Keeps the results, for the exit code."""

    def __init__(self) -> None:
        self.results: list[TrialResult] = []
        self.path: Path | None = None

    def trial_ends(self, result: TrialResult) -> None:
        """Keeps it."""
        self.results.append(result)

    def experiment_ends(self, path: Path) -> None:
        """Keeps the folder."""
        self.path = path

    def close(self) -> None:
        """Takes the display away."""


class Watcher(Collector):
    """Knows what is going on: the trial, the activity, and what its load does."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._plan: TrialPlan | None = None
        self._number = self._of = 0
        self._activity = "starting"
        self._activity_began = clock()
        self._workload: AnyWorkload | None = None
        self._load = LoadState()

    def activity(self, text: str) -> None:
        """Keeps what is being done."""
        self._activity, self._activity_began = text, self._clock()
        self._load = LoadState(self._workload)

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        """Keeps the trial."""
        self._plan, self._number, self._of = plan, number, of
        self._workload = workload_of(plan.workload)
        self.activity("beginning")

    def frame(self, frame: Mapping[str, Any]) -> None:
        """Keeps what the driver says."""
        self._load.take(frame, self._clock())

    def trial_ends(self, result: TrialResult) -> None:
        """Keeps the result."""
        super().trial_ends(result)
        self.activity("between trials")

    def _place(self) -> str:
        return place(self._plan, self._number, self._of) if self._plan else ""


class Lines(Watcher):
    """A line per trial on standard error, and signs of life within a trial that takes longer."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._said_at = clock()
        self._saying = threading.RLock()
        self._closed = threading.Event()

    def close(self) -> None:
        """Says no more by itself."""
        self._closed.set()

    def experiment_begins(
        self, experiment: Experiment, variants: Sequence[Variant], trials_planned: int
    ) -> None:
        """Says what will be done, and from now on gives signs of life."""
        title = experiment.title or experiment.name
        self._say(f"{title}: {extent(experiment, variants, trials_planned)}")
        threading.Thread(target=self._give_signs, name="signs of life", daemon=True).start()

    def trial_ends(self, result: TrialResult) -> None:
        """Says how the trial ended."""
        lines = [f"{self._place()} {trial_line(result)}", again_line(result)]
        with self._saying:
            self._say(*filter(None, lines))
            super().trial_ends(result)

    def notice(self, notice: Notice) -> None:
        """Says warnings and errors."""
        if notice.severity != "info":
            self._say(f"{notice.severity}: {notice.message}")

    def sign(self) -> None:
        """Says what is being done, if nothing was said for a while."""
        with self._saying:
            now = self._clock()
            if now - self._said_at >= SIGN_EVERY_S:
                self._say(f"  {self._present(now)}")

    def _present(self, now: float) -> str:
        where = f"{self._place()} {self._plan.trial}  " if self._plan else ""
        load = self._load
        if load.phase:
            return f"{where}{load.line(now, self._plan)}"
        return f"{where}{self._activity}, {whole_s(now - self._activity_began)}"

    def _give_signs(self) -> None:
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                self.sign()
            except (OSError, ValueError):  # Nobody reads any more; the next trial will find out.
                return

    def _say(self, *lines: str) -> None:
        with self._saying:
            self._said_at = self._clock()
            print(*lines, sep="\n", file=sys.stderr, flush=True)


def extent(experiment: Experiment, variants: Sequence[Variant], trials: int) -> str:
    """How much an experiment is: `30 trials, about 7min: baseline, buffers`."""
    names = ", ".join(variant.name for variant in variants)
    count = f"{trials} trial{'s' if trials != 1 else ''}"
    if experiment.design.kind == "search":
        count, names = f"{count} at most", f"from {names}"
    workload = workload_of(experiment.workload)
    decided = {*workload.decides, *workload.idle(experiment.profile)}
    if "measure" not in decided and (expected_s := experiment_s(experiment)) is not None:
        count += f", about {about(expected_s)}"
    return f"{count}: {names}"


def place(plan: TrialPlan, number: int, of: int) -> str:
    """Where in the experiment a trial is: `3/18`; nobody knows how many a search takes: `3`."""
    return str(number) if plan.level is not None else f"{number}/{of}"


def level_lines(result: TrialResult) -> str:
    """What a trial of a search says of its levels."""
    said = []
    for each in result.levels:
        first = first_reason(each)
        several = each.level != 1 and "/" not in each.unit
        holds, fails = ("hold", "do not hold") if several else ("holds", "does not hold")
        verdict = holds if first is None else f"{fails}: {reason_text(first)}"
        said.append(f"{amount(each.level, each.unit)} {verdict}")
    return f"{result.trial}  {'; '.join(said)}"


def trial_line(result: TrialResult) -> str:
    """A trial in one line: id, the figure it is judged by, status, and why if it is not valid."""
    if result.levels:
        disturbed = "  disturbed" if result.status is Status.DISTURBED else ""
        return f"{level_lines(result)}{disturbed}"
    judged = (each for each in all_metrics(result) if each.name == result.judged_by)
    figure = next(judged, None)
    text = result.trial
    if figure is not None:
        unit = marked(figure.unit, figure.mark)
        text += (
            f"  {figure.value:,.4g} {unit}"
            if figure.value < 1000
            else (f"  {figure.value:,.0f} {unit}")
        )
    if result.durability is not None:
        text += f"  {crash_text(result.durability)}"
    text += f"  {result.status.value}" if result.durability is None else ""
    if result.unsafe:
        text += "  unsafe"
    if result.durability is not None and result.status is Status.VALID:
        return text
    failed = [check.name for check in result.checks if not check.passed]
    if failed:
        return f"{text}: check failed: {', '.join(failed)}"
    errors = [notice.message for notice in result.notices if notice.severity == "error"]
    return f"{text}: {errors[0]}" if errors and result.status is not Status.VALID else text


def _mark(result: TrialResult) -> tuple[str, str]:
    """A crash that lost something ended as planned, and is nothing to be glad of."""
    record = result.durability
    if record is not None and record.outcome != "survived":
        return "✗", "yellow" if result.unsafe else "red"
    if any(not each.holds for each in result.levels):
        return "✗", "yellow"
    return MARKS[result.status]


def again_line(result: TrialResult) -> str:
    """How to make a trial again that failed or is invalid; its folder is in the command."""
    if result.levels and not any(reason.cause == "failed" for reason in _reasons(result)):
        return ""
    if result.status not in (Status.FAILED, Status.INVALID) or not result.repeat_command:
        return ""
    return f"  again: {result.repeat_command}"


def _reasons(result: TrialResult) -> list[LevelReason]:
    return [reason for level in result.levels for reason in level.reasons]


class Display(Watcher):
    """A live display on a terminal's standard error."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._console = console
        self._began = self._trial_began = clock()
        self._title = ""
        self._planned = 0
        self._expected_s = 0.0
        self._live = Live(
            console=console, get_renderable=self._render, refresh_per_second=4, transient=True
        )
        self._live.start()

    def close(self) -> None:
        """Takes the display away."""
        self._live.stop()

    def experiment_begins(
        self, experiment: Experiment, variants: Sequence[Variant], trials_planned: int
    ) -> None:
        """Names the experiment."""
        self._title = experiment.title or experiment.name
        self._planned = self._of = trials_planned
        self._expected_s = experiment_s(experiment) or 0.0  # nothing is said of what is not known
        said = extent(experiment, variants, trials_planned)
        self._console.print(Text.assemble((self._title, "bold"), f"  {said}"))

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        """Shows the trial."""
        super().trial_begins(plan, number, of)
        self._trial_began = self._clock()

    def trial_ends(self, result: TrialResult) -> None:
        """Leaves a line for the trial."""
        super().trial_ends(result)
        mark, style = _mark(result)
        line = Text(f"{mark} ", style=style)
        line.append(f"{self._place()} {trial_line(result)}", style="default")
        self._console.print(line)
        if again := again_line(result):
            self._console.print(Text(again, style="dim"))

    def notice(self, notice: Notice) -> None:
        """Leaves a line for warnings and errors."""
        if notice.severity != "info":
            style = "red" if notice.severity == "error" else "yellow"
            self._console.print(Text(f"! {notice.message}", style=style))

    def _render(self) -> RenderableType:
        now = self._clock()
        head = Text(self._title or "loadstone", style="bold")
        if self._plan is not None:
            of = "" if self._plan.level else f" of {self._of}"
            head.append(f"  trial {self._number}{of}  ", style="default")
            head.append(self._plan.variant.name, style="cyan")
        head.append(f"  {self._left(now)}", style="dim")
        load = self._load
        if not load.phase:
            activity = f"  {self._activity}  {whole_s(now - self._activity_began)}"
            return Group(head, Text(activity, style="dim"))
        return Group(head, load.bar(now, self._plan), load.figures())

    def _left(self, now: float) -> str:
        """Time left of the whole: by the trials made, or as it was expected before any."""
        done = len(self.results)
        total = max(self._of, self._planned)
        if not total or (self._plan is not None and self._plan.level is not None):
            return ""
        if done:
            began = self._trial_began if self._number > done else now
            each = (began - self._began) / done
            left = each * (total - done) - (now - began)
        else:
            left = self._expected_s - (now - self._began)
        return f"about {whole_s(left)} left" if left >= 1 else ""
