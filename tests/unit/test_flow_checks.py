"""What a result of Flow must be to count: fresh, complete, of one world, right."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from sample_flow import BEGAN_S, FIELDS, finished, report_text, write_output

from loadstone.applications.flow.application import COMPLETE, FRESH, RESULT, WORLD, Flow
from loadstone.applications.flow.output import OutputError, read_report, read_summary
from loadstone.applications.flow.parameters import FlowParameters
from loadstone.applications.flow.tolerances import TOLERANCES
from loadstone.results.record import CheckResult

pytest.importorskip("resfo", reason="the package resfo is not installed")

STEPS = 4


@pytest.fixture
def flow() -> Flow:
    return Flow(FlowParameters(size="4x4x2", report_steps=STEPS))


@pytest.fixture
def given(flow: Flow, tmp_path: Path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    flow.make_input(folder, 1)
    return folder


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    folder = tmp_path / "reference"
    write_output(folder, steps=STEPS)
    return folder


def checked(
    flow: Flow, given: Path, reference: Path | None, *, ranks: int = 1, **written: Any
) -> dict[str, CheckResult]:
    output = given.parent / "output"
    write_output(output, **{"steps": STEPS, **written})
    job = finished(output, given, ranks=ranks, reference=reference)
    return {result.name: result for result in flow.check(job)}


def failed(results: dict[str, CheckResult]) -> dict[str, str]:
    return {name: result.detail for name, result in results.items() if not result.passed}


def test_a_whole_result_passes_and_says_how_near_it_is(
    flow: Flow, given: Path, reference: Path
) -> None:
    results = checked(flow, given, reference, factors={"FPR": 1 + TOLERANCES["FPR"] / 2})
    assert failed(results) == {}
    assert list(results) == list(flow.claims)
    assert "5 vectors; nearest to its bound: FPR" in results[RESULT].detail
    assert results[COMPLETE].detail == "4 of 4 report steps"


@pytest.mark.parametrize("vector", FIELDS)
def test_each_quantity_has_its_own_bound(
    flow: Flow, given: Path, reference: Path, vector: str
) -> None:
    factor = 1 + 2 * TOLERANCES[vector.partition(":")[0]]
    wrong = failed(checked(flow, given, reference, factors={vector: factor}))
    assert list(wrong) == [RESULT]
    assert wrong[RESULT].startswith(f"{vector} is ")
    assert "report step 4" in wrong[RESULT]


def test_without_a_serial_run_nothing_is_right(flow: Flow, given: Path) -> None:
    assert failed(checked(flow, given, None)) == {RESULT: "there is no serial run to compare with"}


def test_a_vector_that_is_missing_is_named(flow: Flow, given: Path, reference: Path) -> None:
    wrong = failed(checked(flow, given, reference, vectors=("FOPT", "FPR")))
    assert wrong[RESULT] == "the summary has no FGPT, the serial run has"


def test_a_world_of_one_for_each_rank_is_seen(flow: Flow, given: Path, reference: Path) -> None:
    wrong = failed(checked(flow, given, reference, ranks=4))
    assert wrong == {WORLD: "4 ranks asked, 4 worlds of 1 rank seen"}


def test_a_flow_that_does_not_count_its_processes_proves_no_world(
    flow: Flow, given: Path, reference: Path
) -> None:
    report = report_text(steps=STEPS, reached=STEPS, processes=None)
    wrong = failed(checked(flow, given, reference, report=report))
    assert wrong == {WORLD: "1 rank asked, and Flow does not say how many there were"}


# -- yesterday's result (OPM/opm-simulators #1947, #1952, #1620) ---------------------------------
def test_a_report_of_a_run_before_is_stale(flow: Flow, given: Path, reference: Path) -> None:
    report = report_text(steps=STEPS, reached=STEPS, started_s=BEGAN_S - 86400)
    wrong = failed(checked(flow, given, reference, report=report))
    assert list(wrong) == [FRESH]
    assert wrong[FRESH].startswith("CASE.PRT is of a simulation that started at 2023-11-13")


def test_a_summary_of_the_run_before_is_stale_beside_a_new_report(
    flow: Flow, given: Path, reference: Path
) -> None:
    output = given.parent / "output"
    write_output(output, steps=STEPS)
    os.utime(output / "CASE.UNSMRY", (BEGAN_S - 100, BEGAN_S - 100))
    results = flow.check(finished(output, given, reference=reference))
    wrong = failed({result.name: result for result in results})
    assert wrong == {FRESH: "CASE.UNSMRY was written before this run: it is of another one"}


def test_a_run_that_stopped_at_once_is_not_complete(
    flow: Flow, given: Path, reference: Path
) -> None:
    report = report_text(steps=STEPS, reached=2, ended=False)
    wrong = failed(checked(flow, given, reference, report=report))
    assert wrong[COMPLETE] == "Flow did not come to its end: it stopped after report step 1 of 4"


def test_a_deck_cut_off_at_half_is_not_complete(flow: Flow, given: Path, reference: Path) -> None:
    wrong = failed(checked(flow, given, reference, steps=2))
    assert wrong[COMPLETE] == "Flow read 2 report steps, the deck has 4"
    assert wrong[RESULT] == "2 report steps, the serial run has 4"


def test_a_summary_and_a_restart_must_reach_the_end_too(
    flow: Flow, given: Path, reference: Path
) -> None:
    report = report_text(steps=STEPS, reached=STEPS)
    wrong = failed(checked(flow, given, reference, steps=3, report=report))
    assert wrong[COMPLETE] == "the summary has 3 report steps, the deck has 4"
    wrong = failed(checked(flow, given, reference, restart=3))
    assert wrong[COMPLETE] == "the last restart is of report step 3, the deck has 4"


def test_no_output_fails_every_check(flow: Flow, given: Path, reference: Path) -> None:
    results = flow.check(finished(given.parent / "none", given, reference=reference))
    assert [result.passed for result in results] == [False] * len(flow.claims)
    assert "CASE.PRT" in results[0].detail


@pytest.mark.parametrize("name", ["CASE.UNSMRY", "CASE.SMSPEC", "CASE.UNRST"])
@pytest.mark.parametrize("left", [0.5, 0.97, 0.999])
def test_a_file_that_is_cut_off_is_named(
    flow: Flow, given: Path, reference: Path, name: str, left: float
) -> None:
    output = given.parent / "output"
    write_output(output, steps=STEPS)
    whole = (output / name).read_bytes()
    (output / name).write_bytes(whole[: int(left * len(whole))])
    results = flow.check(finished(output, given, reference=reference))
    wrong = {result.name: result.detail for result in results if not result.passed}
    assert wrong
    assert any(name in detail or "report step" in detail for detail in wrong.values())


def test_vectors_are_read_at_report_steps_only(tmp_path: Path) -> None:
    write_output(tmp_path / "a", steps=3)
    summary = read_summary(tmp_path / "a", "CASE", ("FOPT", "WBHP"))
    assert summary.days == (30.0, 60.0, 90.0)
    assert list(summary.vectors) == ["FOPT", "WBHP:P1"]
    assert summary.vectors["FOPT"] == pytest.approx([1e5 / 3, 2e5 / 3, 1e5])


def test_progress_is_the_share_of_report_steps_that_were_done(flow: Flow, tmp_path: Path) -> None:
    assert flow.done_share(tmp_path) is None
    text = report_text(steps=STEPS, reached=3, ended=False)
    (tmp_path / "CASE.PRT").write_text(text)
    assert flow.done_share(tmp_path) == 0.5
    (tmp_path / "CASE.PRT").write_text("")
    assert flow.done_share(tmp_path) is None


def test_a_report_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"CASE\.PRT"):
        read_report(tmp_path, "CASE")
