"""Requests below operations, in the document, on the terminal and in exports."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import sample_results
from rich.console import Console
from sample_results import Sample, write_results

from loadstone.report.document import build_document
from loadstone.report.export import rows
from loadstone.report.model.document import ReportDocument
from loadstone.report.terminal import print_report
from loadstone.results.record import Status
from loadstone.spec.design import Design, RunDesign


def page(name: str, count: int, p50_ms: float, **fields: Any) -> dict[str, Any]:
    """A request as a result has it; its times follow from the median."""
    s = p50_ms / 1e3
    times = {
        "count": count, "mean_s": 1.2 * s, "p50_s": s, "p90_s": 2 * s, "p95_s": 3 * s,
        "p99_s": 5 * s, "p999_s": 8 * s, "max_s": 10 * s,
    }  # fmt: skip
    service = times if count else None
    return {"name": name, "count": count, "rate_per_s": count / 20, "service": service, **fields}


def with_requests(folder: Path, *medians_ms: list[float]) -> ReportDocument:
    """The document of results whose new orders are made of two requests.

    Args:
        folder: Of results.
        *medians_ms: Of the first request in the trials of each variant, as the design has them.
    """
    variants = json.loads((folder / "design.json").read_text())["variants"]
    names = [variant["name"] for variant in variants]
    own = {name: list(medians) for name, medians in zip(names, medians_ms, strict=True)}
    for path in sorted(folder.glob("*/result.json")):
        result = json.loads(path.read_text())
        failed = {
            "errors": {"status_500": 2, "reset": 1},
            "resent": {"closed": 4},
            "retried": {"status_503": 5},
            "marks": {"cached": 100, "stale": 0},
        }
        requests = [
            page("order form", 400, own[result["variant"]].pop(0), **failed),
            page("style", 0, 1.0),
        ]
        for operation in result["operations"][:1]:
            operation["requests"] = requests
        result["phases"].append(
            {"name": "drain", "kind": "drain", "from_s": 25.25, "to_s": 85.25, "count": 1234,
             "errors": {"status_503": 7}}
        )  # fmt: skip
        path.write_text(json.dumps(result))
    return build_document(folder)


def written(tmp_path: Path, design: Design | None, repeats: int, **sample: Any) -> Path:
    spec = (
        sample_results.compare(repeats)
        if design is None
        else sample_results.experiment(design, repeats, name="one-run")
    )
    return write_results(tmp_path, spec, Sample(tick_s=10, **sample))


def printed(document: ReportDocument, folder: Path, width: int = 80) -> str:
    stream = io.StringIO()
    print_report(document, folder, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture
def compared(tmp_path: Path) -> tuple[ReportDocument, Path]:
    """Three trials of two levels."""
    folder = written(tmp_path, None, 3)
    document = with_requests(folder, [10.0, 30.0, 20.0], [5.0, 6.0, 7.0])
    return document, folder


def test_a_row_has_each_variant_side_by_side(compared: tuple[ReportDocument, Path]) -> None:
    document, _ = compared
    assert [(row.operation, row.request) for row in document.requests] == [
        ("new-order", "order form"),
        ("new-order", "style"),
    ]
    form, style = document.requests
    assert [each.variant for each in form.figures] == [each.name for each in document.variants]
    first, second = form.figures
    assert (first.trials, first.count, first.rate_per_s) == (3, 1200, 20.0)
    assert (first.errors, first.resent) == ({"reset": 3, "status_500": 6}, {"closed": 12})
    assert (first.retried, first.marks) == ({"status_503": 15}, {"cached": 300, "stale": 0})
    assert (first.p50_ms, second.p50_ms) == (pytest.approx(20.0), pytest.approx(6.0))
    assert (first.p95_ms, first.p99_ms) == (pytest.approx(60.0), pytest.approx(100.0))
    assert (first.mean_ms, first.max_ms) == (pytest.approx(24.0), pytest.approx(300.0))
    assert [(each.count, each.p50_ms) for each in style.figures] == [(0, None), (0, None)]


def test_only_valid_trials_count(tmp_path: Path) -> None:
    folder = written(tmp_path, RunDesign(), 3, statuses={2: Status.INVALID})
    (form, _) = with_requests(folder, [1.0, 99.0, 3.0]).requests
    (figures,) = form.figures
    assert (figures.trials, figures.count, figures.max_ms) == (2, 800, pytest.approx(30.0))


@pytest.mark.parametrize("width", [80, 120])
def test_compared_requests_stand_beside_each_other(
    compared: tuple[ReportDocument, Path], width: int
) -> None:
    document, folder = compared
    text = printed(document, folder, width)
    assert max(map(len, text.splitlines())) <= width
    part = text.partition("Requests: service time in ms")[2]
    for variant in document.variants:
        assert variant.name in part
    lines = [line.split() for line in part.splitlines() if line.startswith("new-order / order")]
    figures = [line[-5:] for line in lines if line[-1].isdigit()]
    assert figures[:2] == [["20", "20", "60", "100", "9"], ["20", "6", "18", "30", "9"]]
    words = " ".join(part.split())
    assert (
        "errors: status_500 6, reset 3; sent once more: closed 12; tried again: status_503 15"
        in words
    )
    assert "cached 25.0 %, stale 0.0 %" in words


def test_a_run_shows_the_requests_and_the_drain_of_a_trial(tmp_path: Path) -> None:
    folder = written(tmp_path, RunDesign(), 1)
    text = printed(with_requests(folder, [10.0]), folder, 100)
    requests = text.partition("Requests, service time in ms")[2]
    row = next(line for line in requests.splitlines() if "order form" in line)
    assert row.split()[-7:] == ["400", "20", "12", "10", "30", "50", "100"]
    assert "errors: status_500 2, reset 1; sent once more: closed 4" in requests
    assert "tried again: status_503 5" in requests
    assert "cached 25.0 %, stale 0.0 %" in requests
    phases = text.partition("Phases that are not measured")[2]
    row = next(line for line in phases.splitlines() if line.startswith("drain"))
    assert row.split() == ["drain", "1min", "1,234", "7"]
    assert "errors: status_503 7" in phases


def test_of_many_requests_a_run_shows_the_foremost_and_show_every_one(tmp_path: Path) -> None:
    folder = written(tmp_path, RunDesign(), 1)
    (path,) = folder.glob("*/result.json")
    result = json.loads(path.read_text())
    many = [page(f"chart-{number:02}", 10, float(number)) for number in range(1, 41)]
    many[2]["errors"] = {"chart_failed": 1}
    many[5]["retried"] = {"status_503": 3}
    result["operations"][0]["requests"] = many
    path.write_text(json.dumps(result))
    document = build_document(folder)
    text = printed(document, folder, 100)
    shown = [line.split()[2] for line in text.splitlines() if "/ chart-" in line]
    slowest = [f"chart-{number}" for number in range(40, 30, -1)]
    assert shown == [*slowest, "chart-06", "chart-03"]
    assert "the 12 of 40 requests" in text
    assert f"loadstone show {document.name} has every one" in " ".join(text.split())
    stream = io.StringIO()
    print_report(document, folder, Console(file=stream, width=100), in_full=True)
    whole = [line for line in stream.getvalue().splitlines() if "/ chart-" in line]
    assert len(whole) == 40
    assert "has every one" not in stream.getvalue()


def test_of_many_requests_of_several_variants_the_foremost_are_the_same(tmp_path: Path) -> None:
    folder = written(tmp_path, None, 1)
    for path in folder.glob("*/result.json"):
        result = json.loads(path.read_text())
        many = [page(f"chart-{number:02}", 10, float(number)) for number in range(1, 41)]
        many[0]["errors"] = {"status_503": 1}
        result["operations"][0]["requests"] = many
        path.write_text(json.dumps(result))
    document = build_document(folder)
    text = printed(document, folder, 120)
    part = text.partition("Requests: service time in ms")[2]
    shown = [line.split()[2] for line in part.splitlines() if line.startswith("new-order / chart-")]
    once = [*(f"chart-{number}" for number in range(40, 29, -1)), "chart-01"]
    assert shown[:24] == once * 2
    assert "the 12 of 40 requests" in part


def test_older_results_have_no_requests_and_no_such_tables(tmp_path: Path) -> None:
    folder = written(tmp_path, None, 2)
    for path in folder.glob("*/result.json"):
        result = json.loads(path.read_text())
        for operation in result["operations"]:
            del operation["requests"]
        for phase in result["phases"]:
            del phase["count"], phase["errors"]
        path.write_text(json.dumps(result))
    document = build_document(folder)
    assert document.requests == []
    assert document.trials[0].result.phases[0].count == 0
    text = printed(document, folder)
    assert "Requests" not in text
    assert "not measured" not in text


def test_exports_have_the_figures_of_requests(tmp_path: Path) -> None:
    folder = written(tmp_path, RunDesign(), 1)
    found = rows(with_requests(folder, [10.0]))
    keys = [(row["trial"], row["metric"]) for row in found]
    assert len(keys) == len(set(keys))
    name = "new-order/order form "
    figures = {
        row["metric"].removeprefix(name): (row["value"], row["unit"])
        for row in found
        if row["metric"].startswith(name)
    }
    assert figures == {
        "count": (400, "requests"),
        "rate": (20, "requests/s"),
        "errors": (3, "requests"),
        "errors status_500": (2, "requests"),
        "errors reset": (1, "requests"),
        "resent": (4, "requests"),
        "resent closed": (4, "requests"),
        "retried status_503": (5, "tries"),
        "mark cached": (100, "requests"),
        "mark stale": (0, "requests"),
        "mean": (pytest.approx(12.0), "ms"),
        "p50": (pytest.approx(10.0), "ms"),
        "p95": (pytest.approx(30.0), "ms"),
        "p99": (pytest.approx(50.0), "ms"),
        "max": (pytest.approx(100.0), "ms"),
    }
    assert "new-order/style p50" not in {row["metric"] for row in found}


def test_requests_are_not_among_what_is_compared(compared: tuple[ReportDocument, Path]) -> None:
    document, _ = compared
    assert not any("order form" in metric.name for metric in document.metrics)
