"""What was found, for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from loadstone.doctor.document import file_name
from loadstone.doctor.facts import HostFacts
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.model import Finding, Severity
from loadstone.doctor.server_facts import ServerFacts
from loadstone.doctor.visit import Visit
from loadstone.units import format_size

_STYLES = {
    Severity.DATA: "bold red",
    Severity.SPEED: "bold yellow",
    Severity.LOOK: "bold cyan",
    Severity.NOTE: "dim",
}


def print_visit(visit: Visit, console: Console, saved: str | None) -> None:
    """Prints what was looked at and what was found, the worst first.

    Args:
        visit: The visit.
        console: Where to.
        saved: The folder that experiment files were written to, if they were.
    """
    console.print(f"[bold]Host[/]  {escape(_host(visit.facts.host))}")
    if visit.facts.server is not None:
        console.print(f"[bold]Server[/]  {escape(_server(visit.facts.server))}")
    if visit.facts.superset is not None:
        console.print(f"[bold]Superset[/]  {escape(_superset(visit.facts.superset))}")
    for note in visit.notes:
        console.print(f"  [dim]{escape(note)}[/]")
    findings = [each for each in visit.findings if each.rule.severity is not Severity.NOTE]
    notes = [each for each in visit.findings if each.rule.severity is Severity.NOTE]
    severity = None
    for finding in findings:
        if finding.rule.severity is not severity:
            severity = finding.rule.severity
            console.print(f"\n[{_STYLES[severity]}]{severity.heading}[/]")
        _print_finding(finding, console, saved)
    if notes:
        console.print(f"\n[bold]{Severity.NOTE.heading}[/]")
        for finding in notes:
            _print_note(finding, console)
    console.print(f"\n{_summary(visit, findings, saved)}")


def _host(host: HostFacts) -> str:
    parts = [host.name, f"{host.cores} CPUs", format_size(host.memory_bytes)]
    if host.processor_quota is not None or host.memory_limit_bytes is not None:
        parts[-1] += " within the bounds of its control group"
    if host.place is not None:
        disk = f" on {host.place.disk.name}" if host.place.disk else ""
        parts.append(f"{host.place.folder}: {host.place.file_system}{disk}")
    return ", ".join(parts)


def _server(server: ServerFacts) -> str:
    name = server.title + (" of the experiment" if server.is_planned else "")
    size = server.size_bytes
    return name + (f", {format_size(size)} of data" if size is not None else "")


def _superset(superset: SupersetFacts) -> str:
    known = [
        f"{number} {name}"
        for number, name in (
            (superset.nodes, "nodes"),
            (superset.workers, "workers a node"),
            (superset.threads, "threads a worker"),
        )
        if number is not None
    ]
    return f"of {superset.told_by}: {', '.join(known)}"


def _print_finding(finding: Finding, console: Console, saved: str | None) -> None:
    rule, advice = finding.rule, finding.advice
    console.print(f"  [bold]{escape(rule.about)}[/]  [dim]{rule.name}[/]")
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    rows = [
        ("    seen", advice.seen),
        ("    why", advice.why),
        ("    change", advice.change),
        ("    risk", advice.risk),
        ("    measure", _measure(finding, saved)),
        ("    source", rule.source.title),
    ]
    for name, text in rows:
        table.add_row(name, escape(text))
    console.print(table)
    console.print(f"             [dim]{escape(rule.source.url)}[/]", soft_wrap=True)


def _measure(finding: Finding, saved: str | None) -> str:
    experiment = finding.experiment
    if experiment is None or isinstance(finding.advice.measure, str):
        return finding.no_experiment or ""
    unsafe = " --allow-unsafe" if finding.unsafe else ""
    place = f"{saved}/" if saved else ""
    told = f"loadstone compare {place}{file_name(finding)}{unsafe}"
    levels = " against ".join(str(level) for level in finding.advice.measure.levels)
    told += f" ({experiment.target.engine}: {finding.advice.measure.factor} {levels})"
    return f"{told}; {finding.advice.measure.why}" if finding.advice.measure.why else told


def _print_note(finding: Finding, console: Console) -> None:
    advice = finding.advice
    console.print(f"  {escape(advice.seen)}  [dim]{finding.rule.name}[/]")
    told = Padding(f"[dim]{escape(advice.why)}.\nChange: {escape(advice.change)}.[/]", (0, 0, 0, 4))
    console.print(told)


def _summary(visit: Visit, findings: Sequence[Finding], saved: str | None) -> str:
    counted = f"{visit.looked} rules looked"
    if not findings:
        return f"{counted} and found nothing to change."
    told = f"{counted}; {len(findings)} finding{'s' if len(findings) != 1 else ''}."
    if saved is None and any(each.experiment for each in findings):
        return f"{told} --save DIR writes the experiments that would measure them here."
    return told
