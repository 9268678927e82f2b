"""`loadstone export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loadstone.cli.console import say, say_document
from loadstone.cli.find import find_result
from loadstone.cli.options import Output
from loadstone.errors import WrongInputError

if TYPE_CHECKING:
    from loadstone.report.model.document import ReportDocument


def command(
    result: str,
    /,
    *,
    csv: Path | None = None,
    parquet: Path | None = None,
    transactions: Path | None = None,
    output: Output = Output(),  # noqa: B008
) -> None:
    """Export the figures of a result, one row per trial and metric.

    * `loadstone export oltp-ladder --csv figures.csv`
    * `loadstone export shop --transactions waterfall.csv`

    Args:
        result: An experiment, as `loadstone list` names it, or its folder.
        csv: A CSV file to write.
        parquet: A Parquet file to write.
        transactions: A CSV file of the whole transactions that were kept, one row per request.
        output: Where results lie; with --json the rows are printed.
    """
    if csv is None and parquet is None and transactions is None and not output.json:
        raise WrongInputError(
            "no file to export to was given",
            advice="add --csv FILE, --parquet FILE, --transactions FILE or --json",
        )
    from loadstone.report.document import build_document
    from loadstone.report.export import export_csv, export_parquet
    from loadstone.report.export_traces import export_traces

    document = build_document(find_result(output, result).experiment)
    files = ((csv, export_csv), (parquet, export_parquet), (transactions, export_traces))
    for path, export in files:
        if path is not None:
            export(document, path)
            say(f"exported to {path}")
    if output.json:
        _print_rows(document)


def _print_rows(document: ReportDocument) -> None:
    import json

    from loadstone.report.export import rows

    say_document(json.dumps({"version": 1, "rows": rows(document)}, indent=2))
