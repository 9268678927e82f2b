"""Baselines of placements: their trials, what is refused, and what the report makes of them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone
from rich.console import Console
from sample_baselines import LOG, PLACES, placed, write_placed

from loadstone.experiments.designs import stages_of, trials_of
from loadstone.experiments.preflight.baselines import baseline_problems
from loadstone.experiments.series import _hopeless
from loadstone.report.document import build_document
from loadstone.report.export import rows
from loadstone.report.model.document import ReportDocument
from loadstone.report.terminal import print_report
from loadstone.results.record import Status, TrialResult

RISING = {place: float(at) for at, place in enumerate(PLACES, start=1)}
ELSEWHERE = {"engine": "duckdb", "data": "/x"}
FALLING = {place: 1.0 / speed for place, speed in RISING.items()}


def sweep(factors: dict[str, Any]) -> dict[str, Any]:
    return {"design": {"kind": "sweep", "factors": factors}}


# -- trials ------------------------------------------------------------------------------------
def test_each_placement_is_measured_right_before_the_database_in_every_block() -> None:
    spec = placed(PLACES[:3], repeats=4)
    plans = stages_of(spec).next([])
    assert len(plans) == trials_of(spec) == 24
    for baseline, own in zip(plans[::2], plans[1::2], strict=True):
        assert baseline.baseline_of == str(own.variant.changes[0].level)
        assert (baseline.block, baseline.seed) == (own.block, own.seed)
        assert (baseline.workload.name, baseline.target.engine) == ("storage", "folder")
        assert baseline.target.storage == own.target.storage
        assert own.baseline_of is None
    assert len({plan.trial for plan in plans}) == 24


def test_a_placement_is_measured_once_a_block_for_all_systems_on_it() -> None:
    factors = {"storage.data": PLACES[:3], "profile.users": [1, 2]}
    spec = placed(repeats=2, **sweep(factors))
    plans = stages_of(spec).next([])
    assert sum(plan.baseline_of is not None for plan in plans) == 3 * 2
    assert len(plans) == trials_of(spec) == 3 * 2 + 6 * 2
    for block in (1, 2):
        seen: set[str] = set()
        for plan in (each for each in plans if each.block == block):
            if plan.baseline_of is not None:
                seen.add(plan.baseline_of)
            else:
                assert {str(change.level) for change in plan.variant.changes} & seen


def test_with_looks_only_the_database_decides() -> None:
    design = {"kind": "compare", "factor": "storage.data", "levels": PLACES[:3], "looks": [4, 5]}
    stages = stages_of(placed(repeats=5, design=design))
    first = stages.next([])
    assert len(first) == 4 * 3 * 2
    results = [
        TrialResult(
            experiment="x", trial=p.trial, variant=p.variant.name, block=p.block, order=at,
            status=Status.VALID, started_at="", baseline_of=p.baseline_of,
        )
        for at, p in enumerate(first)
    ]  # fmt: skip
    assert len(stages.next(results)) == 3 * 2
    assert stages.next(results) == []


def test_crashes_at_the_end_have_no_baselines() -> None:
    spec = placed(PLACES[:3], repeats=1, durability="kill", crashes=2)
    stages = stages_of(spec)
    stages.next([])
    crashes = stages.next([])
    assert len(crashes) == 6
    assert all(plan.baseline_of is None for plan in crashes)
    assert trials_of(spec) == 12


def test_a_database_that_fails_everywhere_ends_it_though_its_placements_are_fine() -> None:
    def ended(order: int, place: str | None) -> TrialResult:
        return TrialResult(
            experiment="x", trial=f"t{order}", variant="v", block=1, order=order, started_at="",
            status=Status.FAILED if place is None else Status.VALID, baseline_of=place,
        )  # fmt: skip

    first = [ended(1, "a"), ended(2, None), ended(3, "b")]
    assert not _hopeless(first)
    assert _hopeless([*first, ended(4, None)])


# -- what is refused ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"design": {"kind": "run"}}, ("baseline",), "storage.data is no factor here"),
        (sweep({"profile.users": [1, 2]}), ("baseline",), "storage.data is no factor here"),
        (sweep({"storage.data": PLACES[:2]}), ("baseline",), "2 placements have no ranks"),
        ({"baseline": {"profil": "cdm8"}}, ("baseline", "profil"), "did you mean 'profile'?"),
        ({"baseline": {"profile": "cdm88"}}, ("baseline", "profile"), "cdm8"),
        ({"baseline": {"pass_length": "2"}}, ("baseline", "pass_length"), "30s"),
        ({"baseline": {"profile": "catalogue"}}, ("baseline", "profile"), "no tests of the disk"),
        ({"baseline": {"fio": "x.fio"}}, ("baseline", "fio"), "no job file"),
        ({"baseline": {"test": "none"}}, ("baseline",), "has no test 'none'"),
        ({"workload": {"name": "storage"}, "target": {"engine": "folder"}}, ("baseline",), "leave"),
        (
            {"target": {"engine": "sqlite", "others": {"other": ELSEWHERE}}},
            ("target", "others", "other", "data"),
            "write the same",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_named(
    fields: dict[str, Any], where: tuple[str, ...], said: str
) -> None:
    problems = baseline_problems(placed(PLACES[:3], **fields))
    assert [problem.path for problem in problems] == [where]
    assert said in problems[0].message


@pytest.fixture
def five_folders(own_places: Path) -> None:
    for name in "abcde":
        (own_places / name).mkdir()


def folders() -> tuple[str, ...]:
    """Five placements that need no rights."""
    levels = [f"folder:{Path.cwd() / name}" for name in "abcde"]
    return "--factor", "storage.data", "--levels", ",".join(levels)


SHORT = "database,test=Log 8K sync write,passes=1,pass_length=1s,file_size=1MB"


@pytest.mark.usefixtures("five_folders")
def test_the_option_says_profile_and_parameters_and_plan_what_they_can_show() -> None:
    code, out, err = loadstone(
        *("plan", "oltp", "--target", "sqlite", *folders()),
        *("--baseline", SHORT, "--repeats", "4", "--json"),
    )
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["experiment"]["baseline"] == {
        "profile": "database", "test": LOG, "passes": 1, "pass_length": "1s", "file_size": "1MB",
    }  # fmt: skip
    assert document["trials_at_most"] == 40
    assert [each["baseline_of"] is not None for each in document["trials"]] == [True, False] * 20
    line = document["baseline"]
    assert (line["trials"], line["placements"], line["tests"]) == (20, 5, 1)
    assert line["least_p"] == pytest.approx(2 / 120)
    assert line["fewest_placements"] == 5


@pytest.mark.usefixtures("five_folders")
def test_plan_says_that_five_placements_are_too_few_for_five_tests() -> None:
    code, out, err = loadstone(
        "plan", "oltp", "--target", "sqlite", *folders(), "--baseline", "database"
    )
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "p = 0.083 with 5 tests judged together: no test can be said to predict" in said
    assert "6 placements could" in said


@pytest.mark.usefixtures("five_folders")
def test_a_baseline_written_as_a_file_is_the_same() -> None:
    words = ("plan", "oltp", "--target", "sqlite", *folders(), "--baseline", "cdm8,depths=1,4")
    code, _, err = loadstone(*words)
    assert code == 2  # `depths` needs one test
    assert "baseline" in err
    code, text, _ = loadstone("plan", "oltp", "--target", "sqlite", *folders(), "--baseline", SHORT,
                         "--as-file")  # fmt: skip
    Path("again.yaml").write_text(text)
    again = loadstone("plan", "again.yaml", "--json")
    assert code == again[0] == 0
    assert json.loads(again[1])["experiment"]["baseline"]["pass_length"] == "1s"


@pytest.mark.usefixtures("five_folders")
def test_a_baseline_without_placements_is_refused_at_its_option() -> None:
    code, _, err = loadstone("run", "oltp", "--target", "sqlite", "--baseline", "database")
    assert code == 2
    assert "--baseline" in err
    assert "storage.data is no factor here" in err


# -- the report --------------------------------------------------------------------------------
def said(document: ReportDocument, folder: Path) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_report(document, folder, console)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_the_test_that_ranks_as_the_database_does_is_named(tmp_path: Path) -> None:
    folder = write_placed(tmp_path, placed(), RISING, misled=FALLING)
    document = build_document(folder)
    assert document.baseline is not None
    (system,) = document.baseline.databases
    assert (system.leader, system.shown, system.apart) == (f"{LOG} mb_per_s", True, True)
    best, *others = system.tests
    assert (best.tau, best.low, best.high) == (1.0, 1.0, 1.0)
    assert best.p_value == pytest.approx(2 / 5040)
    assert best.p_adjusted == pytest.approx(5 * 2 / 5040)
    assert all(each.tau == -1.0 and each.behind for each in others)
    assert "Log 8K sync write predicts its rank, and better than each other test" in system.text
    text = said(document, folder)
    assert "Kendall's tau +1.00 over 7 placements" in text
    assert "700.2 (1)" in text or "702 (1)" in text


def test_tests_that_agree_equally_are_not_told_apart(tmp_path: Path) -> None:
    document = build_document(write_placed(tmp_path, placed(), RISING))
    assert document.baseline is not None
    (system,) = document.baseline.databases
    assert (system.shown, system.apart) == (True, False)
    assert "It is not told apart from" in system.text


def test_with_four_placements_nothing_is_claimed(tmp_path: Path) -> None:
    spec = placed(PLACES[:4])
    document = build_document(write_placed(tmp_path, spec, RISING, misled=FALLING))
    assert document.baseline is not None
    (system,) = document.baseline.databases
    assert (system.leader, system.shown) == (f"{LOG} mb_per_s", False)
    assert "no test is shown to predict its rank" in system.text
    assert "With 4 placements even the same order has p 0.42: 6 can show it" in system.text


def test_a_placement_without_valid_trials_is_left_out_and_said(tmp_path: Path) -> None:
    spec = placed(repeats=1)
    plans = stages_of(spec, allow_unsafe=True).next([])
    lost = next(plan for plan in plans if plan.baseline_of == "nfs:ext4")
    other = next(p for p in plans if p.variant.name == "data=loop:xfs")
    folder = write_placed(tmp_path, spec, RISING, failed=[lost.trial, other.trial])
    document = build_document(folder)
    assert document.baseline is not None
    missing = {each.placement: each.missing for each in document.baseline.placements}
    assert missing["nfs:ext4"] == "no valid baseline"
    assert missing["loop:xfs"].startswith("no valid trial of the system")
    assert missing["loop:ext4"] == ""
    assert len(document.baseline.databases[0].placements) == 5
    text = said(document, folder)
    assert "no valid baseline" in text
    assert "2 trials are left out of figures and verdicts (failed: it ended with an error)" in text


def test_each_system_of_a_sweep_has_ranks_of_its_own(tmp_path: Path) -> None:
    factors = {"profile.users": [1, 8], "storage.data": PLACES}
    document = build_document(write_placed(tmp_path, placed(**sweep(factors)), RISING))
    assert document.baseline is not None
    assert [system.name for system in document.baseline.databases] == ["users=1", "users=8"]
    assert all(len(system.placements) == 7 for system in document.baseline.databases)


def test_the_rest_of_the_report_is_of_the_database_alone(tmp_path: Path) -> None:
    folder = write_placed(tmp_path, placed(), RISING)
    document = build_document(folder)
    assert [variant.name for variant in document.variants] == [f"data={each}" for each in PLACES]
    assert {metric.name for metric in document.metrics} == {"new_orders_per_min"}
    assert document.steps is None
    assert len(document.trials) == 70
    exported = {row["variant"] for row in rows(document)}
    assert "baseline of nfs:ext4" in exported
    assert document.status == "complete"


def test_a_baseline_alone_is_shown_as_a_trial_of_storage(tmp_path: Path) -> None:
    folder = write_placed(tmp_path, placed(PLACES[:3], repeats=1), RISING)
    trial = next(path.name for path in folder.iterdir() if path.name.startswith("s01-1"))
    code, out, err = loadstone("show", f"placed/{trial}", "--results", str(tmp_path))
    assert (code, err) == (0, "")
    assert "Log 8K sync" in out
    assert "new-orders" not in out
