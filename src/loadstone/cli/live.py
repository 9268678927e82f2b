"""What the load does at this moment, as the frames of the load generator tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from loadstone.cli.durations import phase_s, whole_s
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.base import AnyWorkload


class LoadState:
    """The load of one use of the driver, as its frames tell."""

    def __init__(self, workload: AnyWorkload | None = None) -> None:
        self._flow = workload.charts().flow if workload else None
        self._words = workload.charts().live if workload else {}
        self._gauges: Mapping[str, float] = {}
        self.ended = 0
        self.unit = workload.search.rate_unit if workload and self._flow else "operations/s"
        self.backlog = 0.0
        self.lost = 0
        self.phase = ""
        self.phase_began = 0.0
        self.rate_per_s = 0.0
        self.p95_ms: float | None = None
        self.errors = 0
        self.retries = 0
        self.users = 0
        self.queued = 0
        self.dropped = 0
        self._ticked = False
        self._over = False

    def take(self, frame: Mapping[str, Any], now: float) -> None:
        """Takes an event, a tick or the end. Data that is loaded before the load is none of it."""
        if frame.get("phase_kind") == "prepare":
            return
        if frame.get("frame") == "event" and frame.get("kind") == "phase-begin":
            self.phase = str(frame.get("phase", ""))
            self.phase_began = now
            self._ticked = self._over = False
        elif frame.get("frame") == "event" and frame.get("kind") == "phase-end":
            self._over = True
        elif frame.get("frame") == "tick":
            if not self.phase:
                self.phase, self.phase_began = str(frame.get("phase", "")), now
            self._tick(frame)
        elif frame.get("frame") == "end":
            self.phase = ""

    def _tick(self, tick: Mapping[str, Any]) -> None:
        operations = list(tick.get("operations", {}).values())
        counters = tick.get("counters", {})
        self.errors += sum(sum(each.get("errors", {}).values()) for each in operations)
        self.retries += sum(sum(each.get("retries", {}).values()) for each in operations)
        self.dropped += tick.get("dropped", 0)
        self.ended += sum(each.get("count", 0) for each in operations)
        if self._flow is not None:
            self.lost += counters.get(self._flow.lost, 0)
        length_s = tick["to_s"] - tick["from_s"]
        if length_s <= 0 or tick.get("phase", self.phase) != self.phase:
            return  # What was in flight when a phase ended is told after it, and is no rate.
        self._ticked = True
        done = sum(each.get("count", 0) for each in operations)
        if self._flow is not None:
            done = counters.get(self._flow.stored, 0)
            self.backlog = tick.get("gauges", {}).get(self._flow.backlog, 0.0)
        self.rate_per_s = done / length_s
        self._gauges = tick.get("gauges", {})
        self.users, self.queued = tick.get("users", 0), tick.get("queued", 0)
        self.p95_ms = _p95_ms([each["response"] for each in operations if each.get("response")])

    def bar(self, now: float, plan: TrialPlan | None) -> RenderableType:
        """The phase with its bar and the time left in it."""
        elapsed_s, total_s = self._progress_s(now, plan)
        row = Table.grid(padding=(0, 2))
        if self._over:
            row.add_row(f"  after {self.phase}")
        elif total_s:
            bar = ProgressBar(total=total_s, completed=min(elapsed_s, total_s), width=30)
            left = f"{whole_s(max(total_s - elapsed_s, 0.0))} left"
            row.add_row(f"  {self.phase}", bar, left)
        else:
            row.add_row(f"  {self.phase}", whole_s(elapsed_s))
        return row

    def figures(self) -> Text:
        """Live rate, p95, errors, users; empty until there are any."""
        text = Text("  ")
        for number, figure in enumerate(self._figures()):
            style = "red" if figure.startswith("errors") and self.errors else "default"
            text.append(f"{'   ' if number else ''}{figure}", style=style)
        return text

    def line(self, now: float, plan: TrialPlan | None) -> str:
        """The phase, how far it is, and the figures of the last tick."""
        if self._over:
            return f"after {self.phase}"
        elapsed_s, total_s = self._progress_s(now, plan)
        of = f" of {whole_s(total_s)}" if total_s else ""
        figures = ", ".join(self._figures())
        return f"{self.phase}, {whole_s(elapsed_s)}{of}{figures and f': now {figures}'}"

    def _progress_s(self, now: float, plan: TrialPlan | None) -> tuple[float, float | None]:
        """Seconds since the phase began, and its length, if that is known."""
        return now - self.phase_began, None if plan is None else phase_s(plan, self.phase)

    def _figures(self) -> list[str]:
        if not self._ticked or self._over:
            return []
        counted = (
            ("held back", self.backlog),
            ("lost", self.lost),
            ("retries", self.retries),
            ("queued", self.queued),
            ("dropped", self.dropped),
            ("users", self.users),
        )
        if self._words:
            shown = [
                f"{word} {self._gauges.get(name, 0):,.0f}" for name, word in self._words.items()
            ]
            more = [f"{name} {value:,.0f}" for name, value in counted[3:5] if value]
            return [*shown, f"ended {self.ended:,}", f"errors {self.errors}", *more]
        return [
            f"{self.rate_per_s:,.0f} {self.unit}",
            *([] if self.p95_ms is None else [f"p95 {_latency(self.p95_ms)}"]),
            f"errors {self.errors}",
            *(f"{name} {value:,.0f}" for name, value in counted if value),
        ]


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
