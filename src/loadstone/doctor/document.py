"""What was found, as one JSON document, and as experiment files."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadstone.doctor.model import Finding
from loadstone.doctor.visit import Visit
from loadstone.errors import WrongInputError
from loadstone.experiments.file import write_experiment
from loadstone.results.files import whole_file

DOCUMENT_VERSION = 1
_WIDTH = 96


def document_of(visit: Visit) -> dict[str, Any]:
    """The JSON document; `docs/doctor.md` says what is in it."""
    facts = asdict(visit.facts)
    if visit.facts.server is not None:
        facts["server"]["kind"] = visit.facts.server.subject
    return {
        "version": DOCUMENT_VERSION,
        "rules": visit.looked,
        "findings": [_finding(each) for each in visit.findings],
        "notes": list(visit.notes),
        "facts": facts,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    rule, advice = finding.rule, finding.advice
    return {
        "rule": rule.name,
        "severity": rule.severity.value,
        "about": rule.about,
        "seen": advice.seen,
        "why": advice.why,
        "change": advice.change,
        "risk": advice.risk,
        "source": asdict(rule.source),
        "experiment": (
            finding.experiment.model_dump(mode="json", exclude_unset=True)
            if finding.experiment
            else None
        ),
        "no_experiment": finding.no_experiment,
        "unsafe": finding.unsafe,
        "left_out": list(finding.left_out),
    }


def experiment_file(finding: Finding) -> str:
    """The text of a finding's experiment file, with what was found as its head.

    Raises:
        ValueError: If the finding has no experiment.
    """
    if finding.experiment is None:
        raise ValueError(f"{finding.rule.name} has no experiment")
    rule, advice = finding.rule, finding.advice
    unsafe = " --allow-unsafe" if finding.unsafe else ""
    told = [
        f"{rule.severity.heading}: {rule.about}.",
        f"Seen: {advice.seen}.",
        f"Why: {advice.why}.",
        f"Change: {advice.change}.",
        f"Risk: {advice.risk}.",
        f"Source: {rule.source.title}",
        rule.source.url,
    ]
    if not isinstance(advice.measure, str) and advice.measure.why:
        told.append(f"What it can show: {advice.measure.why}.")
    if finding.left_out:
        told.append(
            "Settings of the server that Loadstone's own does not take were left out: "
            f"{', '.join(finding.left_out)}."
        )
    head = [f"# Written by loadstone doctor. Rule {rule.name}.", "#"]
    for line in told:
        head += [f"# {part}" for part in _wrapped(line)]
    head += ["#", f"#   loadstone compare {file_name(finding)}{unsafe}", ""]
    return "\n".join(head) + "\n" + write_experiment(finding.experiment)


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)


def file_name(finding: Finding) -> str:
    """Name of a finding's experiment file."""
    return f"{finding.rule.name.replace('.', '-')}.yaml"


def save(visit: Visit, folder: Path) -> list[Path]:
    """Writes the experiment of every finding that has one.

    Returns:
        The files.

    Raises:
        WrongInputError: If the folder cannot be written to.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for finding in visit.findings:
            if finding.experiment is not None:
                path = folder / file_name(finding)
                with whole_file(path) as draft:
                    draft.write_text(experiment_file(finding), encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise WrongInputError(f"{folder} cannot be written to: {error.strerror}") from error
    return written
