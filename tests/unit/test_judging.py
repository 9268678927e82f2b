"""What verdicts are about: metrics that are named, and the default under load that has a rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sample_results
from command_line import loadstone
from sample_results import Sample, write_results

from loadstone.errors import ExitCode
from loadstone.experiments.designs import stages_of
from loadstone.experiments.preflight.check import check_experiment
from loadstone.experiments.preflight.offered import offered_notices
from loadstone.report.document import build_document
from loadstone.report.text import verdict
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.workloads.judging import judged_metrics

RATE = {"load": "open", "rate_per_s": 100}
USERS: dict[str, Any] = {"kind": "compare", "factor": "workload.service_time_us", "levels": [1, 2]}


def experiment(
    workload: str = "noop", profile: dict[str, Any] | None = None, **more: Any
) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": workload},
            "target": {"engine": "none" if workload == "noop" else "postgresql"},
            "profile": profile or {},
            "design": USERS,
            **more,
        }
    )


@pytest.mark.parametrize(
    ("of", "judged"),
    [
        (experiment(), ["operations_per_s"]),
        (experiment(profile=RATE), ["response_p95_ms"]),
        (experiment(profile=RATE, design={"kind": "run"}), ["operations_per_s"]),
        (experiment(profile=RATE, design={"kind": "search"}), ["operations_per_s"]),
        (experiment("archive"), ["response_p95_ms"]),
        (experiment("oltp"), ["new_orders_per_min"]),
        (experiment("oltp", RATE), ["response_p95_ms"]),
        (experiment("oltp", RATE, metric="errors"), ["errors"]),
        (experiment(metric=["driver_cpu_us", "noop p95"]), ["driver_cpu_us", "noop p95"]),
    ],
)
def test_what_is_judged(of: Experiment, judged: list[str]) -> None:
    assert judged_metrics(of) == judged


def test_trials_are_told_the_headline() -> None:
    def loadstone(of: Experiment) -> set[str | None]:
        return {plan.metric for plan in stages_of(of).next([])}

    assert loadstone(experiment()) == {None}
    assert loadstone(experiment(profile=RATE)) == {"response_p95_ms"}
    assert loadstone(experiment(metric=["driver_cpu_us", "noop p95"])) == {"driver_cpu_us"}


@pytest.mark.parametrize(
    ("of", "names"),
    [
        (experiment(profile=RATE), []),
        (experiment(metric="operations_per_s"), []),
        (experiment(profile=RATE, metric="operations_per_s"), ["operations_per_s"]),
        (
            experiment(profile=RATE, metric=["driver_cpu_us", "operations_per_s"]),
            ["operations_per_s"],
        ),
        (experiment("oltp", RATE, metric="new_orders_per_server_cpu_s"), []),
        (experiment("archive", metric="events_stored_per_s"), ["events_stored_per_s"]),
        (experiment(profile=RATE, metric="operations_per_s", design={"kind": "run"}), []),
        (
            experiment(
                profile={**RATE, "phases": [{"name": "half", "share": 0.5}]},
                metric="half operations_per_s",
            ),
            ["half operations_per_s"],
        ),
    ],
)
def test_a_rate_that_is_offered_is_told(of: Experiment, names: list[str]) -> None:
    assert [notice.message.split(" is the rate")[0] for notice in offered_notices(of)] == names


@pytest.mark.parametrize(
    ("metric", "path", "words"),
    [
        ("no_such", ("metric",), "there is no metric 'no_such'"),
        (["noop p95", "no_such"], ("metric", 1), "there is no metric 'no_such'"),
    ],
)
def test_unknown_metrics_are_found_before(metric: Any, path: tuple[Any, ...], words: str) -> None:
    (problem,) = check_experiment(experiment(metric=metric))
    assert problem.path == path
    assert words in problem.message


def test_several_metrics_are_for_comparisons() -> None:
    several = experiment(metric=["noop p95", "driver_cpu_us"], design={"kind": "run"})
    assert "name one for a run" in check_experiment(several)[0].message
    assert check_experiment(experiment(metric=["response_p95_ms", "driver_cpu_us"])) == []


def test_a_ladder_that_keeps_the_better_shares_the_level_among_its_metrics() -> None:
    rungs = [{"name": str(n), "change": {"workload.service_time_us": n}} for n in (1, 2)]
    design = {"kind": "ladder", "keep": "better", "rungs": rungs}
    for metric, decisions in (("noop p95", 2), (["noop p95", "driver_cpu_us"], 4)):
        stages = stages_of(experiment(design=design, metric=metric))
        stages.next([])
        assert [pair.decided_among for pair in stages.pairs] == [decisions]


def test_what_was_written_before_is_still_read() -> None:
    plan = stages_of(experiment(metric="noop p95")).next([])[0]
    assert TrialPlan.model_validate_json(plan.model_dump_json()).metric == "noop p95"
    assert Experiment.model_validate_json(experiment(metric="a").model_dump_json()).metric == "a"


def several(tmp_path: Path, effect: float, margin: float | None = None) -> Path:
    spec = sample_results.compare(repeats=5).model_copy(
        update={"metric": ["new_orders_per_min", "payment p95"], "margin": margin}
    )
    sample = Sample(effects={"shared_buffers=1GB": effect}, tick_s=10, noise=0.001)
    return write_results(tmp_path / "results", spec, sample)


def test_a_report_judges_every_metric(tmp_path: Path) -> None:
    document = build_document(several(tmp_path, 1.5))
    assert document.judged == ["new_orders_per_min", "payment p95"]
    assert [(c.metric, c.verdict) for c in document.comparisons] == [
        ("new_orders_per_min", "better"),
        ("payment p95", "better"),
    ]
    assert "By payment, response time p95: better" in document.headline


def test_a_margin_is_told_of(tmp_path: Path) -> None:
    document = build_document(several(tmp_path, 1.0, 60.0))
    assert {verdict(each) for each in document.comparisons} == {"no change larger than 60 %"}
    assert 'No change larger than 60 %: "shared_buffers=1GB".' in document.headline
    changed = build_document(several(tmp_path / "other", 1.3, 60.0))
    assert {verdict(each) for each in changed.comparisons} == {"better, by 60 % at most"}


def test_two_results_are_compared_by_metrics_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    several(tmp_path, 1.0)
    sides = [f"shared-buffers:shared_buffers={level}" for level in ("128MB", "1GB")]
    code, out, err = loadstone(
        "compare", *sides, "--metric", "payment p95", "--metric", "transactions_per_s",
        "--margin", "60%", "--json",
    )  # fmt: skip
    assert code == ExitCode.OK, err
    document = json.loads(out)
    first, (second,) = document["comparison"], document["further"]
    assert (first["metric"], second["metric"]["name"]) == ("payment p95", "transactions_per_s")
    assert first["verdict"] == second["comparison"]["verdict"] == "equivalent"
    code, out, err = loadstone("compare", *sides, "--metric", "payment p59")
    assert (code, out) == (ExitCode.WRONG_INPUT, "")
    assert "did you mean 'payment p9" in err
    code, _, err = loadstone("compare", *sides, "--margin", "0")
    assert code == ExitCode.WRONG_INPUT
    assert "--margin" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan noop --margin 3%", "a run compares nothing"),
        ("plan noop --vary users=1,2 --margin some", "is not a percentage"),
        ("plan noop --vary users=1,2 --metric noop_p95 --metric noop_p95", "named twice"),
    ],
)
def test_wrong_options_are_refused(words: str, said: str) -> None:
    code, out, err = loadstone(*words.split())
    assert (code, out) == (ExitCode.WRONG_INPUT, "")
    assert said in err


def test_plan_tells_that_throughput_cannot_change() -> None:
    words = "plan noop --rate 9 --factor service_time_us --levels 1,2 --metric operations_per_s"
    code, out, _ = loadstone(*words.split())
    assert code == ExitCode.OK
    assert "no level can change it" in " ".join(out.split())
