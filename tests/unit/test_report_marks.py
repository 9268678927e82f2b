from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_archive
import sample_results
from sample_trials import plan_of

from loadstone.protocol.frames import Event
from loadstone.report.document import build_document
from loadstone.report.happenings import Happenings
from loadstone.report.load_series import load_series, workload_series
from loadstone.report.marks import marks
from loadstone.report.model.trials import Mark, Watched
from loadstone.report.reading import RecordedTrial
from loadstone.report.watched import watched
from loadstone.results.frames import FRAMES_FILE, FramesWriter
from loadstone.results.record import OutageRecord, Status
from loadstone.results.trial_files import PLAN_FILE, empty_result
from loadstone.spec.design import RunDesign
from loadstone.spec.model import OutageKind, WorkloadSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.registry import TARGETS
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.workload import EventArchive
from loadstone.workloads.charts import Charts, Flow
from loadstone.workloads.noop import Noop


def samples(*rows: tuple[float, str, str, float]) -> pa.Table:
    names = ["t_s", "probe", "metric", "value"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def happened(
    folder: Path,
    engine: str,
    taken: pa.Table | None = None,
    events: Sequence[Event] = (),
    outages: Sequence[OutageRecord] = (),
) -> Happenings:
    plan = plan_of(engine=engine)
    result = empty_result(plan, Status.VALID, "2026-11-22T15:00:00Z")
    result = result.model_copy(update={"outages": list(outages)})
    return Happenings(RecordedTrial(folder, plan, result, {}), events, taken)


def test_marks_are_what_workload_and_target_told_in_order_of_time(tmp_path: Path) -> None:
    events = [
        Event(t_s=9.25, kind="workload", name="segment-switch", data={"number": 2.0}),
        Event(t_s=5.25, kind="phase", phase="measure"),
    ]
    taken = samples(
        (3.25, "postgresql", "checkpoints_timed_count", 0.0),
        (4.25, "postgresql", "checkpoints_timed_count", 1.0),
        (5.25, "postgresql", "checkpoint_write_ms_per_s", 300.0),
        (6.25, "host", "checkpoints_timed_count", 1.0),
        (90.25, "postgresql", "checkpoints_timed_count", 1.0),
    )
    found = happened(tmp_path, "postgresql", taken, events)
    assert marks(found, (0.25, 60.25)) == [
        Mark(t_s=3.0, kind="checkpoint", data={"cause": "timed"}),
        Mark(t_s=9.0, kind="segment-switch", data={"number": 2.0}),
    ], "what came after the charts is not on them"
    assert marks(found, (4.0, 60.0))[0].t_s == 0.0, "it was going on when the charts begin"
    assert marks(happened(tmp_path, "postgresql"), (0.0, 60.0)) == []
    assert marks(happened(tmp_path, "of another release", taken), (0.0, 60.0)) == []


CHECKPOINTS = {
    "postgresql": {"checkpoints_requested_count": (0.0, 0.0, 1.0, 0.0)},
    "mariadb": {
        "checkpoint_age_bytes": (70e6, 80e6, 20e6, 30e6),
        "checkpoint_age_limit_bytes": (100e6,) * 4,
    },
    "sqlite": {
        "database_written_count": (0.0, 0.0, 1.0, 0.0),
        "wal_bytes": (4e6, 4e6, 4e6, 4e6),
    },
    "duckdb": {"wal_bytes": (4e6, 8e6, 1e6, 2e6)},
    "chdb": {},
    "spark": {},
    "folder": {},
    "device": {},
    "nbd": {},
    "iscsi": {},
    "nfs": {},
    "http": {},
    "jvm": {},
    "sql-dashboards": {"database.checkpoints_requested_count": (0.0, 0.0, 1.0, 0.0)},
    "superset": {"database.checkpoints_requested_count": (0.0, 0.0, 1.0, 0.0)},
    "local": {},
    "slurm": {},
    "gridengine": {},
    "none": {},
}
"""What each engine's probes see of a checkpoint between second 2 and second 3."""


@pytest.mark.parametrize("engine", TARGETS)
def test_checkpoints_of_every_engine_are_marked(tmp_path: Path, engine: str) -> None:
    seen = CHECKPOINTS[engine]
    rows = [
        (float(second), engine, metric, value)
        for metric, values in seen.items()
        for second, value in enumerate(values, start=1)
    ]
    found = marks(happened(tmp_path, engine, samples(*rows) if rows else None), (0.0, 60.0))
    assert [(mark.kind, mark.t_s) for mark in found] == ([("checkpoint", 2.0)] if seen else [])


@pytest.mark.parametrize(
    ("kind", "part", "state"),
    [
        ("pause", "", "paused"),
        ("kill", "", "killed"),
        ("full-disk", "", "disk full"),
        ("stop", "nodes.2", "nodes.2 stopped"),
    ],
)
def test_an_outage_is_a_band_until_the_server_answered(
    tmp_path: Path, kind: OutageKind, part: str, state: str
) -> None:
    outage = OutageRecord(kind=kind, part=part, from_s=15.25, to_s=20.25, back_s=0.5)
    found = happened(tmp_path, "postgresql", outages=[outage])
    assert marks(found, (0.25, 60.25)) == [Mark(t_s=15.0, to_s=20.5, kind=f"outage: {state}")]
    told = outage.notice(0.25).message
    assert "15.0 s after the load began, for 5.0 s, and answered 0.5 s later" in told


@pytest.fixture
def archive_folder(tmp_path: Path) -> Path:
    """Results of an archive whose stations replay a file that is not here; one trial."""
    spec = sample_results.experiment(RunDesign(), 1, name="archive")
    replay = WorkloadSpec(name="archive", parameters={"csv": "elsewhere.csv"})
    profile = ProfileSpec(warm_up="5s", measure="50s")
    spec = spec.model_copy(update={"workload": replay, "profile": profile})
    folder = sample_results.write_results(tmp_path, spec, sample_results.Sample(tick_s=10))
    trial = _trial_of(folder)
    (trial / FRAMES_FILE).unlink()
    writer = FramesWriter(trial / FRAMES_FILE)
    for frame in sample_archive.frames():
        writer.write(frame)
    writer.close()
    taken = samples((38.25, "postgresql", "checkpoints_requested_count", 1.0))
    pq.write_table(taken, trial / "samples.parquet")
    return folder


def _trial_of(folder: Path) -> Path:
    return next(entry for entry in folder.iterdir() if entry.is_dir())


def test_document_holds_what_the_frames_of_an_archive_tell(archive_folder: Path) -> None:
    report = build_document(archive_folder).trials[0]
    assert [m.t_s for m in report.marks if m.kind == "segment-switch"] == [
        pytest.approx(t_s - 0.25) for t_s in sample_archive.SWITCHES_S
    ]
    assert [m.t_s for m in report.marks if m.kind == "checkpoint"] == [37.0]
    offered = report.workload.columns["events_offered_per_s"]
    assert (offered[0], offered[-1]) == sample_archive.OFFERED_PER_S
    assert max(filter(None, report.workload.columns["deepest_buffer"])) == 60_000
    assert report.watched == sample_archive.WATCHED
    assert {"stations p99_ms", "operators p99_ms"} <= set(report.groups.columns)
    assert report.stalls is not None


def test_a_report_without_frames_is_made_all_the_same(archive_folder: Path) -> None:
    (_trial_of(archive_folder) / FRAMES_FILE).unlink()
    report = build_document(archive_folder).trials[0]
    assert report.groups.columns == report.load.columns == {}
    assert report.stalls is None


def test_a_workload_that_cannot_be_read_is_left_out_with_a_sentence(archive_folder: Path) -> None:
    plan = _trial_of(archive_folder) / PLAN_FILE
    plan.write_text(plan.read_text().replace('"csv"', '"of_another_release"'))
    document = build_document(archive_folder)
    (report,) = document.trials
    assert report.watched is None
    assert report.stalls is None
    (notice,) = [each for each in document.notices if each.code == "unread-workload"]
    assert report.result.trial in notice.message


class Judged(Noop):
    """A workload with a flow, which is judged by one of its operations."""

    name = "judged"

    drawn = Charts(
        judged=("insert",),
        flow=Flow("events_offered", "events_stored", "events_lost", "events_buffered"),
        slow_after_s=1.0,
        marks=("segment-switch",),
    )

    def charts(self) -> Charts:
        return self.drawn


def test_watched_is_what_the_workload_says(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Judged(Noop.Parameters())
    assert watched(judged) == sample_archive.WATCHED.model_copy(
        update={"groups": {"insert": ["insert"]}}
    ), "an operation is a group of its own"
    monkeypatch.setattr(Judged, "drawn", Charts(judged=("insert",)))
    assert watched(judged) == Watched(
        groups={"insert": ["insert"]}, operations=["insert"], threshold_ms=None
    )
    assert watched(Noop(Noop.Parameters())) is None


def test_the_archive_is_watched_by_its_groups() -> None:
    assert watched(EventArchive(ArchiveParameters())) == sample_archive.WATCHED


def test_a_version_2_trial_has_no_series_of_its_own(ladder_folder: Path) -> None:
    report = build_document(ladder_folder).trials[0]
    assert report.workload.t_s == []
    assert report.workload.columns == {}
    assert load_series([], 0.0).columns == {}
    assert workload_series([], 0.0).t_s == []
