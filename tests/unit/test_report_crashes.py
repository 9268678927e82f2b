"""Crash trials in reports: their verdict stands beside the figures and never enters them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import sample_results
from rich.console import Console
from sqlalchemy import create_engine, text

from loadstone.cli.execute import worst
from loadstone.cli.progress import trial_line
from loadstone.errors import ExitCode
from loadstone.experiments.designs import stages_of
from loadstone.load.interrupted import finish_interrupted
from loadstone.report.document import build_document
from loadstone.report.export import rows
from loadstone.report.model.document import ReportDocument
from loadstone.report.terminal import print_report
from loadstone.results.record import DurabilityRecord, Status, TrialResult
from loadstone.results.store import INDEX_FILE, Store
from loadstone.spec.design import CompareDesign, CrashDesign
from loadstone.spec.model import Experiment

SURVIVED = DurabilityRecord(
    failure="power-loss", crashed_at_s=4.2, acknowledged=9000, recovery_s=0.8
)
LOST = SURVIVED.model_copy(
    update={"lost": 69, "lost_span_s": 0.011, "examples": ["payment 1, 2, acknowledged 11 ms"]}
)
DEAD = SURVIVED.model_copy(update={"recovery_s": None, "problem": "PANIC"})


def asked(crashes: int = 3) -> Experiment:
    design = CompareDesign(factor="target.synchronous_commit", levels=["on", "off"])
    plain = sample_results.experiment(design, 6, name="commits")
    return plain.model_copy(update={"durability": "kill", "crashes": crashes})


def write(root: Path, spec: Experiment, records: dict[str, DurabilityRecord]) -> Path:
    """Results with crashes, whose outcome is that of their variant."""
    crash_only = isinstance(spec.design, CrashDesign)
    folder = sample_results.write_results(
        root, spec, sample_results.Sample(tick_s=10.0, stop_after=0 if crash_only else None)
    )
    stages = stages_of(spec, allow_unsafe=True)
    plans = stages.next([])
    for plan in plans if crash_only else stages.next([]):
        trial = folder / plan.trial
        trial.mkdir()
        (trial / "plan.json").write_text(plan.model_dump_json())
        result = TrialResult(
            experiment=spec.name,
            trial=plan.trial,
            variant=plan.variant.name,
            block=plan.block,
            order=plan.order + 100,
            status=Status.VALID,
            started_at="2026-11-22T00:00:00+00:00",
            finished_at="2026-11-22T00:00:09+00:00",
            durability=records[plan.variant.name],
        )
        (trial / "result.json").write_text(result.model_dump_json())
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = {"synchronous_commit=on": SURVIVED, "synchronous_commit=off": LOST}
    return write(tmp_path, asked(), records)


def printed(document: ReportDocument, folder: Path) -> str:
    stream = io.StringIO()
    print_report(document, folder, Console(file=stream, width=100))
    return " ".join(stream.getvalue().split())


def test_each_variant_has_a_verdict_and_figures_of_its_measured_trials_alone(folder: Path):
    document = build_document(folder)
    on, off = document.variants
    assert on.durability is not None
    assert off.durability is not None
    assert (on.durability.outcome, on.durability.survived) == ("survived", 3)
    assert (off.durability.outcome, off.durability.most_lost) == ("lost commits", 69)
    assert {figure.n for figure in on.figures} == {6}
    assert document.comparisons[0].n_candidate == 6
    assert document.status == "complete"
    assert not [n for n in document.notices if n.code.startswith(("trials-", "too-few-valid"))]


def test_missing_crashes_make_a_report_partial(tmp_path: Path):
    records = {"synchronous_commit=on": SURVIVED, "synchronous_commit=off": LOST}
    folder = write(tmp_path, asked(crashes=2), records)
    spec = asked(crashes=3)
    (folder / "experiment.json").write_text(spec.model_dump_json())
    assert build_document(folder).status == "partial"


def test_the_terminal_has_the_verdicts_and_json_all_of_it(folder: Path):
    document = build_document(folder)
    text_ = printed(document, folder)
    for expected in (
        "Durability",
        "✓ synchronous_commit=on: survived 3 of 3",
        "✗ synchronous_commit=off: lost up to",
        "11 ms",
    ):
        assert expected in text_
    again = ReportDocument.model_validate_json(document.model_dump_json())
    assert again == document


def test_a_crash_experiment_speaks_of_crashes(tmp_path: Path):
    spec = sample_results.experiment(
        CrashDesign(failure="power-loss", crashes=2), 1, name="crashes"
    )
    good = write(tmp_path / "good", spec, {"baseline": SURVIVED})
    document = build_document(good)
    assert document.headline.startswith("Survived 2 of 2 power losses: none of 18,000")
    assert document.status == "complete"
    assert "c01-1-baseline 9,000 0" in printed(document, good)
    bad = write(tmp_path / "bad", spec, {"baseline": DEAD})
    assert build_document(bad).headline == "Did not recover in 2 of 2 power losses."
    assert "did not recover: PANIC" in printed(build_document(bad), bad)


def test_the_export_has_the_figures_of_crashes_as_rows_of_their_own(folder: Path):
    exported = rows(build_document(folder))
    lost = [row["value"] for row in exported if row["metric"] == "lost_commits"]
    assert sorted(lost) == [0.0] * 3 + [69.0] * 3
    crashes = {row["trial"] for row in exported if row["metric"] == "lost_commits"}
    figures = {row["trial"] for row in exported if row["metric"] == "new_orders_per_min"}
    assert len(crashes) == 6
    assert crashes.isdisjoint(figures)


def test_the_index_counts_crashes_apart_and_grows_the_column_it_lacks(folder: Path):
    with Store(folder.parent) as store:
        store.index_experiment(folder, finish_interrupted)
    engine = create_engine(f"sqlite:///{folder.parent / INDEX_FILE}")
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE trials DROP COLUMN crash"))
    engine.dispose()
    with Store(folder.parent) as store:
        assert store.experiments()[0].crashes == {}
        store.reindex(finish_interrupted)
        entry = store.experiments()[0]
        assert entry.crashes == {"survived": 3, "lost commits": 3}
        assert entry.statuses == {"valid": 12}
        assert not any(trial.startswith("c0") for trial in store.metrics(folder.name))


def result(record: DurabilityRecord, unsafe: list[str]) -> TrialResult:
    return TrialResult(
        experiment="x", trial="c01-1-b", variant="b", block=1, order=1, status=Status.VALID,
        started_at="", unsafe=unsafe, durability=record,
    )  # fmt: skip


def test_exit_codes_tell_a_loss_that_was_to_be_expected_from_one_that_was_not():
    expected, surprise = result(LOST, ["fsync=off"]), result(LOST, [])
    assert worst([result(SURVIVED, [])], every_loss=True) is ExitCode.OK
    assert worst([expected]) is ExitCode.OK
    assert worst([expected], every_loss=True) is ExitCode.FAILED_CHECK
    assert worst([surprise]) is ExitCode.FAILED_CHECK
    assert worst([result(DEAD, [])], every_loss=True) is ExitCode.FAILED_CHECK


def test_a_crash_in_a_line():
    assert trial_line(result(LOST, ["fsync=off"])) == (
        "c01-1-b  lost 69 of 9,000 acknowledged commits, up to 11 ms before the failure  unsafe"
    )
    assert "none lost" in trial_line(result(SURVIVED, []))
