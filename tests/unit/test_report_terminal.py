from __future__ import annotations

import io
from pathlib import Path

import pytest
import sample_results
from rich.console import Console
from sample_results import Sample, write_results

from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.steps import StepsReport, StepTitle
from loadstone.report.model.trials import StepReport
from loadstone.report.terminal import print_report
from loadstone.results.record import Status
from loadstone.spec.design import RunDesign


def printed(document: ReportDocument, folder: Path, **options: object) -> str:
    stream = io.StringIO()
    print_report(document, folder, Console(file=stream, **{"width": 80, **options}))  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_fits_the_width_and_loses_nothing(
    ladder_document: ReportDocument, ladder_folder: Path, width: int
) -> None:
    text = printed(ladder_document, ladder_folder, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    words = " ".join(text.split())
    for expected in ("useless", "▲ better", "UNSAFE: synchronous_commit=off", "several changes"):
        assert expected in words
    assert "\x1b" not in text, "no colour where there is no terminal"
    for notice in ladder_document.notices:
        assert " ".join(notice.message.split()) in words


def test_colour_on_a_terminal(ladder_document: ReportDocument, ladder_folder: Path) -> None:
    assert "\x1b[32m" in printed(
        ladder_document, ladder_folder, force_terminal=True, color_system="standard"
    )


def test_markup_in_names_is_text(ladder_document: ReportDocument, ladder_folder: Path) -> None:
    document = ladder_document.model_copy(update={"title": "[red]not markup[/red]"})
    assert "[red]not markup[/red]" in printed(document, ladder_folder)


def test_single_run_shows_percentiles_checks_and_waits(tmp_path: Path) -> None:
    spec = sample_results.experiment(RunDesign(), 1, name="one-run")
    folder = write_results(tmp_path, spec, Sample(tick_s=4))
    text = printed(build_document(folder), folder)
    for expected in ("p99.9", "new-order", "LWLock: WALWrite", "all 12 passed", "repeat it"):
        assert expected in text


def test_failed_check_is_shown(tmp_path: Path) -> None:
    spec = sample_results.experiment(RunDesign(), 1, name="one-run")
    sample = Sample(tick_s=4, statuses={1: Status.INVALID})
    folder = write_results(tmp_path, spec, sample)
    text = " ".join(printed(build_document(folder), folder).split())
    assert "1 of 13 failed" in text
    assert "TPC-C 3.3.2.1" in text
    assert "No trial is valid" in text


def stepped(document: ReportDocument, *steps: StepReport) -> ReportDocument:
    """The document as of a workload with one step, whose time is its first metric."""
    metric = document.metrics[0].name
    titles = [StepTitle(operation="q01", title="Summary", metric=metric)]
    report = StepsReport(steps=titles, comparisons=[], moved=[], plans=[], plan_changes=[])
    trials = [trial.model_copy(update={"steps": list(steps)}) for trial in document.trials]
    return document.model_copy(update={"steps": report, "trials": trials})


def test_steps_have_their_times_and_what_was_measured_of_them(tmp_path: Path) -> None:
    spec = sample_results.experiment(RunDesign(), 3, name="steps")
    folder = write_results(tmp_path, spec, Sample(tick_s=4))
    document = build_document(folder)
    (begin_s,) = (span.from_s for span in document.trials[-1].phases if span.kind == "measure")
    nothing = dict.fromkeys(
        ("rows", "error", "parser_cpu_s", "read_bytes", "written_bytes", "spilled_beside_bytes")
    )
    warm_up = StepReport(
        stream="validation", operation="q01", kind="query", from_s=begin_s - 2, to_s=begin_s - 1,
        cpu_s=777.0, peak_bytes=1, spilled_bytes=None, **nothing,
    )  # fmt: skip
    measured = warm_up.model_copy(
        update={"from_s": begin_s, "to_s": begin_s + 1, "cpu_s": 1.25, "peak_bytes": 3 << 20}
    )
    text = printed(stepped(document, warm_up, measured), folder)
    head, row = text.partition("Steps: time in s")[2].splitlines()[1:3]
    assert head.split() == ["step", "minimum", "median", "interval", "CPU", "s", "memory"]
    assert row.startswith("q01")
    assert row.endswith("1.25    3 MB")
    assert max(len(line) for line in text.splitlines()) <= 80
