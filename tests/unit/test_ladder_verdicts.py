"""A ladder that keeps the better: what conduct decides is what the report says, p and all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sample_trials import rate_of, result_of

from loadstone.cli.main import run_command
from loadstone.experiments import series
from loadstone.experiments.designs import stages_of
from loadstone.experiments.designs.ladder import sort_out
from loadstone.report.comparisons import comparisons
from loadstone.report.figures import metric_infos
from loadstone.report.model.comparisons import ComparisonReport
from loadstone.report.reading import read_experiment
from loadstone.results import statistics
from loadstone.results.folder import ExperimentFolder
from loadstone.results.record import Status, TrialResult
from loadstone.results.statistics import Comparison, Verdict
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan

EFFECTS = {"baseline": 0.0, "a": 0.03, "b": 0.0, "c": 0.05, "d": 0.001}
"""Of each variant, on the logarithm of the rate."""
NOISE = 0.01
Rate = Callable[[TrialPlan, int], float]


def ladder(seed: int, repeats: int = 6, **fields: Any) -> Experiment:
    rungs = [
        {"name": name, "change": {"workload.service_time_us": 50 + at}}
        for at, name in enumerate(list(EFFECTS)[1:])
    ]
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "none"},
            "design": {"kind": "ladder", "keep": "better", "rungs": rungs},
            "repeats": repeats,
            "seed": seed,
            **fields,
        }
    )


def drifting(rng: np.random.Generator, drift: float, wander: float = 0.0) -> Rate:
    """Rates that scatter, and grow from trial to trial and from block to block."""
    blocks: dict[int, float] = {}

    def rate(plan: TrialPlan, number: int) -> float:
        block = blocks.setdefault(plan.block, wander * rng.normal())
        logs = EFFECTS[plan.variant.name] + block + drift * number + NOISE * rng.normal()
        return float(100.0 * np.exp(logs))

    return rate


@dataclass
class Climbing:
    """A ladder that was conducted: its folder, and what was decided on the way."""

    path: Path
    decided: list[Comparison] = field(default_factory=list)
    kept: dict[str, bool] = field(default_factory=dict)

    def reported(self) -> list[ComparisonReport]:
        folder = read_experiment(self.path)
        (metric,) = metric_infos(folder.trials)
        return comparisons(folder, [metric])[0]


def conducted(
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    of: Experiment,
    rate: Rate,
    disturbed: Callable[[], bool] = lambda: False,
) -> Climbing:
    """Makes the ladder by the product's own series, of trials that take no time."""
    folder = ExperimentFolder.create(root, of.name)
    folder.write_experiment(of)
    found = Climbing(folder.path)
    judge_family = statistics.judge_family

    def judged(*args: Any, **options: Any) -> list[Comparison]:
        found.decided += (answer := judge_family(*args, **options))
        return answer

    def run_trial(plan: TrialPlan, path: Path, _lab: object) -> TrialResult:
        status = Status.DISTURBED if disturbed() else Status.VALID
        result = result_of(plan, [rate_of(rate(plan, plan.order))], status)
        path.mkdir()
        (path / "plan.json").write_text(plan.model_dump_json())
        (path / "result.json").write_text(result.model_dump_json())
        return result

    monkeypatch.setattr(statistics, "judge_family", judged)
    monkeypatch.setattr(series, "run_trial", run_trial)
    monkeypatch.setattr(series, "Space", lambda: SimpleNamespace(refuse=lambda _parts: None))
    monkeypatch.setattr(folder, "trial", lambda plan: folder.path / plan.trial)
    quiet = SimpleNamespace(
        trial_begins=lambda *_: None, trial_ends=lambda *_: None, notice=lambda *_: None
    )
    lab: Any = SimpleNamespace(
        interrupts=SimpleNamespace(requested=False), observer=quiet, standing={}
    )
    stages = stages_of(of)
    series.Series(of, stages, folder, lab, "x").make()
    monkeypatch.setattr(statistics, "judge_family", judge_family)
    found.kept = dict(stages.kept or {})
    return found


def same(decision: Comparison, report: ComparisonReport) -> None:
    """To the last digit: it is the same calculation."""
    assert report.p_value == decision.p_value
    assert report.p_adjusted == decision.adjusted_p
    assert (report.low, report.high) == (decision.low, decision.high)
    assert report.interval_confidence == decision.interval_confidence
    assert report.verdict == decision.verdict.value
    assert (report.n_baseline, report.test) == (decision.n_baseline, str(decision.test))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("drift", [0.0, 0.003])
def test_conduct_and_report_say_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int, drift: float
) -> None:
    rng = np.random.default_rng([seed, 1])
    share = 0.15 if seed else 0.0
    rate = drifting(rng, drift, wander=0.05)
    of = ladder(seed, extra_trials=2)
    found = conducted(monkeypatch, tmp_path, of, rate, lambda: rng.random() < share)
    steps = [each for each in found.reported() if each.role == "previous"]
    assert len(steps) == len(found.decided) == 4
    for decision, report in zip(found.decided, steps, strict=True):
        same(decision, report)
        assert (report.verdict == Verdict.BETTER) == found.kept[report.candidate]


def by(rates: dict[str, float]) -> Rate:
    """Rates that hardly scatter."""
    return lambda plan, number: rates[plan.variant.name] * (1 + 0.001 * (number * 7 % 5))


def test_the_whole_is_judged_by_the_last_stage_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rate = by({"baseline": 100, "a": 150, "b": 100, "c": 200, "d": 100})
    found = conducted(monkeypatch, tmp_path, ladder(1), rate)
    assert found.kept == {"a": True, "b": False, "c": True, "d": False}
    (whole,) = (each for each in found.reported() if each.role == "baseline")
    assert (whole.candidate, whole.baseline) == ("c", "baseline")
    assert (whole.n_candidate, whole.n_baseline, whole.test) == (6, 6, "paired t")
    assert whole.p_adjusted == whole.p_value
    assert whole.interval_confidence == pytest.approx(0.95)
    blocks = {trial.result.block for trial in read_experiment(found.path).trials_of("baseline")}
    assert blocks == {*range(1, 7), *range(25, 31)}


def test_a_whole_that_is_one_rung_was_judged_already(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rate = by({"baseline": 100, "a": 150, "b": 100, "c": 90, "d": 100})
    found = conducted(monkeypatch, tmp_path, ladder(1), rate)
    whole = found.reported()[-1]
    assert (whole.candidate, whole.role) == ("a", "baseline")
    same(found.decided[0], whole)


def test_a_trial_that_did_nothing_matters_in_its_own_stage_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The baseline of the first stage has a figure of 0, of which no ratio can be made."""
    usual = by({"baseline": 100, "a": 90, "b": 150, "c": 100, "d": 100})

    def rate(plan: TrialPlan, number: int) -> float:
        return 0.0 if (plan.variant.name, plan.block) == ("baseline", 2) else usual(plan, number)

    found = conducted(monkeypatch, tmp_path, ladder(1), rate)
    assert found.kept == {"a": False, "b": True, "c": False, "d": False}
    steps = [each for each in found.reported() if each.role == "previous"]
    assert [each.candidate for each in steps] == ["b", "c", "d"]
    for decision, report in zip(found.decided, steps, strict=True):
        same(decision, report)


def test_rungs_that_were_skipped_are_not_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    of = ladder(1)
    possible = sort_out(of)[0][:3]
    monkeypatch.setattr("loadstone.experiments.designs.ladder.sort_out", lambda _of: (possible, []))
    rate = by({"baseline": 100, "a": 150, "b": 100, "c": 90})
    found = conducted(monkeypatch, tmp_path, of, rate)
    steps = [each for each in found.reported() if each.role == "previous"]
    assert len(steps) == 3
    assert steps[0].interval_confidence == pytest.approx(1 - 0.05 / 3)
    for decision, report in zip(found.decided, steps, strict=True):
        same(decision, report)


def test_a_design_that_was_written_before_is_judged_as_one_family(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rate = by({"baseline": 100, "a": 150, "b": 100, "c": 90, "d": 100})
    found = conducted(monkeypatch, tmp_path, ladder(1), rate)
    file = found.path / "design.json"
    design = json.loads(file.read_text())
    assert {pair.pop("decided_among") for pair in design["pairs"]} == {4}
    file.write_text(json.dumps(design))
    steps = [each for each in found.reported() if each.role == "previous"]
    smallest = min(range(4), key=lambda at: found.decided[at].p_value)
    same(found.decided[smallest], steps[smallest])
    assert [each.p_value for each in steps] == [each.p_value for each in found.decided]


@pytest.mark.parametrize(("other", "interleaved"), [("c", True), ("d", False)])
def test_two_rungs_without_a_common_block_were_not_interleaved(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    other: str,
    interleaved: bool,
) -> None:
    rate = by({"baseline": 100, "a": 150, "b": 100, "c": 200, "d": 100})
    path = conducted(monkeypatch, tmp_path, ladder(1), rate).path
    assert run_command(["compare", f"{path}:baseline", f"{path}:{other}", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["comparison"]["test"] == "paired t") is interleaved
    codes = {notice["code"] for notice in document["notices"]}
    assert ("not-interleaved" in codes) is not interleaved


# -- drift ------------------------------------------------------------------------------------
def claims(seeds: range, drift: float) -> float:
    """Share of the ladders of useless rungs in which any is kept."""
    wrong = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        of = ladder(seed % 10)
        stages = stages_of(of)
        results: list[TrialResult] = []
        while plans := stages.next(results):
            for plan in plans:
                logs = drift * len(results) + NOISE * rng.normal()
                results.append(result_of(plan, [rate_of(100.0 * float(np.exp(logs)))]))
        wrong += any((stages.kept or {}).values())
    return wrong / len(seeds)


@pytest.mark.long
@pytest.mark.parametrize("drift", [0.001, 0.003])
def test_a_drift_keeps_no_useless_rung(drift: float) -> None:
    assert claims(range(400), drift) <= 0.05
