"""Why it stalled, on a real server: checkpoints planted under load on a slow disk are found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from lengths import LONG
from machine import need
from sample_trials import plan_of

from loadstone.experiments.data import DataStates
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.lab import Lab, Site
from loadstone.experiments.loading import Load, running_load
from loadstone.experiments.observer import Observer
from loadstone.experiments.outcome import TrialOutcome
from loadstone.host.state import HostState
from loadstone.journal import Journal
from loadstone.report.happenings import Happenings
from loadstone.report.marks import marks
from loadstone.report.probe_series import read_samples
from loadstone.report.reading import RecordedTrial as Read
from loadstone.report.stalls import stall_report
from loadstone.results.folder import ExperimentFolder
from loadstone.results.frames import parsed_frames
from loadstone.results.record import Status
from loadstone.results.samples import SAMPLES_TABLE
from loadstone.results.trial_files import empty_result
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.happenings import CHECKPOINT
from loadstone.targets.postgresql import OwnedPostgreSQL
from loadstone.workloads.registry import workload_of

TICK_S = 0.25


@pytest.mark.parametrize(
    ("planted_s", "measure", "is_judged"),
    [
        pytest.param((1.5, 6.0), "9s", False, id="few"),
        # Not at equal distances, which would fit to many shifts.
        pytest.param((4.0, 13.0, 20.5, 31.0, 39.0, 49.5), "56s", True, id="many", marks=LONG),
    ],
)
def test_planted_checkpoints_on_a_slow_disk_are_found(
    tmp_path: Path, open_folder: Path, planted_s: Sequence[float], measure: str, *, is_judged: bool
) -> None:
    """Each is found at its moment; many of them more often together with stalls than by chance.

    Args:
        planted_s: Into the measured phase.
        measure: How long that is.
        is_judged: Whether there are enough of them to tell from chance.
    """
    slow_disk = "nbd:ext4,write-delay=4ms,size=1GB"
    need(slow_disk)
    spec = TargetSpec(
        engine="postgresql",
        data=str(open_folder),
        settings={"checkpoint_timeout": "1h"},
        storage=StorageSpec(data=slow_disk),
    )
    profile = ProfileSpec.model_validate(
        {"load": "open", "rate_per_s": 60, "sessions": 8, "backlog": "discard"}
        | {"warm_up": "3s", "measure": measure}
    )
    workload = WorkloadSpec(name="oltp", parameters={"warehouses": 1})
    plan = plan_of(workload="oltp").model_copy(
        update={"target": spec, "profile": profile, "workload": workload}
    )
    folder = ExperimentFolder.create(tmp_path, "demo").trial(plan)
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal, folder:
        target = OwnedPostgreSQL(spec, TargetContext(journal=journal, owner="pytest"))
        observer = Observer()
        lab = Lab(
            [Site(target, DataStates(target, observer))], journal, Interrupts(), observer,
            HostState(journal),
        )  # fmt: skip
        own = workload_of(workload)
        outcome = TrialOutcome(plan, own, folder.path, folder.started_at)
        try:
            target.open()
            lab.restored(plan, own, outcome.clock)
            lab.start_state(plan, own, folder, outcome.clock)
            with running_load(outcome, folder, lab, profile, tick_s=TICK_S) as load:
                plant(load, lab, planted_s)
                load.sampler.stop()
                load.driver.wait()
            folder.keep_log(target.log_path())
        finally:
            target.close()
    trial = Read(folder.path, plan, empty_result(plan, Status.VALID, folder.started_at), {})
    frames = list(parsed_frames(folder.path))
    happened = Happenings(trial, frames, read_samples(folder.path / SAMPLES_TABLE))
    stalls = stall_report(workload_of(workload), frames, happened, 0.0)
    assert stalls is not None
    kinds = {kind.kind: kind for kind in stalls.kinds}
    phase = outcome.load.log.phases()[-1]
    begun = phase.from_s
    marked = [each.t_s for each in marks(happened, (begun, phase.to_s)) if each.kind == CHECKPOINT]
    assert marked == pytest.approx(planted_s, abs=1.5)
    planted = [span for span in stalls.happenings if span.kind == "checkpoint"]
    assert [round(span.from_s - begun) for span in planted] == pytest.approx(planted_s, abs=1.5)
    assert kinds["checkpoint"].times == kinds["checkpoint sync"].times == len(planted_s)
    found = kinds["checkpoint"]
    assert found.together > 0
    if not is_judged:
        return
    assert found.together > found.expected
    assert "more often than chance" in {found.verdict, kinds["checkpoint sync"].verdict}, stalls


def plant(load: Load, lab: Lab, planted_s: Sequence[float]) -> None:
    """A checkpoint at each of the moments, and then the end of the load."""
    begin = load.next_mark(lab)
    assert begin is not None
    for after_s in planted_s:
        time.sleep(max(0.0, begin.t_s + after_s - load.driver.clock_s()))
        lab.target.execute("CHECKPOINT")
    while load.next_mark(lab) is not None:
        pass
