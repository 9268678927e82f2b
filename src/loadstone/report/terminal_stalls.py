"""Why it stalled, as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from loadstone.report.model.trials import StallReport
from loadstone.report.text import milliseconds

MORE_OFTEN = "more often than chance"
_MOST_KINDS = 8


def stall_table(trial: str, stalls: StallReport | None) -> list[RenderableType]:
    """The kinds of things that happened with the spikes; nothing if none is beyond chance.

    Args:
        trial: Its name.
        stalls: Of it.
    """
    if stalls is None or not any(kind.verdict == MORE_OFTEN for kind in stalls.kinds):
        return []
    title = Text(f"Why it stalled, {trial}", style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("what happened", overflow="fold")
    for name in ("times", "with spikes", "by chance", "p"):
        table.add_column(name, justify="right")
    table.add_column("")
    for kind in stalls.kinds[:_MOST_KINDS]:
        beyond = kind.verdict == MORE_OFTEN
        table.add_row(
            kind.kind,
            f"{kind.times:,}",
            f"{kind.together} of {len(stalls.spikes)}",
            f"{kind.expected:.1f}",
            f"{kind.p_adjusted:.2g}",
            Text(kind.verdict, "yellow" if beyond else "dim"),
        )
    return [Text(""), Group(title, Text(_spikes(stalls), style="dim"), table)]


def _spikes(stalls: StallReport) -> str:
    limits = [
        f"{name} above {milliseconds(limit / 1e3)} ms"
        for name, limit in (("99 %", stalls.p99_limit_ms), ("slowest", stalls.max_limit_ms))
        if limit is not None
    ]
    return f"{len(stalls.spikes)} spikes of the response time: {' or '.join(limits)}"
