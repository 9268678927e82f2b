"""What a run shows while it runs: a live display on a terminal, a line per trial elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from loadstone.experiments.model import Experiment, ProfileSpec
from loadstone.experiments.observer import Observer
from loadstone.experiments.plans import TrialPlan, Variant
from loadstone.results.durability import crash_text
from loadstone.results.record import LevelReason, Notice, Status, TrialResult
from loadstone.results.searching import amount, first_reason, reason_text
from loadstone.units import format_duration
from loadstone.workloads.base import Workload
from loadstone.workloads.registry import workload_of

MARKS = {
    Status.VALID: ("✓", "green"),
    Status.DISTURBED: ("~", "yellow"),
    Status.INVALID: ("✗", "red"),
    Status.FAILED: ("✗", "red"),
    Status.INTERRUPTED: ("■", "yellow"),
    Status.RUNNING: ("…", "dim"),
}


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


class Lines(Collector):
    """A line per trial on standard error."""

    def __init__(self) -> None:
        super().__init__()
        self._place = ""

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        """Remembers where in the experiment we are."""
        self._place = place(plan, number, of)

    def trial_ends(self, result: TrialResult) -> None:
        """Says how the trial ended."""
        super().trial_ends(result)
        print(f"{self._place} {trial_line(result)}", file=sys.stderr)
        if again := again_line(result):
            print(again, file=sys.stderr)
        sys.stderr.flush()

    def notice(self, notice: Notice) -> None:
        """Says warnings and errors."""
        if notice.severity != "info":
            print(f"{notice.severity}: {notice.message}", file=sys.stderr, flush=True)


def place(plan: TrialPlan, number: int, of: int) -> str:
    """Where in the experiment a trial is: `3/18`; nobody knows how many a search takes: `3`."""
    return str(number) if plan.level is not None else f"{number}/{of}"


def level_lines(result: TrialResult) -> str:
    """What a trial of a search says of its levels."""
    said = []
    for each in result.levels:
        first = first_reason(each)
        verdict = "holds" if first is None else f"does not hold: {reason_text(first)}"
        said.append(f"{amount(each.level, each.unit)} {verdict}")
    return f"{result.trial}  {'; '.join(said)}"


def trial_line(result: TrialResult) -> str:
    """A trial in one line: id, headline figure, status, and why if it is not valid."""
    if result.levels:
        disturbed = "  disturbed" if result.status is Status.DISTURBED else ""
        return f"{level_lines(result)}{disturbed}"
    figure = result.metrics[0] if result.metrics else None
    text = result.trial
    if figure is not None:
        text += (
            f"  {figure.value:,.4g} {figure.unit}"
            if figure.value < 1000
            else (f"  {figure.value:,.0f} {figure.unit}")
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


class Display(Collector):
    """A live display on a terminal's standard error."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._console = console
        self._clock = clock
        self._began = clock()
        self._title = ""
        self._step = "starting"
        self._plan: TrialPlan | None = None
        self._number = self._of = self._planned = 0
        self._trial_began = self._began
        self._trial_load_s = 0.0
        self._workload: Workload | None = None
        self._load = LoadState()
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
        self._trial_load_s = load_duration_s(experiment.profile)
        names = ", ".join(variant.name for variant in variants)
        count = f"{trials_planned} trial{'s' if trials_planned != 1 else ''}"
        if experiment.design.kind == "search":
            count, names = f"{count} at most", f"from {names}"
        self._console.print(f"[bold]{self._title}[/]  {count}: {names}")

    def step(self, text: str) -> None:
        """Shows what is being done."""
        self._step = text
        self._load = LoadState(self._workload)

    def trial_begins(self, plan: TrialPlan, number: int, of: int) -> None:
        """Shows the trial."""
        self._plan, self._number, self._of = plan, number, of
        self._trial_began = self._clock()
        self._workload = workload_of(plan.workload)
        self._load = LoadState(self._workload)

    def frame(self, frame: Mapping[str, Any]) -> None:
        """Shows what the driver says."""
        self._load.take(frame, self._clock())

    def trial_ends(self, result: TrialResult) -> None:
        """Leaves a line for the trial."""
        super().trial_ends(result)
        mark, style = _mark(result)
        line = Text(f"{mark} ", style=style)
        where = place(self._plan, self._number, self._of) if self._plan else ""
        line.append(f"{where} {trial_line(result)}", style="default")
        self._console.print(line)
        if again := again_line(result):
            self._console.print(Text(again, style="dim"))
        self._load = LoadState(self._workload)
        self._step = "between trials"

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
        if not self._load.phase:
            return Group(head, Text(f"  {self._step}", style="dim"))
        return Group(head, self._load.bar(now, self._plan), self._load.figures())

    def _left(self, now: float) -> str:
        """Time left of the whole: by the trials made, or by the length of the load before any."""
        done = len(self.results)
        total = max(self._of, self._planned)
        if not total or (self._plan is not None and self._plan.level is not None):
            return ""
        if done:
            began = self._trial_began if self._number > done else now
            each = (began - self._began) / done
            left = each * (total - done) - (now - began)
        else:
            left = self._trial_load_s * total - (now - self._began)
        return f"about {_short(max(left, 0.0))} left"


class LoadState:
    """The load of one use of the driver, as its frames tell."""

    def __init__(self, workload: Workload | None = None) -> None:
        self._flow = workload.flow() if workload else None
        self.unit = workload.rate_unit if workload and self._flow else "operations/s"
        self.backlog = 0.0
        self.lost = 0
        self.phase = ""
        self.kind = ""
        self.phase_began = 0.0
        self.rate_per_s = 0.0
        self.p95_ms: float | None = None
        self.errors = 0
        self.retries = 0
        self.users = 0
        self.queued = 0
        self.dropped = 0

    def take(self, frame: Mapping[str, Any], now: float) -> None:
        """Takes an event or a tick."""
        if frame.get("frame") == "event" and frame.get("kind") == "phase-begin":
            self.phase = str(frame.get("phase", ""))
            self.kind = str(frame.get("phase_kind", ""))
            self.phase_began = now
        elif frame.get("frame") == "tick":
            if not self.phase:
                self.phase, self.phase_began = str(frame.get("phase", "")), now
            self._tick(frame)

    def _tick(self, tick: Mapping[str, Any]) -> None:
        operations = list(tick.get("operations", {}).values())
        length_s = tick["to_s"] - tick["from_s"]
        if length_s <= 0:
            return
        self.rate_per_s = sum(each.get("count", 0) for each in operations) / length_s
        self.errors += sum(sum(each.get("errors", {}).values()) for each in operations)
        self.retries += sum(sum(each.get("retries", {}).values()) for each in operations)
        self.dropped += tick.get("dropped", 0)
        if self._flow is not None:
            counters = tick.get("counters", {})
            self.rate_per_s = counters.get(self._flow.stored, 0) / length_s
            self.lost += counters.get(self._flow.lost, 0)
            self.backlog = tick.get("gauges", {}).get(self._flow.backlog, 0.0)
        self.users, self.queued = tick.get("users", 0), tick.get("queued", 0)
        self.p95_ms = _p95_ms([each["response"] for each in operations if each.get("response")])

    def bar(self, now: float, plan: TrialPlan | None) -> RenderableType:
        """The phase with its bar and the time left in it."""
        elapsed = now - self.phase_began
        total = phase_duration_s(_until_failure(plan), self.kind) if plan is not None else None
        row = Table.grid(padding=(0, 2))
        if total:
            bar = ProgressBar(total=total, completed=min(elapsed, total), width=30)
            left = f"{_short(max(total - elapsed, 0.0))} left"
            row.add_row(f"  {self.phase}", bar, left)
        else:
            row.add_row(f"  {self.phase}", _short(elapsed))
        return row

    def figures(self) -> Text:
        """Live rate, p95, errors, users."""
        text = Text(f"  {self.rate_per_s:,.0f} {self.unit}")
        if self.p95_ms is not None:
            text.append(f"   p95 {_latency(self.p95_ms)}")
        text.append(f"   errors {self.errors}", style="red" if self.errors else "default")
        for name, value in (
            ("held back", self.backlog),
            ("lost", self.lost),
            ("retries", self.retries),
            ("queued", self.queued),
            ("dropped", self.dropped),
            ("users", self.users),
        ):
            if value:
                text.append(f"   {name} {value:,.0f}", style="default")
        return text


def trial_load_s(plan: TrialPlan) -> float:
    """Length of the load of a trial, which a failure may end early, in seconds."""
    return load_duration_s(_until_failure(plan))


def _until_failure(plan: TrialPlan) -> ProfileSpec:
    if plan.crash is None:
        return plan.profile
    return plan.profile.model_copy(update={"measure": plan.crash.after_s})


def load_duration_s(profile: ProfileSpec) -> float:
    """Length of the load of a trial, without set-up and checks, in seconds."""
    return profile.warm_up + profile.ramp + profile.measure


def phase_duration_s(profile: ProfileSpec, kind: str) -> float | None:
    """Length of a phase of that kind, if it is known, in seconds."""
    lengths = {"warm-up": profile.warm_up, "ramp": profile.ramp, "measure": profile.measure}
    return lengths.get(kind)


def _p95_ms(histograms: list[str]) -> float | None:
    from loadstone.results.latency import merge, percentiles

    if not histograms:
        return None
    found = percentiles(merge(histograms), [95.0])
    return found[95.0] * 1000 if found else None


def _latency(milliseconds: float) -> str:
    if milliseconds >= 0.1:
        return f"{milliseconds:.3g} ms"
    return f"{milliseconds * 1000:.3g} us"


def _short(seconds: float) -> str:
    return format_duration(round(seconds)) if seconds >= 1 else "0s"
