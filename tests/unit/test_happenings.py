"""What engines and host did in the background, from their samples and their log."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from loadstone.probes.host_marks import host_marks
from loadstone.probes.marks import Mark, SampleTable
from loadstone.targets.happenings import ServerLog, wait_marks
from loadstone.targets.registry import TARGETS, target_class

START = datetime(2026, 11, 22, 15, 0, 0, tzinfo=UTC).timestamp()
NO_LOG = ServerLog(None, START)
SECONDS = 60


def table(**series: list[float]) -> SampleTable:
    """Series sampled once a second, from second 1 on; names with `__` for a colon."""
    return SampleTable.of(
        (float(second), metric.replace("__", ":"), value)
        for metric, values in series.items()
        for second, value in enumerate(values, start=1)
    )


def at(seconds: dict[int, float], usual: float = 0.0) -> list[float]:
    """A value for each second, the same but for some."""
    return [seconds.get(second, usual) for second in range(1, SECONDS + 1)]


def spans(marks: list[Mark], kind: str) -> list[tuple[float, float]]:
    return [(mark.from_s, mark.to_s) for mark in marks if mark.kind == kind]


def found(engine: str, samples: SampleTable, log: ServerLog = NO_LOG) -> list[Mark]:
    return target_class(engine).happenings(samples, log)


@pytest.mark.parametrize("engine", TARGETS)
def test_every_engine_answers_when_nothing_was_sampled(engine: str) -> None:
    assert found(engine, SampleTable({})) == []


LOG = """\
2026-11-22 14:59:59.000 UTC [7] LOG:  checkpoint starting: immediate force wait
2026-11-22 14:59:59.500 UTC [7] LOG:  checkpoint complete: wrote 3 buffers (0.0%); 0 WAL file(s) \
added, 0 removed, 0 recycled; write=0.001 s, sync=0.001 s, total=0.002 s; sync files=2
2026-11-22 15:00:10.250 UTC [7] LOG:  checkpoint starting: wal
2026-11-22 15:00:11.000 UTC [9] ERROR:  checkpoint complete: is no event of that process
2026-11-22 15:00:20.750 UTC [7] LOG:  checkpoint complete: wrote 900 buffers (5.5%), wrote 3 SLRU \
buffers; 0 WAL file(s) added, 0 removed, 4 recycled; write=9.0 s, sync=1.250 s, total=10.5 s; \
sync files=21, longest=0.9 s, average=0.1 s; distance=65536 kB
2026-11-22 15:00:50.000 UTC [7] LOG:  checkpoint starting: time
"""


def test_checkpoints_of_postgresql_by_its_log(tmp_path: Path) -> None:
    path = tmp_path / "target.log"
    path.write_text(LOG)
    marks = found("postgresql", table(commits_per_s=at({}, 5.0)), ServerLog(path, START))
    assert spans(marks, "checkpoint") == [
        (pytest.approx(-1.0), pytest.approx(-0.5)),
        (pytest.approx(10.25), pytest.approx(20.75)),
        (pytest.approx(50.0), 60.0),
    ]
    assert spans(marks, "checkpoint sync")[1] == (pytest.approx(19.5), pytest.approx(20.75))


def test_a_log_in_another_time_zone_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "target.log"
    path.write_text(LOG.replace(" UTC ", " CET "))
    counters = table(checkpoints_timed_count=at({30: 1.0}))
    assert spans(found("postgresql", counters, ServerLog(path, START)), "checkpoint") == [(29, 30)]


def test_checkpoints_of_postgresql_by_its_counters() -> None:
    marks = found(
        "postgresql",
        table(
            checkpoints_requested_count=at({10: 1.0, 40: 1.0}),
            checkpoints_timed_count=at({20: 1.0}),
            checkpoint_write_ms_per_s=at({15: 900.0, 20: 5.0}),
        ),
    )
    assert spans(marks, "checkpoint") == [(9, 15), (19, 20), (39, 40)]


def test_what_else_postgresql_tells() -> None:
    marks = found(
        "postgresql",
        table(
            wal_files_count=at({7: 2.0}),
            autovacuum_workers_count=at({30: 1.0, 31: 2.0}),
            wal_buffers_full_per_s=at({50: 500.0}, 1.0),
        ),
    )
    assert spans(marks, "WAL file switch") == [(6, 7)]
    assert spans(marks, "autovacuum") == [(29, 31)]
    assert spans(marks, "WAL buffers full") == [(49, 50)]


def test_what_mariadb_tells() -> None:
    age = [1e6 * (second % 20) * 5 for second in range(1, SECONDS + 1)]
    marks = found(
        "mariadb",
        table(
            checkpoint_age_bytes=age,
            checkpoint_age_limit_bytes=[1e8] * SECONDS,
            history_list_count=at({30: 5000.0, 31: 100.0}, 90.0),
            flushed_blocks_per_s=at({20: 9000.0}, 50.0),
            wal_buffer_waits_count=at({44: 1.0}),
            free_block_waits_count=at({}),
        ),
    )
    assert spans(marks, "checkpoint") == [(19, 20), (39, 40), (59, 60)]
    assert spans(marks, "redo log nearly full") == [(17, 19), (37, 39), (57, 59)]
    assert spans(marks, "purge") == [(30, 31)]
    assert spans(marks, "page flushing") == [(19, 20)]
    assert spans(marks, "redo log buffer full") == [(43, 44)]
    assert not spans(marks, "no free page")


def test_checkpoints_of_sqlite_need_a_wal() -> None:
    written = at({12: 1.0})
    marks = found("sqlite", table(database_written_count=written, wal_bytes=at({}, 4e6)))
    assert spans(marks, "checkpoint") == [(11, 12)]
    assert found("sqlite", table(database_written_count=written)) == []


def test_waits_that_stand_out() -> None:
    samples = table(
        active_sessions=at({}, 8.0),
        waiting_sessions__CPU__CPU=at({25: 40.0}, 2.0),
        waiting_sessions__LWLock__WALWrite=at({10: 7.0, 11: 8.0}, 1.0),
    )
    assert wait_marks(samples) == [Mark("wait: LWLock:WALWrite", 9.0, 11.0)]


def test_looks_without_a_waiter_count_as_none() -> None:
    rows = [(float(s), "active_sessions", 8.0) for s in range(1, SECONDS + 1)]
    rows += [(float(s), "waiting_sessions:IO:DataFileRead", 5.0) for s in (20, 40)]
    marks = wait_marks(SampleTable.of(rows))
    assert spans(marks, "wait: IO:DataFileRead") == [(19, 20), (39, 40)]


def test_the_host_under_strain() -> None:
    marks = host_marks(
        table(
            pressure_io_percent=at({33: 70.0}, 4.0),
            pressure_cpu_percent=at({5: 15.0}, 1.0),
            disk_flushes_per_s=at({50: 900.0, 51: 900.0}, 100.0),
            data_disk_write_bytes_per_s=at({8: 2e8}, 1e6),
            disk_write_bytes_per_s=at({9: 2e8}, 1e6),
        )
    )
    assert spans(marks, "host: waits for I/O") == [(32, 33)]
    assert not spans(marks, "host: waits for CPU"), "15 % is below what counts"
    assert spans(marks, "host: disk flushes") == [(49, 51)]
    assert spans(marks, "host: disk writes") == [(7, 8)], "the disk of the data, where it is known"
