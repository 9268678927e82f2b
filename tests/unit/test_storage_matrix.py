"""A matrix of storage and tests: each test a family, and the best marked only where it is shown."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from sample_storage import Sample, alone, compared, write_storage

from loadstone.cli.outlook import look_ahead
from loadstone.report.depths import depth_curves, depths_said, knee_of
from loadstone.report.document import build_document
from loadstone.report.model.document import ReportDocument
from loadstone.report.model.steps import DepthCurve, DepthPoint, StepsReport
from loadstone.report.terminal import print_report
from loadstone.results.statistics import holm
from loadstone.spec.model import WorkloadSpec

THREE = ("loop:ext4", "loop:xfs", "loop:btrfs")
WRITES = "RND4K Q1T1 write mb_per_s"


def steps_of(document: ReportDocument) -> StepsReport:
    assert document.steps is not None
    return document.steps


def printed(document: ReportDocument, folder: Path) -> str:
    text = StringIO()
    print_report(document, folder, Console(file=text, width=80, color_system=None))
    return text.getvalue()


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReportDocument, Path]:
    """xfs writes faster in one test, btrfs slower; all else is equal."""
    sample = Sample({f"data=loop:xfs: {WRITES[:-9]}": 1.3, f"data=loop:btrfs: {WRITES[:-9]}": 0.8})
    folder = write_storage(tmp_path_factory.mktemp("matrix"), compared(*THREE), sample)
    return build_document(folder), folder


def test_each_test_is_a_family_of_its_own(matrix: tuple[ReportDocument, Path]) -> None:
    report = steps_of(matrix[0])
    assert len(report.steps) == 8
    assert len(report.comparisons) == 16
    for step in report.steps:
        column = [each for each in report.comparisons if each.metric == step.metric]
        assert [each.candidate for each in column] == ["data=loop:xfs", "data=loop:btrfs"]
        raw = [each.p_value for each in column]
        assert all(p is not None for p in raw)
        corrected = holm([p for p in raw if p is not None])
        assert [each.p_adjusted for each in column] == pytest.approx(corrected)
    verdicts = {c.candidate: c.verdict for c in report.comparisons if c.metric == WRITES}
    assert verdicts == {"data=loop:xfs": "better", "data=loop:btrfs": "worse"}


def test_the_best_is_marked_only_where_it_is_shown(matrix: tuple[ReportDocument, Path]) -> None:
    best = {each.metric: each for each in steps_of(matrix[0]).best}
    assert (best[WRITES].variant, best[WRITES].shown) == ("data=loop:xfs", True)
    others = [each for metric, each in best.items() if metric != WRITES]
    assert len(others) == 7
    assert not any(each.shown for each in others)
    assert all(each.level and each.pairs == 3 for each in others)


def test_who_leads_by_a_little_is_level_with_who_follows(tmp_path: Path) -> None:
    sample = Sample({"data=loop:xfs": 1.005, "data=loop:btrfs": 0.5}, noise=0.05)
    document = build_document(write_storage(tmp_path, compared(*THREE), sample))
    for each in steps_of(document).best:
        assert not each.shown
        assert each.level in (["data=loop:ext4"], ["data=loop:xfs"])


def test_the_matrix_fits_a_terminal(matrix: tuple[ReportDocument, Path]) -> None:
    document, folder = matrix
    text = printed(document, folder)
    assert max(map(len, text.splitlines())) <= 80
    assert "Read, MB/s" in text
    assert "Write, MB/s" in text
    assert "★ 41" in text or "★ 42" in text
    assert "in 1 of 8 tests" in text
    assert '"data=loop:xfs" is faster than "data=loop:ext4" in 1 of 8 tests:' in text
    assert document.headline.startswith(
        '"data=loop:xfs" is shown to be the best in 1 of 8 tests: RND4K Q1T1 write. In 7 of 8 '
    )


def test_one_configuration_is_the_familiar_table(tmp_path: Path) -> None:
    folder = write_storage(tmp_path, alone())
    text = printed(build_document(folder), folder)
    lines = [line.split() for line in text.splitlines()]
    heading = ["test", "read,", "MB/s", "read", "score", "write,", "MB/s", "write", "score"]
    assert heading in lines
    row = next(line for line in lines if line[:2] == ["SEQ1M", "Q8T1"])
    assert len(row) == 6
    assert ["test", "IO/s", "p50", "ms"] in lines


def points(*rates: float) -> list[DepthPoint]:
    return [
        DepthPoint(title=f"Q{2**at}", in_flight=2**at, rate=rate, p50_ms=None, p99_ms=None)
        for at, rate in enumerate(rates)
    ]


def test_the_knee_is_where_more_in_flight_costs_more_time_than_it_brings() -> None:
    knee = knee_of(points(100, 190, 340, 400, 410))
    assert knee == 2
    assert knee_of(points(100, 200, 400, 800)) is None, "it was not passed"
    curve = DepthCurve(
        variant="disk", label="randread 4 KB", points=points(100, 190, 340, 400), knee=2
    )
    assert depths_said([curve], "MB/s") == [
        "randread 4 KB of disk: the knee is at 4 in flight, 340 MB/s; 8 bring +18 %."
    ]


def test_curves_are_of_three_tests_at_least_that_differ_in_depth_only(
    matrix: tuple[ReportDocument, Path],
) -> None:
    document, _ = matrix
    report = steps_of(document)
    assert report.depths == [], "cdm8 has two depths of each"
    shared = {"access": "randread", "block_bytes": 4096, "threads": 1}
    facts = [{**shared, "depth": 16}, {**shared, "depth": 1}, {**shared, "depth": 4}]
    other = {**shared, "block_bytes": 8192, "depth": 2}
    steps = [
        step.model_copy(update={"facts": own})
        for step, own in zip(report.steps, [*facts, other], strict=False)
    ]
    curves = depth_curves(steps, document.variants)
    assert [curve.variant for curve in curves] == [each.name for each in document.variants]
    assert {curve.label for curve in curves} == {"randread 4 kB"}
    assert [point.in_flight for point in curves[0].points] == [1, 4, 16]
    assert all(point.p50_ms for curve in curves for point in curve.points)


def test_the_plan_says_blocks_and_hours() -> None:
    experiment = compared("folder:/tmp", *THREE, repeats=5)
    matrix = look_ahead(experiment, Path("/tmp"), Path("/nowhere")).matrix
    assert matrix is not None
    assert (matrix.configurations, matrix.tests, matrix.fewest_blocks, matrix.pairs) == (4, 8, 3, 6)
    assert 4 * (8 * 6 * 5 + 7 * 5) <= matrix.block_s < 4 * (8 * 6 * 5 + 7 * 5 + 60)
    short = {"profile": "cdm8", "passes": 1, "pass_length": "1s", "pause": "0s"}
    quick = experiment.model_copy(
        update={"workload": WorkloadSpec(name="storage", parameters=short)}
    )
    line = look_ahead(quick, Path("/tmp"), Path("/nowhere")).matrix
    assert line is not None
    assert line.block_s < matrix.block_s / 5
    assert look_ahead(alone(), Path("/tmp"), Path("/nowhere")).matrix is None
