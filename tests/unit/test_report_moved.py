"""What is usual of the machine over a whole experiment is known when all its trials are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_results import compare

from loadstone.experiments.designs import stages_of
from loadstone.report.moved import moved_over_all
from loadstone.report.reading import DesignRecord, RecordedExperiment, RecordedTrial
from loadstone.results.record import DriftRecord, Status, TrialResult


def recorded(unusual: dict[int, dict[str, Any]], repeats: int = 4) -> RecordedExperiment:
    """An experiment of which some trials, by order, had a slower machine, or are left out."""
    given = compare(repeats)
    stages = stages_of(given)
    trials = []
    for plan in stages.next([]):
        of = unusual.get(plan.order, {})
        speeds = {"cpu_ms": 50.0 * of.get("slower", 1.0), "disk_ms": 0.6 * plan.order}
        result = TrialResult(
            experiment="x",
            trial=plan.trial,
            variant=plan.variant.name,
            block=plan.block,
            order=plan.order,
            status=of.get("status", Status.VALID),
            started_at="2026-01-01T00:00:00+00:00",
            drift=DriftRecord(before=speeds, after=speeds, moved_percent=0.0, disturbed=False),
        )
        made = plan.model_copy(update={"host": of.get("host", {})})
        trials.append(RecordedTrial(Path(plan.trial), made, result, {}))
    design = DesignRecord(variants=stages.variants, pairs=[])
    return RecordedExperiment(Path("x"), given, design, trials, [])


def test_the_first_trials_are_judged_when_all_are_made() -> None:
    experiment = recorded({1: {"slower": 1.4}, 2: {"slower": 0.7}})
    (notice,) = moved_over_all(experiment)
    first, second = (trial.result.trial for trial in experiment.trials[:2])
    assert notice.message == (
        "around 2 trials that count, the machine's own speed was more than 20 % off its median "
        f"over the experiment: {first} (+40 %), {second} (-30 %)"
    )


@pytest.mark.parametrize(
    ("unusual", "repeats"),
    [
        ({}, 4),
        ({1: {"slower": 1.1}}, 4),
        ({1: {"slower": 1.4, "status": Status.DISTURBED}}, 4),
        ({1: {"slower": 1.8}}, 1),
        ({1: {"slower": 0.0}}, 4),
    ],
    ids=["as usual", "within the limit", "left out already", "too few probes", "no figure"],
)
def test_nothing_is_said_of_others(unusual: dict[int, dict[str, Any]], repeats: int) -> None:
    assert moved_over_all(recorded(unusual, repeats)) == []


def test_other_settings_of_the_host_are_another_machine() -> None:
    slow: dict[str, Any] = {"slower": 2.0}
    other = {**slow, "host": {"vm.swappiness": 1}}
    assert moved_over_all(recorded({1: other, 3: other, 5: other})) == []
    assert moved_over_all(recorded({1: slow, 3: slow, 5: slow})) != []
