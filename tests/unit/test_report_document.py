from __future__ import annotations

import json
from pathlib import Path

import pytest
import sample_results
from sample_results import LADDER_EFFECT, Sample, write_results

from loadstone.errors import WrongInputError
from loadstone.report.document import build_document
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.model.document import ReportDocument
from loadstone.results.record import Status
from loadstone.spec.design import CompareDesign

RUNGS = ["baseline", *LADDER_EFFECT]


def step(document: ReportDocument, rung: str) -> ComparisonReport:
    return next(c for c in document.comparisons if c.candidate == rung and c.role == "previous")


def test_planted_effects_are_found_again(ladder_document: ReportDocument) -> None:
    assert [variant.name for variant in ladder_document.variants] == RUNGS
    for rung, effect in LADDER_EFFECT.items():
        comparison = step(ladder_document, rung)
        assert comparison.ratio == pytest.approx(effect, rel=0.1)
        expected = "better" if effect > 1.05 else "no detectable change"
        assert comparison.verdict == expected


def test_only_valid_trials_count(ladder_document: ReportDocument) -> None:
    left_out = {t.result.trial for t in ladder_document.trials if t.result.status != "valid"}
    counted = {
        trial
        for variant in ladder_document.variants
        for figure in variant.figures
        for trial in figure.trials
    }
    assert len(left_out) == 3
    assert not counted & left_out
    assert len(counted) == len(ladder_document.trials) - 3
    said = " ".join(notice.message for notice in ladder_document.notices)
    assert all(trial in said for trial in left_out)


def test_holm_is_within_a_role(ladder_document: ReportDocument) -> None:
    for role in ("previous", "baseline"):
        members = [c for c in ladder_document.comparisons if c.role == role]
        assert len(members) == len(LADDER_EFFECT)
        for comparison in members:
            assert comparison.p_value is not None
            assert comparison.p_adjusted is not None
            assert comparison.p_value <= comparison.p_adjusted <= 4 * comparison.p_value + 1e-12


def test_unsafe_and_several_are_marked(ladder_document: ReportDocument) -> None:
    variants = {variant.name: variant for variant in ladder_document.variants}
    assert variants["no waiting for the disk"].unsafe == ["synchronous_commit=off"]
    assert variants["more WAL"].several
    assert not variants["cache of 1 GB"].several
    assert ladder_document.unsafe
    assert "unsafe" in ladder_document.headline
    assert '"useless"' in ladder_document.headline
    codes = {notice.code for notice in ladder_document.notices}
    assert {"unsafe-figures", "several-changes", "target-failed"} <= codes


def test_a_level_that_was_declared_nowhere_before_is_the_default(
    ladder_document: ReportDocument,
) -> None:
    variants = {variant.name: variant for variant in ladder_document.variants}
    change = variants["cache of 1 GB"].step[0]
    assert (change.factor, change.before, change.after) == ("target.shared_buffers", None, "1GB")


def test_nothing_else_differs_unless_something_does(tmp_path: Path) -> None:
    spec = sample_results.compare(repeats=3)
    same = build_document(write_results(tmp_path / "a", spec, Sample(tick_s=10)))
    assert [c.differences for c in same.comparisons] == [[]]
    candidate = same.comparisons[0].candidate
    sample = Sample(tick_s=10, kernels={candidate: "6.8.0-1"})
    other = build_document(write_results(tmp_path / "b", spec, sample))
    assert other.comparisons[0].differences == ["host.kernel: 6.1.0-30 against 6.8.0-1"]
    assert "more-than-the-factor-differs" in {notice.code for notice in other.notices}


def test_three_repeats_are_too_few(tmp_path: Path) -> None:
    spec = sample_results.compare(repeats=3)
    document = build_document(
        write_results(tmp_path, spec, Sample(effects={"shared_buffers=1GB": 3.0}, tick_s=10))
    )
    assert document.comparisons[0].verdict == "too few repeats"
    assert document.comparisons[0].repeats_needed == 4
    assert "4 of each are needed" in document.headline


def test_killed_run_is_partial_and_keeps_what_was_measured(tmp_path: Path) -> None:
    sample = Sample(tick_s=2, stop_after=3)
    document = build_document(write_results(tmp_path, sample_results.compare(), sample))
    assert document.status == "partial"
    killed = document.trials[-1]
    assert killed.result.status is Status.RUNNING
    assert killed.load.t_s, "whole frames of a cut-off file are drawn"
    assert killed.phases[0].name == "warm-up"
    assert killed.host.t_s == []
    assert "trials-running" in {notice.code for notice in document.notices}


@pytest.mark.parametrize("figures", ["of the variant", "of the trial"])
def test_a_notice_is_said_once_for_all_trials_or_once_for_each_thing_that_variants_say(
    tmp_path: Path, figures: str
) -> None:
    folder = write_results(tmp_path, sample_results.compare(repeats=2), Sample(tick_s=10))
    names: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*/result.json")):
        result = json.loads(path.read_text())
        names.setdefault(result["variant"], []).append(result["trial"])
        own = result["variant"] if figures == "of the variant" else result["trial"]
        result["notices"] = [{"code": "told", "severity": "info", "message": f"found {own}"}]
        path.write_text(json.dumps(result))
    told = [each.message for each in build_document(folder).notices if each.code == "told"]
    first, *_ = sorted(trial for trials in names.values() for trial in trials)
    expected = [f"{trials[0]} (and 1 more trial): found {name}" for name, trials in names.items()]
    if figures == "of the trial":
        expected = [f"{first} (and 3 more trials): found {first}"]
    assert sorted(told) == sorted(expected)


def test_unreadable_trial_is_named_and_left_out(tmp_path: Path) -> None:
    folder = write_results(tmp_path, sample_results.compare(repeats=2), Sample(tick_s=10))
    broken = sorted(entry for entry in folder.iterdir() if entry.is_dir())[0]
    (broken / "result.json").write_text('{"version": 1,')
    document = build_document(folder)
    assert len(document.trials) == 3
    notice = next(n for n in document.notices if n.code == "unreadable-trial")
    assert broken.name in notice.message


def test_no_valid_trial_is_said(tmp_path: Path) -> None:
    statuses = dict.fromkeys(range(1, 5), Status.FAILED)
    sample = Sample(tick_s=10, statuses=statuses)
    document = build_document(write_results(tmp_path, sample_results.compare(repeats=2), sample))
    assert document.headline.startswith("No trial is valid")
    assert document.comparisons == []
    assert {"not-compared", "too-few-valid-trials"} <= {n.code for n in document.notices}


def test_experiment_without_trials(tmp_path: Path) -> None:
    sample = Sample(stop_after=0)
    document = build_document(write_results(tmp_path, sample_results.compare(repeats=2), sample))
    assert document.status == "partial"
    assert document.trials == []


def test_other_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"no experiment\.json"):
        build_document(tmp_path)


def test_series_lie_on_the_time_of_the_phases(ladder_document: ReportDocument) -> None:
    trial = ladder_document.trials[0]
    end = trial.phases[-1].to_s
    assert trial.phases[0].from_s == 0
    for series in (trial.load, trial.host, trial.target):
        assert all(len(column) == len(series.t_s) for column in series.columns.values())
        assert series.t_s == sorted(series.t_s)
        assert series.t_s[0] >= 0
        assert series.t_s[-1] <= end + 1
    assert {"throughput_per_s", "p95_ms", "lag_p99_ms", "new-order p95_ms"} <= set(
        trial.load.columns
    )
    assert "cpu_user_percent" in trial.host.columns
    assert "commits_per_s" in trial.target.columns
    assert "commits_per_s" not in trial.host.columns


def test_curves_are_of_the_measured_phase(ladder_document: ReportDocument) -> None:
    trial = ladder_document.trials[0]
    for operation in trial.result.operations:
        curve = next(
            c for c in trial.curves if c.operation == operation.name and c.kind == "response"
        )
        assert operation.response is not None
        slowest = operation.response.max_s * 1000
        assert operation.response.p99_s * 999 <= curve.points[-1][1] <= slowest * 1.001
        values = [value for _, value in curve.points]
        assert values == sorted(values)


def test_reference_ladder_is_given_as_ratios(ladder_document: ReportDocument) -> None:
    reference = ladder_document.reference
    assert reference is not None
    assert reference.rungs[0].ratio_to_baseline == 1
    assert reference.rungs[-1].ratio_to_baseline == pytest.approx(14.988 / 8.152)
    assert reference.rungs[1].ratio_to_previous == pytest.approx(9.147 / 8.152)


def test_document_survives_json(ladder_document: ReportDocument) -> None:
    again = ReportDocument.model_validate_json(ladder_document.model_dump_json())
    assert again == ladder_document


def test_the_load_says_what_of_it_varies(tmp_path: Path, ladder_document: ReportDocument) -> None:
    design = CompareDesign(factor="profile.users", levels=[8, 16])
    spec = sample_results.experiment(design, 2, name="users")
    document = build_document(write_results(tmp_path, spec, Sample(tick_s=10)))
    base = "closed, 8 users, warm-up 5s, measured 20s"
    assert ladder_document.load == base
    assert document.load == f"{base}; varied: profile.users"
