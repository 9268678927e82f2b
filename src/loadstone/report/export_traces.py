"""Whole transactions as a flat table, for other tools: one row per request that was sent."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.protocol.traces import Trace, Traces
from loadstone.report.model.document import ReportDocument
from loadstone.results.files import whole_file
from loadstone.results.record import TrialResult

COLUMNS = (
    *("experiment", "trial", "variant", "status", "operation", "transaction", "phase"),
    *("due_s", "begun_s", "took_s", "failed", "request", "step", "lane", "cause", "at_s"),
    *("blocked_s", "resolve_s", "connect_s", "tls_s", "send_s", "wait_s", "receive_s"),
    *("connection", "answer", "error", "sent_bytes", "received_bytes"),
)
"""`transaction` is `slowest`, `failed`, or `sample 1` and so on, of which the first is typical."""


def trace_rows(document: ReportDocument) -> list[dict[str, Any]]:
    """One row per request of each transaction that is kept, by trial and operation."""
    return [
        {"experiment": document.name, **row}
        for trial in document.trials
        for row in _of_trial(trial.result)
    ]


def _of_trial(result: TrialResult) -> Iterator[dict[str, Any]]:
    own = {"trial": result.trial, "variant": result.variant, "status": result.status.value}
    for operation, told in result.traces.items():
        for name, trace in _named(told):
            whole = {
                "operation": operation,
                "transaction": name,
                "failed": trace.error or "",
                **trace.model_dump(include={"phase", "due_s", "begun_s", "took_s"}),
            }
            for row in trace.rows:
                cells = row.model_dump(exclude={"status"})
                yield {**own, **whole, **cells, "answer": row.status}


def _named(told: Traces) -> Iterator[tuple[str, Trace]]:
    if told.slowest is not None:
        yield "slowest", told.slowest
    if told.failed is not None:
        yield "failed", told.failed
    for number, trace in enumerate(told.sample, start=1):
        yield f"sample {number}", trace


def export_traces(document: ReportDocument, path: Path) -> None:
    """Writes the rows as CSV (RFC 4180) with a header; what is not known is empty.

    Raises:
        WrongInputError: If the file cannot be written.
    """
    try:
        with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(trace_rows(document))
    except OSError as error:
        raise WrongInputError(f"cannot write {path}: {error.strerror}") from error
