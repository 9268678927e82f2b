"""How a transaction went by: the requests of the slowest one, and what each was doing."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from loadstone.protocol.traces import Trace, TraceRow, Traces
from loadstone.report.terminal_table import figure_table
from loadstone.report.text import milliseconds, number
from loadstone.results.record import TrialResult

SLOWEST, FAILED = "slowest", "failed"
LEAST_S = 1e-5
"""A part that took less time is not told."""


def trace_tables(result: TrialResult, *, in_full: bool) -> list[RenderableType]:
    """The slowest transaction of a trial, and one that failed; nothing if none was kept.

    Args:
        result: Of the trial.
        in_full: The slowest, a typical and a failed one of each operation.
    """
    told = result.traces
    kept = [each for name in told for each in _of(name, told[name])]
    if not in_full:
        kept = [each for each in (_longest(kept, SLOWEST), _longest(kept, FAILED)) if each]
    begin_s = result.phases[0].from_s if result.phases else 0.0
    return [
        part
        for what, operation, trace in kept
        for part in (Text(""), _table(what, operation, trace, result.trial, begin_s))
    ]


_Named = tuple[str, str, Trace]
"""What is special about a transaction, its operation, and itself."""


def _of(operation: str, told: Traces) -> Iterator[_Named]:
    if told.slowest is not None:
        yield SLOWEST, operation, told.slowest
    if told.sample:
        yield "typical", operation, told.sample[0]
    if told.failed is not None:
        yield FAILED, operation, told.failed


def _longest(kept: list[_Named], what: str) -> _Named | None:
    of_kind = [each for each in kept if each[0] == what]
    return max(of_kind, key=lambda each: each[2].took_s, default=None)


def _table(what: str, operation: str, trace: Trace, trial: str, begin_s: float) -> RenderableType:
    title = f"{what.capitalize()} transaction"
    table = figure_table(
        f"{title}, {trial}: {operation} took {milliseconds(trace.took_s)} ms",
        "request", "at ms", "blocked", "connect", "wait", "receive", "done ms", "answer",
    )  # fmt: skip
    answer = table.columns[-1]
    answer.justify, answer.no_wrap = "left", True
    for row in trace.rows:
        parts = (
            row.blocked_s,
            row.resolve_s + row.connect_s + row.tls_s,
            row.send_s + row.wait_s,
            row.receive_s,
        )
        table.add_row(
            _name(row),
            _ms(row.at_s),
            *(_ms(part) if part >= LEAST_S else "" for part in parts),
            _ms(row.end_s),
            _answer(row),
        )
    return Group(table, Text(_said(trace, begin_s), style="dim"))


def _ms(seconds: float) -> str:
    """Milliseconds, to a hundredth at most."""
    value = 1e3 * seconds
    return f"{value:,.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _name(row: TraceRow) -> Text:
    step = f"{row.step}" if row.lane is None else f"{row.step}.{row.lane}"
    name = Text(f"{step} {row.request}")
    if row.cause != "asked":
        name.append(", redirected" if row.cause == "redirect" else ", sent once more", style="dim")
    return name


def _answer(row: TraceRow) -> Text:
    if row.error is not None:
        return Text(row.error, style="yellow")
    return Text("" if row.status is None else str(row.status))


def _said(trace: Trace, begin_s: float) -> str:
    """When it was, and what is not in its rows."""
    said = [f"due {number(trace.due_s - begin_s)} s after the load began, in phase {trace.phase}"]
    said += [f"begun {milliseconds(trace.begun_s)} ms later"] if trace.begun_s >= 0.001 else []
    said += [f"failed: {trace.error}"] if trace.error else []
    said += [f"{trace.left_out:,} more requests are not kept"] if trace.left_out else []
    return "; ".join(said)
