"""The figures of a baseline from what its passes told, and what is said beside them."""

from __future__ import annotations

from typing import Any

import pytest

from loadstone.fio.bins import BinEncoder
from loadstone.protocol.frames import Event, OperationTick, Tick
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.storage.metrics import (
    HEADLINE,
    PassFigures,
    baseline,
    metrics_of,
    passes_of,
    score_of,
)
from loadstone.workloads.storage.notices import notices_of
from loadstone.workloads.storage.tests import Job, StorageTest, single

TEST = single("RND4K Q32T2", Job("randread", 4096, 32, 2))
USUAL = {
    "pass": 1.0, "duration_s": 1.0, "bytes": 100e6, "ios": 25000.0, "mb_per_s": 100.0,
    "ios_per_s": 25000.0, "cpu_user_s": 0.1, "cpu_system_s": 0.3, "depth": 64.0, "max_s": 0.05,
    "busiest_cpu_share": 0.2, "submitting_share": 0.01, "together_share": 1.0, "beyond": 0.0,
}  # fmt: skip


def told(test: StorageTest = TEST, **changes: Any) -> dict[str, Any]:
    return {"test": test.operation, "notes": "", **USUAL, **changes}


def measured(*passes: dict[str, Any], bins: dict[int, int] | None = None) -> Measured:
    seen = Observation(0.0, {})
    encoded = BinEncoder().encode(bins, min(bins), max(bins)) if bins else None
    tick = Tick(
        t_s=1.0, seq=0, phase=TEST.name, phase_kind="measure", from_s=0.0, to_s=1.0, lag=None,
        operations={TEST.operation: OperationTick(1, 0, {}, {}, None, encoded)}, late_starts=0,
        dropped=0, due=0, users=1, in_flight=0, queued=0, reconnects=0, cpu_user_s=0.0,
        cpu_system_s=0.0, rss_bytes=0,
    )  # fmt: skip
    return Measured(
        begin=seen, end=seen, duration_s=9.0, operations={}, rolled_back={}, retries=0, errors=0,
        driver_cpu_s=0.0, server_cpu_s=None, total_operations={}, total_rolled_back={},
        total_errors=0, ticks=(tick,), phase=TEST.name,
        events=tuple(Event(1.0, "workload", name="pass", data=each) for each in passes),
    )  # fmt: skip


def values(of: Measured, score: str = "maximum") -> dict[str, float]:
    found = metrics_of(TEST, passes_of(of, TEST), of, score)
    return {each.name: each.value for each in found}


def figures(*passes: dict[str, Any], test: StorageTest = TEST) -> list[PassFigures]:
    return passes_of(measured(*passes), test)


def codes(*passes: dict[str, Any], test: StorageTest = TEST) -> list[str]:
    return [each.code for each in notices_of(test, figures(*passes, test=test))]


# -- figures -----------------------------------------------------------------------------------
def test_rates_are_over_all_passes_and_the_score_is_the_best_of_them() -> None:
    slow = told(**{"pass": 2.0}, duration_s=3.0, bytes=60e6, ios=15000.0, mb_per_s=20.0)
    other = told(test=single("SEQ1M Q1T1", Job("read", 1 << 20)), mb_per_s=9000.0)
    found = values(measured(told(), slow, other))
    assert found["mb_per_s"] == 40.0
    assert found["ios_per_s"] == 10000.0
    assert found["score"] == 100.0
    assert found["median_mb_per_s"] == 60.0
    assert found["cpu_us_per_io"] == pytest.approx(0.8 / 40000 * 1e6)
    assert (found["depth"], found["depth_asked"]) == (64.0, 64.0)
    assert values(measured(told(), slow), "mean")["score"] == 60.0


def test_the_baseline_is_the_geometric_mean_of_the_scores() -> None:
    (found,) = baseline(
        [score_of(figures(told(mb_per_s=rate)), "maximum") for rate in (10.0, 1000.0)]
    )
    assert found.name == HEADLINE
    assert found.value == pytest.approx(100.0)
    assert baseline([]) == baseline([5.0, 0.0]) == []


def test_no_service_time_is_above_the_longest() -> None:
    found = values(measured(told(max_s=0.05), bins={1_000_000: 99, 50_100_000: 1}))
    assert found["service_p50_ms"] == pytest.approx(1.0, rel=0.002)
    assert found["service_p999_ms"] == found["service_max_ms"] == 50.0


def test_a_percentile_beyond_the_scale_is_no_figure() -> None:
    bins = {1_000_000: 95, 20_000_000_000: 5}
    found = values(measured(told(max_s=20.0, beyond=5.0), bins=bins))
    assert "service_p50_ms" in found
    assert "service_p99_ms" not in found
    assert found["service_max_ms"] == 20000.0
    assert codes(told(max_s=20.0, beyond=5.0)) == ["beyond-scale"]


def test_flushes_of_all_passes_are_merged() -> None:
    quick, slow = (BinEncoder().encode({time: 10}, time, time) for time in (100_000, 900_000))
    found = values(measured(told(sync=quick), told(sync=slow), bins={1000: 1}))
    assert found["sync_p50_ms"] == pytest.approx(0.1, rel=0.002)
    assert found["sync_p99_ms"] == pytest.approx(0.9, rel=0.002)
    assert "sync_p50_ms" not in values(measured(told()))


# -- notices -----------------------------------------------------------------------------------
def test_a_usual_pass_needs_no_word() -> None:
    assert codes(told()) == []
    assert notices_of(TEST, []) == []


def test_a_cell_whose_limit_was_the_processor_is_marked_with_whose_work_it_was() -> None:
    busy = told(busiest_cpu_share=0.97, cpu_user_s=0.25, cpu_system_s=0.75)
    (notice,) = notices_of(TEST, figures(told(), busy))
    assert notice.code == "limited-by-cpu"
    assert "97% of a processor (25% of that in fio itself, 75% in the kernel" in notice.message


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"depth": 20.0}, "depth-not-reached"),
        ({"together_share": 0.25}, "jobs-not-together"),
        ({"submitting_share": 0.95}, "done-at-once"),
    ],
)
def test_what_was_asked_for_and_not_done_is_said(changes: dict[str, float], code: str) -> None:
    assert codes(told(), told(**changes)) == [code]


def test_a_depth_of_one_may_wait_between_requests() -> None:
    test = single("RND4K Q1T1", Job("randwrite", 4096))
    assert codes(told(test, depth=0.4), test=test) == []


def test_blocks_of_two_sizes_in_one_percentile_are_said() -> None:
    jobs = (Job("randread", 4096), Job("read", 1 << 20))
    assert codes(told(depth=2.0), test=StorageTest(TEST.name, TEST.operation, jobs)) == [
        "blocks-mixed"
    ]
    named = (Job("randread", 4096, name="small"), Job("read", 1 << 20, name="large"))
    assert codes(told(depth=2.0), test=StorageTest(TEST.name, TEST.operation, named)) == []


def test_each_note_of_fio_is_said_once_with_its_passes() -> None:
    note = "fio: io_u error on file {a}/x: Input/output error"
    found = notices_of(TEST, figures(told(notes=note), told(**{"pass": 2.0}, notes=note)))
    assert [each.message for each in found] == [f"{TEST.name}, pass 1, 2: fio said: {note}"]
    assert found[0].severity == "info"
