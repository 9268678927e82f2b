"""The report on a terminal, or in a pipe."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from loadstone.report.model.document import ReportDocument
from loadstone.report.terminal_baselines import baseline_tables
from loadstone.report.terminal_beside import beside_tables
from loadstone.report.terminal_crashes import crash_tables, durability_list
from loadstone.report.terminal_graduated import graduated_tables
from loadstone.report.terminal_held import held_tables
from loadstone.report.terminal_jobs import jobs_tables
from loadstone.report.terminal_limits import limits_of_variants
from loadstone.report.terminal_matrix import matrix_tables
from loadstone.report.terminal_parts import part_tables
from loadstone.report.terminal_power import density_tables, power_tables
from loadstone.report.terminal_published import published_tables
from loadstone.report.terminal_requests import request_tables
from loadstone.report.terminal_scale import scale_tables
from loadstone.report.terminal_search import search_tables
from loadstone.report.terminal_trial import trial_tables
from loadstone.report.terminal_variants import steps_list, variants_tables
from loadstone.results.record import Notice

_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}
_WORDS = {"error": "error", "warning": "warning", "info": "note"}


def print_report(
    document: ReportDocument, folder: Path, console: Console, *, in_full: bool = False
) -> None:
    """Prints headline, figures with verdicts, notices with advice, and where the files are.

    Args:
        document: What is printed.
        folder: Where its files lie.
        console: Where to print; good from 80 columns on, with colour or without.
        in_full: With what each check holds, for who has asked for it.
    """
    for part in report_parts(document, folder, in_full=in_full):
        console.print(part, highlight=False)


def report_parts(
    document: ReportDocument, folder: Path, *, in_full: bool = False
) -> list[RenderableType]:
    """The parts of the report, in order."""
    parts: list[RenderableType] = [_head(document)]
    if document.search is not None:
        parts += search_tables(document.search)
    elif document.scale is not None:
        parts += scale_tables(document.scale)
    elif len(document.variants) > 1:
        parts += matrix_tables(document) or variants_tables(document)
        parts += [steps_list(document), durability_list(document)]
    if len(document.variants) == 1 and document.search is None:
        parts += crash_tables(document)
        parts += trial_tables(document, in_full=in_full)
    if document.steps is not None and document.steps.moved:
        parts.append(Text("\n" + "\n".join(document.steps.moved)))
    if document.graduated is not None:
        parts += graduated_tables(document.graduated)
    if document.jobs is not None:
        parts += jobs_tables(document.jobs)
    if document.held is not None:
        parts += held_tables(document.held)
    parts += power_tables(document.power)
    parts += density_tables(document.density)
    if len(document.variants) > 1 and document.search is None:
        parts += request_tables(document, in_full=in_full)
        parts += part_tables(document)
        parts += limits_of_variants(document.limits)
    parts += baseline_tables(document)
    parts += beside_tables(document)
    parts += published_tables(document)
    if document.notices:
        parts.append(_notices(document.notices))
    parts.append(_files(document, folder))
    return parts


def _head(document: ReportDocument) -> RenderableType:
    title = Text(document.title, style="bold")
    if document.title != document.name:
        title.append(f"  ({document.name})", style="dim")
    if document.status == "partial":
        title.append("  partial: the run ended before its last trial", style="yellow")
    return Group(Text(""), title, Text(document.headline), Text(""))


def _notices(notices: list[Notice]) -> RenderableType:
    lines: list[RenderableType] = [Text("")]
    for notice in notices:
        head = Text(f"{_WORDS[notice.severity]}: ", style=_STYLES[notice.severity])
        lines.append(head + Text(notice.message, style="default"))
        if notice.advice:
            lines.append(Padding(Text(notice.advice, style="dim"), (0, 0, 0, 2)))
    return Group(*lines)


def _files(document: ReportDocument, folder: Path) -> RenderableType:
    page = folder / "report.html"
    where = str(page) if page.is_file() else f"loadstone report {document.name} writes it"
    priced = [_fact("price", document.price)] if document.price else []
    lines = [Text(""), *priced, _fact("files", str(folder)), _fact("report", where)]
    if document.command:
        lines.append(_fact("again", document.command))
    return Group(*lines)


def _fact(name: str, value: str) -> Text:
    return Text(f"{name:<8}", style="dim").append(value, style="default")
