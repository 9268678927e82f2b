"""What limits the system, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from loadstone.experiments.searching import amount
from loadstone.report.model.limits import LimitReport
from loadstone.report.model.searching import LevelReport

TITLE = "What limits it"
_MOST_BESIDE = 3


def limits_of_trial(reports: Sequence[LimitReport]) -> list[RenderableType]:
    """Of each measured phase of one trial."""
    return _lines(reports, [report.phase for report in reports])


def limits_of_variants(reports: Sequence[LimitReport]) -> list[RenderableType]:
    """Of several variants."""
    names = [
        f"{report.variant}, {report.phase}" if report.phase else report.variant
        for report in reports
    ]
    return _lines(reports, names)


def limits_of_level(level: LevelReport | None, unit: str) -> list[RenderableType]:
    """Of the level of a search that failed first; nothing where nobody looked."""
    if level is None or level.limit is None:
        return []
    return _lines([level.limit], [amount(level.level, unit)])


def sentence(report: LimitReport) -> str:
    """What was found; where it was not, what was looked at."""
    if not report.limit:
        found = f"not found. None of these was full: {report.looked_at}"
    else:
        found = f"{report.limit}. {report.evidence[:1].upper()}{report.evidence[1:]}"
    if report.trials > 1:
        found += f". So in {report.times} of {report.trials} trials"
    return f"{found}."


# -- inside ------------------------------------------------------------------------------------
def _lines(reports: Sequence[LimitReport], names: Sequence[str]) -> list[RenderableType]:
    if not reports:
        return []
    found: list[RenderableType] = [Text("")]
    for report, name in zip(reports, names, strict=True):
        head = Text(f"{TITLE}{f', {name}' if name else ''}: ", style="bold")
        found.append(head + Text(sentence(report), style="default"))
        beside = [use for use in report.uses if use.full][1 : 1 + _MOST_BESIDE]
        found += [
            Padding(Text(f"also full: {use.title}: {use.evidence}", style="dim"), (0, 0, 0, 2))
            for use in beside
        ]
    return found
