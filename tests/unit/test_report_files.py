from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from loadstone.errors import LoadstoneError, TargetError, WrongInputError
from loadstone.report import html
from loadstone.report.export import SCHEMA, export_csv, export_parquet, rows
from loadstone.report.model.document import ReportDocument
from loadstone.report.schema import schema_text

ROOT = Path(__file__).parents[2]


def test_exports_hold_one_row_per_trial_and_metric(
    ladder_document: ReportDocument, tmp_path: Path
) -> None:
    export_csv(ladder_document, tmp_path / "a.csv")
    export_parquet(ladder_document, tmp_path / "a.parquet")
    expected = rows(ladder_document)
    keys = {(row["trial"], row["metric"]) for row in expected}
    assert len(keys) == len(expected)
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == expected
    with (tmp_path / "a.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert list(read[0]) == SCHEMA.names
    assert [float(row["value"]) for row in read] == [row["value"] for row in expected]
    assert {row["status"] for row in read} >= {"valid", "disturbed", "invalid"}
    assert any(row["unsafe"] == "synchronous_commit=off" for row in read)


@pytest.mark.parametrize("export", [export_csv, export_parquet])
def test_export_into_nowhere_is_one_clear_line(
    export: object, ladder_document: ReportDocument, tmp_path: Path
) -> None:
    with pytest.raises(WrongInputError, match="cannot write"):
        export(ladder_document, tmp_path / "no" / "folder")  # type: ignore[operator]


def test_embedded_document_cannot_end_its_element(ladder_document: ReportDocument) -> None:
    evil = "</script><script>alert(1)</script><!--"
    document = ladder_document.model_copy(update={"title": evil})
    text = html.embedded(document)
    assert "<" not in text
    assert json.loads(text)["title"] == evil


def test_missing_bundle_is_one_clear_line(
    ladder_document: ReportDocument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "_BUNDLE", "bundle/absent.html")
    with pytest.raises(TargetError) as caught:
        html.write_html(ladder_document, tmp_path / "report.html")
    assert "not built" in caught.value.message
    assert "make web" in (caught.value.advice or "")
    assert not (tmp_path / "report.html").exists()


def test_page_in_a_missing_folder_is_one_clear_line(
    ladder_document: ReportDocument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "read_bundle", lambda: f"<p>{html.PLACEHOLDER}</p>")
    with pytest.raises(LoadstoneError, match="cannot write"):
        html.write_html(ladder_document, tmp_path / "no" / "report.html")


def test_committed_schema_is_that_of_the_model() -> None:
    assert (ROOT / "web" / "document.schema.json").read_text() == schema_text(), (
        "renew it: python -m loadstone.report.schema > web/document.schema.json"
    )
