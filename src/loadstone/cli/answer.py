"""Prints a result: the report of an experiment, or the record of one trial."""

from __future__ import annotations

from pathlib import Path

from loadstone.cli.console import out, say, say_document
from loadstone.errors import LoadstoneError
from loadstone.report.document import build_document, document_of
from loadstone.report.model.document import ReportDocument
from loadstone.report.reading import read_experiment


def answer(folder: Path, *, as_json: bool, write_page: bool = False) -> ReportDocument:
    """Prints the report of an experiment.

    Args:
        folder: `results/<experiment>`.
        as_json: One JSON document instead of tables.
        write_page: Also write `report.html` into the folder.

    Returns:
        The report.

    Raises:
        WrongInputError: If it is no folder of an experiment.
    """
    document = build_document(folder)
    if write_page:
        _write_page(document, folder)
    if as_json:
        say_document(document.model_dump_json(indent=2))
    else:
        _print(document, folder, in_full=not write_page)
    return document


def answer_trial(folder: Path, *, as_json: bool) -> None:
    """Prints one trial.

    Args:
        folder: `results/<experiment>/<trial>`.
        as_json: Its `result.json` instead of tables.

    Raises:
        WrongInputError: If it is no folder of a trial.
    """
    from loadstone.results.folder import read_result

    result = read_result(folder)
    if as_json:
        say_document(result.model_dump_json(indent=2))
        return
    whole = read_experiment(folder.parent)
    document = document_of(whole if result.baseline_of is None else whole.of_placements())
    trials = [each for each in document.trials if each.result.trial == result.trial]
    variants = [each for each in document.variants if each.name == result.variant]
    only = document.model_copy(
        update={
            "name": f"{document.name}/{result.trial}",
            "headline": f"Trial {result.trial}: {result.status.value}.",
            "trials": trials,
            "variants": variants,
            "comparisons": [],
            "baseline": None,
            "notices": result.notices,
        }
    )
    _print(only, folder, in_full=True)


def _write_page(document: ReportDocument, folder: Path) -> None:
    """Writes the page if it can be: a run whose page was not built is a run all the same."""
    from loadstone.report.html import write_html

    try:
        write_html(document, folder / "report.html")
    except LoadstoneError as error:
        say(f"no report.html: {error.message}")


def _print(document: ReportDocument, folder: Path, *, in_full: bool) -> None:
    from loadstone.report.terminal import print_report

    print_report(document, folder, out(), in_full=in_full)
