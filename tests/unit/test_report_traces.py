"""How transactions went by: on the terminal and in exports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import sample_results
from rich.console import Console
from sample_results import Sample, write_results
from sample_traces import HOME, failing, trace, traces

from loadstone.report.document import build_document
from loadstone.report.export_traces import COLUMNS, export_traces
from loadstone.report.model.document import ReportDocument
from loadstone.report.terminal import print_report
from loadstone.spec.design import RunDesign

ERRORS = {"failed": failing()}
BOTH = {"new-order": traces(), "payment": {"slowest": trace(0.2), "sample": [trace(0.1)]}}


def with_traces(tmp_path: Path, told: dict[str, Any] | None) -> tuple[ReportDocument, Path]:
    """One trial, and the transactions that it keeps."""
    spec = sample_results.experiment(RunDesign(), 1, name="one-run")
    folder = write_results(tmp_path, spec, Sample(tick_s=10))
    (path,) = folder.glob("*/result.json")
    result = json.loads(path.read_text())
    result.pop("traces", None)
    path.write_text(json.dumps(result | ({} if told is None else {"traces": told})))
    return build_document(folder), folder


def printed(found: tuple[ReportDocument, Path], *, width: int = 100, in_full: bool = False) -> str:
    stream = io.StringIO()
    print_report(*found, Console(file=stream, width=width), in_full=in_full)
    return stream.getvalue()


def rows_of(text: str, title: str) -> list[list[str]]:
    """The words of the lines below a title, up to the next empty one."""
    part = text.partition(title)[2].partition("\n\n")[0]
    return [line.split() for line in part.splitlines()[1:]]


def test_the_slowest_of_all_operations_is_shown_with_its_parts(tmp_path: Path) -> None:
    text = printed(with_traces(tmp_path, BOTH))
    head, *rows = rows_of(text, "Slowest transaction")
    assert head == ["request", "at", "ms", "blocked", "connect", "wait", "receive", "done", "ms",
                    "answer"]  # fmt: skip
    assert "new-order took 523 ms" in text
    assert rows[0] == ["1", "home", "page", "4.00", "1.00", "100", "106", "302"]
    assert rows[1] == ["1", "home", "page,", "redirected", "106", "20.0", "4.00", "130", "200"]
    assert rows[2][:3] == ["3.1", "style", "180"]
    assert rows[3][-6:] == ["180", "51.0", "281", "11.0", "523", "200"]
    assert rows[4] == ["3.3", "image", "180", "14.0", "16.0", "2.00", "212", "closed"]
    assert "sent once more" in " ".join(rows[5])
    assert "begun 4 ms later" in text
    assert text.count("Slowest transaction") == 1
    assert "Typical transaction" not in text


def test_one_that_failed_is_shown_beside_it(tmp_path: Path) -> None:
    text = printed(with_traces(tmp_path, BOTH))
    rows = rows_of(text, "Failed transaction")
    assert rows[2][-1] == "first_byte_timeout"
    words = " ".join(text.split())
    assert "failed: first_byte_timeout; 3 more requests are not kept" in words
    alone = printed(with_traces(tmp_path / "other", {"new-order": ERRORS}))
    assert "Failed transaction" in alone
    assert "Slowest transaction" not in alone


def test_in_full_every_operation_has_its_slowest_and_a_typical_one(tmp_path: Path) -> None:
    text = printed(with_traces(tmp_path, BOTH), in_full=True)
    assert text.count("Slowest transaction") == text.count("Typical transaction") == 2
    assert "payment took 200 ms" in text
    assert "payment took 100 ms" in text


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_the_terminal(tmp_path: Path, width: int) -> None:
    text = printed(with_traces(tmp_path, BOTH), width=width, in_full=True)
    assert max(map(len, text.splitlines())) <= width


def test_results_without_transactions_say_nothing_of_any(tmp_path: Path) -> None:
    found = with_traces(tmp_path, None)
    assert found[0].trials[0].result.traces == {}
    assert "transaction," not in printed(found, in_full=True)
    export_traces(found[0], tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text().splitlines() == [",".join(COLUMNS)]


def test_they_are_exported_a_row_for_each_request(tmp_path: Path) -> None:
    document, _ = with_traces(tmp_path, BOTH)
    path = tmp_path / "transactions.csv"
    export_traces(document, path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = [(row["operation"], row["transaction"]) for row in rows]
    assert list(dict.fromkeys(kinds)) == [
        ("new-order", "slowest"),
        ("new-order", "failed"),
        *(("new-order", f"sample {number}") for number in (1, 2, 3)),
        ("payment", "slowest"),
        ("payment", "sample 1"),
    ]
    assert kinds.count(("new-order", "slowest")) == len(HOME["rows"])
    script = next(row for row in rows if row["request"].startswith("script"))
    told = HOME["rows"][3]
    for name in ("at_s", "resolve_s", "connect_s", "tls_s", "send_s", "wait_s", "receive_s"):
        assert float(script[name]) == told[name]
    assert (script["step"], script["lane"], script["answer"]) == ("3", "2", "200")
    assert (script["took_s"], script["due_s"], script["failed"]) == ("0.523", "12.5", "")
    assert script["trial"] == document.trials[0].result.trial
