"""The cycles of a workload that goes step by step, as the report tells them."""

from pathlib import Path

from dss_steps import step
from sample_results import experiment
from sample_trials import plan_of

from loadstone.protocol.frames import Event
from loadstone.report.reading import DesignRecord, RecordedExperiment, RecordedTrial
from loadstone.report.steps import steps_report
from loadstone.results.frames import FRAMES_FILE, FramesWriter
from loadstone.results.record import Status, TrialResult
from loadstone.spec.design import CompareDesign
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.plans import Variant

VARIANTS = ("stored", "hybrid")


def cycle(begin_s: float, **steps: float) -> list[Event]:
    """Steps one after the other, of these lengths, with a question between them."""
    found = []
    for name, seconds in steps.items():
        operation = name.replace("_", "-")
        found.append(step("cycles", operation, begin_s, begin_s + seconds, step="work"))
        begin_s += seconds
        found.append(step("cycles", f"check-{operation}", begin_s, begin_s + 100))
        begin_s += 100
    return found


def trial_of(
    root: Path, name: str, variant: str, events: list[Event], status: Status = Status.VALID
) -> RecordedTrial:
    path = root / name
    path.mkdir()
    with FramesWriter(path / FRAMES_FILE) as frames:
        for event in events:
            frames.write(
                {"frame": "event", "t_s": event.t_s, "kind": event.kind, "name": event.name}
                | {"data": dict(event.data)}
            )
    result = TrialResult(
        experiment="cube", trial=name, variant=variant, block=1, order=1, status=status,
        started_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    return RecordedTrial(path, plan_of(name, "cube", workload="cube"), result, {})


def cycles_of(root: Path, *trials: RecordedTrial) -> list[tuple[str, int, dict[str, float]]]:
    spec = experiment(
        CompareDesign(factor="workload.hybrid", levels=[False, True]), 2, name="cube"
    ).model_copy(update={"workload": WorkloadSpec(name="cube")})
    variants = [Variant(name=name, changes=[], step=[]) for name in VARIANTS]
    folder = RecordedExperiment(
        root, spec, DesignRecord(variants=variants, pairs=[]), list(trials), []
    )
    report = steps_report(folder, [])
    assert report is not None
    return [(own.variant, own.cycle, own.times_s) for own in report.cycles]


def test_each_cycle_has_its_own_steps_as_means_of_the_trials_of_its_variant(tmp_path: Path) -> None:
    first = cycle(0, reset=1, native_load=10, aggregate=20)
    second = cycle(1000, reset=2, native_load=30, aggregate=40)
    again = cycle(0, reset=3, native_load=12, aggregate=26)
    later = cycle(1000, reset=4, native_load=32, aggregate=48)
    found = cycles_of(
        tmp_path,
        trial_of(tmp_path, "b01-1-stored", "stored", first + second),
        trial_of(tmp_path, "b02-1-stored", "stored", again + later),
        trial_of(tmp_path, "b01-2-hybrid", "hybrid", cycle(0, reset=7, native_load=8)),
    )
    assert found == [
        ("stored", 1, {"reset": 2, "native-load": 11, "aggregate": 23}),
        ("stored", 2, {"reset": 3, "native-load": 31, "aggregate": 44}),
        ("hybrid", 1, {"reset": 7, "native-load": 8}),
    ]


def test_trials_that_do_not_count_are_in_no_cycle(tmp_path: Path) -> None:
    found = cycles_of(
        tmp_path,
        trial_of(tmp_path, "b01-1-stored", "stored", cycle(0, reset=1)),
        trial_of(tmp_path, "b02-1-stored", "stored", cycle(0, reset=99), Status.FAILED),
    )
    assert found == [("stored", 1, {"reset": 1})]
