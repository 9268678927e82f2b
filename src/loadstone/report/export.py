"""All metrics of all trials as a flat table, for other tools."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from loadstone.errors import WrongInputError
from loadstone.report.model.document import ReportDocument
from loadstone.results.files import whole_file
from loadstone.results.metrics import (
    all_metrics,
    level_metrics,
    power_metrics,
    request_metrics,
)
from loadstone.results.record import DurabilityRecord, MetricValue

SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("trial", pa.string()),
        ("variant", pa.string()),
        ("block", pa.int64()),
        ("order", pa.int64()),
        ("status", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("unit", pa.string()),
        ("unsafe", pa.string()),
        ("mark", pa.string()),
    ]
)
"""Columns of the export. `unsafe` names the unsafe settings, empty when there are none. `mark` says
that a figure of power is `simulated` or `estimated`."""


def rows(document: ReportDocument) -> list[dict[str, Any]]:
    """One row per trial and metric, trials of every status.

    Figures of requests, of each meter and of each level of the load are among them.
    """
    return [
        {
            "experiment": document.name,
            "trial": trial.result.trial,
            "variant": trial.result.variant,
            "block": trial.result.block,
            "order": trial.result.order,
            "status": trial.result.status.value,
            "metric": metric.name,
            "value": metric.value,
            "unit": metric.unit,
            "unsafe": "; ".join(trial.result.unsafe),
            "mark": metric.mark,
        }
        for trial in document.trials
        for metric in [
            *all_metrics(trial.result),
            *power_metrics(trial.result),
            *level_metrics(trial.result),
            *request_metrics(trial.result),
            *_of_crash(trial.result.durability),
        ]
    ]


def _of_crash(record: DurabilityRecord | None) -> list[MetricValue]:
    """The figures of a crash trial, which has no others."""
    if record is None:
        return []
    figures = [
        ("acknowledged_commits", record.acknowledged, "commits"),
        ("lost_commits", record.lost, "commits"),
        ("lost_span_ms", None if record.lost_span_s is None else 1e3 * record.lost_span_s, "ms"),
        ("recovery_s", record.recovery_s, "s"),
        ("conditions_failed", len(record.conditions_failed), "conditions"),
    ]
    return [
        MetricValue(name=name, value=float(value), unit=unit)
        for name, value, unit in figures
        if value is not None
    ]


def export_csv(document: ReportDocument, path: Path) -> None:
    """Writes the rows as CSV (RFC 4180) with a header.

    Raises:
        WrongInputError: If the file cannot be written.
    """
    try:
        with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, SCHEMA.names)
            writer.writeheader()
            writer.writerows(rows(document))
    except OSError as error:
        raise WrongInputError(f"cannot write {path}: {error.strerror}") from error


def export_parquet(document: ReportDocument, path: Path) -> None:
    """Writes the rows as Parquet.

    Raises:
        WrongInputError: If the file cannot be written.
    """
    table = pa.Table.from_pylist(rows(document), schema=SCHEMA)
    try:
        with whole_file(path) as draft:
            pq.write_table(table, draft)
    except OSError as error:
        raise WrongInputError(f"cannot write {path}: {error.strerror or error}") from error
