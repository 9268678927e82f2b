from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_archive
import sample_results

from loadstone.experiments.model import RunDesign, WorkloadSpec
from loadstone.load.frames import Event
from loadstone.report.document import build_document
from loadstone.report.load_series import load_series, workload_series
from loadstone.report.marks import marks
from loadstone.report.model import Mark, Watched
from loadstone.report.watched import watched
from loadstone.results.frames import FRAMES_FILE, FramesWriter
from loadstone.workloads.base import Flow
from loadstone.workloads.noop import Noop
from loadstone.workloads.registry import WORKLOADS


def samples(*rows: tuple[float, str, str, float]) -> pa.Table:
    names = ["t_s", "probe", "metric", "value"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_marks_are_what_workload_and_target_told_in_order_of_time() -> None:
    events = [
        Event(t_s=9.25, kind="workload", name="segment-switch", data={"number": 2.0}),
        Event(t_s=5.25, kind="phase", phase="measure"),
    ]
    taken = samples(
        (4.25, "postgresql", "checkpoints_timed_count", 1.0),
        (4.25, "postgresql", "checkpoints_requested_count", 0.0),
        (5.25, "postgresql", "checkpoint_write_ms_per_s", 300.0),
        (6.25, "host", "checkpoints_timed_count", 1.0),
    )
    assert marks(events, taken, origin=0.25) == [
        Mark(t_s=4.0, kind="checkpoint", data={"cause": "timed"}),
        Mark(t_s=9.0, kind="segment-switch", data={"number": 2.0}),
    ]
    assert marks([], None, origin=0.0) == []


def test_document_holds_what_the_frames_of_an_archive_tell(tmp_path: Path) -> None:
    spec = sample_results.experiment(RunDesign(), 1, name="archive")
    folder = sample_results.write_results(tmp_path, spec, sample_results.Sample(tick_s=10))
    trial = next(entry for entry in folder.iterdir() if entry.is_dir())
    (trial / FRAMES_FILE).unlink()
    writer = FramesWriter(trial / FRAMES_FILE)
    for frame in sample_archive.frames():
        writer.write(frame)
    writer.close()
    pq.write_table(
        samples((38.25, "postgresql", "checkpoints_requested_count", 1.0)),
        trial / "samples.parquet",
    )
    report = build_document(folder).trials[0]
    assert [m.t_s for m in report.marks if m.kind == "segment-switch"] == [
        pytest.approx(t_s - 0.25) for t_s in sample_archive.SWITCHES_S
    ]
    assert [m.t_s for m in report.marks if m.kind == "checkpoint"] == [38.0]
    offered = report.workload.columns["events_offered_per_s"]
    assert (offered[0], offered[-1]) == sample_archive.OFFERED_PER_S
    assert max(filter(None, report.workload.columns["deepest_buffer"])) == 60_000
    assert report.watched is None, "order entry is judged by all of its operations"


class Judged(Noop):
    """A workload with a flow, which is judged by one of its operations."""

    name = "judged"

    def judged_by(self) -> tuple[str, ...]:
        return ("insert",)

    def flow(self) -> Flow:
        return Flow("events_offered", "events_stored", "events_lost", "events_buffered")

    def slow_after_s(self) -> float | None:
        return 1.0

    def marks(self) -> tuple[str, ...]:
        return ("segment-switch",)


def test_watched_is_what_the_workload_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, Judged.name, Judged)
    assert watched(WorkloadSpec(name="judged")) == sample_archive.WATCHED
    monkeypatch.setattr(Judged, "flow", Noop.flow)
    monkeypatch.setattr(Judged, "marks", Noop.marks)
    monkeypatch.setattr(Judged, "slow_after_s", Noop.slow_after_s)
    assert watched(WorkloadSpec(name="judged")) == Watched(operations=["insert"], threshold_ms=None)
    assert watched(WorkloadSpec(name="noop")) is None
    assert watched(WorkloadSpec(name="of another release")) is None


def test_a_version_2_trial_has_no_series_of_its_own(ladder_folder: Path) -> None:
    report = build_document(ladder_folder).trials[0]
    assert report.workload.t_s == []
    assert report.workload.columns == {}
    assert load_series([], 0.0, ["insert"]).columns == {}
    assert workload_series([], 0.0).t_s == []
