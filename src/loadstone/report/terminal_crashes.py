"""Crash trials on a terminal: the verdict of a variant, and each crash."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.document import ReportDocument
from loadstone.report.text import number
from loadstone.results.durability import CrashOutcome
from loadstone.results.record import DurabilityRecord, TrialResult

_MOST_CRASHES = 20
_STYLES: dict[CrashOutcome, str] = {"survived": "green"}


def crash_tables(document: ReportDocument) -> list[RenderableType]:
    """Each crash of a report with a single configuration, and what was lost first."""
    results = [trial.result for trial in document.trials if trial.result.durability]
    if not results:
        return []
    parts: list[RenderableType] = [Text(""), _table(results)]
    stands_for = next((r.durability.storage for r in results if r.durability), "")
    if stands_for:
        parts.append(Text(f"The power was cut on {stands_for}.", style="dim"))
    examples = [(r.trial, line) for r in results if r.durability for line in r.durability.examples]
    if examples:
        parts.append(_examples(examples))
    return parts


def durability_list(document: ReportDocument) -> Text:
    """The verdict of each variant, those that ended alike on one line; empty without crashes."""
    alike: dict[tuple[CrashOutcome, str], list[str]] = {}
    for variant in document.variants:
        if variant.durability is not None:
            verdict = variant.durability
            alike.setdefault((verdict.outcome, verdict.text), []).append(variant.name)
    text = Text()
    if alike:
        text.append("\nDurability\n", style="bold")
    for (outcome, words), names in alike.items():
        survived = outcome == "survived"
        text.append("✓ " if survived else "✗ ", style=_STYLES.get(outcome, "red"))
        text.append(f"{', '.join(names)}: {words}\n", style=_STYLES.get(outcome, "red"))
    bounds = {
        variant.durability.loss_probability_upper
        for variant in document.variants
        if variant.durability and variant.durability.loss_probability_upper is not None
    }
    if bounds:
        text.append(
            f"Survived: the chance that a failure loses a commit is below {100 * max(bounds):.2g} %"
            ", at 95 % confidence; more crashes make it smaller.",
            style="dim",
        )
    return text


def _table(results: Sequence[TrialResult]) -> Table:
    table = Table(
        box=None, pad_edge=False, padding=(0, 1), header_style="dim", title="Crashes",
        title_justify="left", title_style="bold",
    )  # fmt: skip
    table.add_column("trial", overflow="fold")
    for name in ("acknowledged", "lost", "ms before", "in doubt", "recovery s"):
        table.add_column(name, justify="right")
    table.add_column("outcome", overflow="fold")
    for result in results[:_MOST_CRASHES]:
        if result.durability is not None:
            table.add_row(result.trial, *_cells(result.durability))
    if len(results) > _MOST_CRASHES:
        table.add_row(f"and {len(results) - _MOST_CRASHES} more")
    return table


def _cells(record: DurabilityRecord) -> list[str | Text]:
    span = "" if record.lost_span_s is None else f"{record.lost_span_s * 1e3:,.0f}"
    recovery = "" if record.recovery_s is None else number(record.recovery_s)
    wrong = record.problem or ", ".join(record.conditions_failed)
    outcome = Text(record.outcome, style=_STYLES.get(record.outcome, "red"))
    if wrong:
        outcome.append(f": {wrong}", style="default")
    return [f"{record.acknowledged:,}", f"{record.lost:,}", span, f"{record.in_doubt:,}", recovery,
            outcome]  # fmt: skip


def _examples(examples: Sequence[tuple[str, str]]) -> Text:
    text = Text("\nLost first:", style="bold")
    for trial, line in examples[:5]:
        text.append(f"\n {trial}: {line}", style="not bold")
    return text
