"""One configuration more closely: its trials, percentiles, checks and waits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from loadstone.report.headline import figure_of
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.trials import MemoryReport
from loadstone.report.terminal_jobs import job_tables
from loadstone.report.terminal_limits import limits_of_trial
from loadstone.report.terminal_parts import part_table
from loadstone.report.terminal_requests import phase_table, request_table
from loadstone.report.terminal_stalls import stall_table
from loadstone.report.terminal_steps import step_table
from loadstone.report.terminal_table import figure_table
from loadstone.report.terminal_traces import trace_tables
from loadstone.report.text import interval, milliseconds, number
from loadstone.results.record import CheckResult, OperationSummary, Status, TrialResult, Wait
from loadstone.units import format_duration, format_size

_MOST_WAITS = 6
_MOST_TRIALS = 12


def trial_tables(document: ReportDocument, *, in_full: bool) -> list[RenderableType]:
    """Tables about the trials of a report with a single configuration."""
    results = [trial.result for trial in document.trials]
    measured = [result for result in results if result.durability is None]
    if not results:
        return []
    parts: list[RenderableType] = []
    if any(result.metrics for result in results):
        parts += [Text(""), _metrics(document)]
    if len(measured) > 1:
        parts += [Text(""), _trials(measured, document.metric)]
    results = measured or results
    shown = next((r for r in reversed(results) if r.status is Status.VALID), results[-1])
    report = next(trial for trial in document.trials if trial.result is shown)
    parts += step_table(document, report)
    parts += job_tables(shown.trial, report.gantt)
    has_tests = document.steps is not None and document.steps.has_columns
    if shown.measured and not has_tests and document.graduated is None:
        parts += [Text(""), _phases(shown, document.metric)]
    if shown.operations and document.steps is None:
        parts += [Text(""), _operations(shown)]
    parts += request_table(shown, in_full=in_full)
    parts += trace_tables(shown, in_full=in_full)
    parts += phase_table(shown)
    parts += part_table(shown)
    parts += limits_of_trial(report.limits)
    if shown.waits:
        parts += [Text(""), _waits(shown.waits)]
    parts += stall_table(shown.trial, report.stalls)
    if report.memory is not None and (said := _memory(report.memory)):
        parts += [Text(""), Text(said)]
    if report.loading:
        parts += [Text(""), Text(report.loading)]
    if report.around:
        parts += [Text(""), Text(report.around)]
    if shown.checks:
        parts += [Text(""), _checks(shown.checks, in_full=in_full)]
    return parts


def _metrics(document: ReportDocument) -> RenderableType:
    """The workload's own metrics; percentiles and steps have tables of their own."""
    last = document.trials[-1].result
    counted = any(trial.result.status is Status.VALID for trial in document.trials)
    title = "Figures" if counted else f"Figures of {last.trial}, which is {last.status.value}"
    table = figure_table(title, "metric", "median" if counted else "value", "interval")
    table.add_column("unit", overflow="fold")
    own = {metric.name for trial in document.trials for metric in trial.result.metrics}
    steps = {step.metric for step in document.steps.steps} if document.steps else set()
    for metric in document.metrics:
        if metric.name in steps:
            continue
        figure = figure_of(document.variants[0], metric.name)
        value = last.metric(metric.name)
        if metric.name in own and figure is not None:
            span = interval(figure.low, figure.high)
            table.add_row(metric.label, number(figure.median), span, metric.unit)
        elif not counted and value is not None:
            table.add_row(metric.label, number(value.value), "", metric.unit)
    return table


def _trials(results: Sequence[TrialResult], metric: str) -> RenderableType:
    table = figure_table("Trials", "trial", metric.replace("_", " "))
    table.add_column("status")
    for result in results[:_MOST_TRIALS]:
        value = result.metric(metric)
        style = "" if result.status is Status.VALID else "yellow"
        table.add_row(
            result.trial, number(value.value) if value else "", Text(result.status.value, style)
        )
    if len(results) > _MOST_TRIALS:
        table.add_row(f"and {len(results) - _MOST_TRIALS} more", "", "")
    return table


def _phases(result: TrialResult, metric: str) -> RenderableType:
    """The measured phases of a trial that has several."""
    table = figure_table(
        f"Measured phases, {result.trial}",
        "phase", "length", metric.replace("_", " "), "p50 ms", "p95 ms", "p99 ms",
    )  # fmt: skip
    names = (metric, "response_p50_ms", "response_p95_ms", "response_p99_ms")
    for phase in result.measured:
        values = {each.name: each.value for each in phase.metrics}
        shown = [number(values[name]) if name in values else "" for name in names]
        table.add_row(phase.name, format_duration(round(phase.duration_s, 1)), *shown)
    return table


def _operations(result: TrialResult) -> RenderableType:
    table = figure_table(
        f"Response time in ms, {result.trial}",
        "operation", "count", "p50", "p95", "p99", "p99.9", "max", "errors", "retries",
    )  # fmt: skip
    for operation in result.operations:
        table.add_row(operation.name, f"{operation.count:,}", *_times(operation), *_bad(operation))
    return table


def _times(operation: OperationSummary) -> list[str]:
    at = operation.response
    if at is None:
        return [""] * 5
    return [milliseconds(v) for v in (at.p50_s, at.p95_s, at.p99_s, at.p999_s, at.max_s)]


def _bad(operation: OperationSummary) -> list[str]:
    return [str(sum(by.values())) for by in (operation.errors, operation.retries)]


def _waits(waits: Sequence[Wait]) -> RenderableType:
    table = figure_table("Top waits of active sessions", "wait", "share", "samples")
    for wait in sorted(waits, key=lambda wait: -wait.samples)[:_MOST_WAITS]:
        known = wait.kind in ("", wait.event)
        name = wait.event if known else f"{wait.kind}: {wait.event}"
        name = f"{wait.part}: {name}" if wait.part else name
        table.add_row(name, f"{100 * wait.share:.1f} %", f"{wait.samples:,}")
    return table


def _memory(memory: MemoryReport) -> str:
    """Of long trials only: in short ones nothing can be seen to grow."""
    said = [
        f"{use.who} {format_size(use.first_bytes)} in the first 5 minutes, "
        f"{format_size(use.last_bytes)} in the last, at most {format_size(use.most_bytes)}"
        for use in memory.uses
        if use.first_bytes is not None and use.last_bytes is not None
    ]
    return f"Memory: {'; '.join(said)}." if said else ""


def _passed(number_of_checks: int) -> str:
    return "the only one passed" if number_of_checks == 1 else f"all {number_of_checks} passed"


def _checks(checks: Sequence[CheckResult], *, in_full: bool) -> RenderableType:
    """How many passed, what failed ones found, and in full what each of them holds."""
    failed = [check for check in checks if not check.passed]
    said = f"{len(failed)} of {len(checks)} failed" if failed else _passed(len(checks))
    parts: list[RenderableType] = [
        Text(f"Checks of the data: {said}", style="bold red" if failed else "green")
    ]
    for check in sorted(checks if in_full else failed, key=lambda check: check.passed):
        source = f" ({check.source})" if check.source else ""
        parts.append(_after(1, f"{check.name}{source}", "" if check.passed else check.detail))
        if in_full and check.claim:
            parts.append(_after(3, check.claim, style="dim"))
    return Group(*parts)


def _after(blanks: int, *said: str, style: str = "") -> RenderableType:
    return Padding(Text(": ".join(filter(None, said)), style=style), (0, 0, 0, blanks))
