"""The archive's figures from frames whose contents are known."""

from __future__ import annotations

from typing import Any

import pytest
from sample_frames import hello, phase, tick

from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import parse_frame
from loadstone.workloads.archive.metrics import METRICS, metric_values
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.workload import EventArchive
from loadstone.workloads.measured import Measured, Observation

MS = 1_000_000
INSERTS_MS = {9: 900.0, 10: 2000.0, 11: 1500.0, 12: 300.0}
"""Second: the bulk inserts of it; all others take 20 ms."""
LENGTH_S = 20


def told(name: str, t_s: float, **data: float) -> dict[str, Any]:
    return {
        "frame": "event",
        "t_s": t_s,
        "kind": "workload",
        "name": name,
        "data": {"number": 2, **data},
    }


def switch(t_s: float, **data: float) -> dict[str, Any]:
    return told("segment-switch", t_s, **data)


def close(t_s: float, close_s: float) -> dict[str, Any]:
    return told("segment-close", t_s, close_s=close_s)


def frames(*told: dict[str, Any]) -> list[dict[str, Any]]:
    ticks = [
        tick(
            [("insert", round(INSERTS_MS.get(at, 20.0) * MS), 1, None)] * 10
            + [("visible", 3 * MS, 1, None)],
            at,
            counters={
                "events_offered": 1000,
                "events_accepted": 990,
                "events_stored": 980,
                "events_lost": 10,
            },
            gauges={"events_buffered": 10.0, "deepest_buffer": 5.0 + at},
        )
        for at in range(LENGTH_S)
    ]
    end = {"frame": "end", "t_s": 20.0, "reason": "completed", "operations": {}, "facts": {"a": 1}}
    return [
        hello(),
        phase("begin", "measure", 0.0),
        *ticks,
        *told,
        phase("end", "measure", float(LENGTH_S)),
        end,
    ]


def measured(*told: dict[str, Any], **fields: Any) -> Measured:
    log = LoadLog.of(parse_frame(value) for value in frames(*told))
    begin = Observation(0.0, {"log_bytes": 1000.0})
    end = Observation(20.0, {"log_bytes": 1000.0 + 19_600 * 150})
    found = log.of_workload(begin, end, server_cpu_s=1.96)
    return Measured(**{**vars(found), **fields})


def values(of: Measured) -> dict[str, float]:
    return {metric.name: metric.value for metric in metric_values(of, 1.0)}


def test_rates_are_those_of_the_counters() -> None:
    found = values(measured())
    assert found["events_stored_per_s"] == 980
    assert found["events_offered_per_s"] == 1000
    assert found["events_accepted_per_s"] == 990
    assert found["events_lost_per_s"] == 10
    assert found["inserts_over_threshold"] == 20
    assert found["deepest_buffer"] == 24
    assert found["insert_max_ms"] == pytest.approx(2000, rel=0.01)
    assert found["visible_p99_ms"] == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize(("threshold_s", "over"), [(0.01, 200), (0.5, 30), (1.7, 10), (3.0, 0)])
def test_inserts_over_the_threshold_are_counted_from_when_they_were_due(
    threshold_s: float, over: int
) -> None:
    found = {each.name: each.value for each in metric_values(measured(), threshold_s)}
    assert found["inserts_over_threshold"] == over


def test_an_event_costs_what_all_cost_divided() -> None:
    grown = {
        "before": {"events": 0.0, "size_bytes": 1e6},
        "after": {"events": 20_000.0, "size_bytes": 1e6 + 2e6},
    }
    found = values(measured(**grown))
    assert found["server_cpu_us"] == pytest.approx(100)
    assert found["driver_cpu_us"] == pytest.approx(LENGTH_S * 0.5 / 19_600 * 1e6)
    assert found["log_bytes_per_event"] == 150
    assert found["bytes_per_event"] == 100


def test_what_is_not_known_is_left_out() -> None:
    found = values(measured(server_cpu_s=None, begin=Observation(0.0, {}), before={}, after={}))
    for name in ("server_cpu_us", "log_bytes_per_event", "bytes_per_event", "switch_max_ms"):
        assert name not in found
    assert found["segment_switches"] == 0


def test_a_log_that_began_anew_has_no_figure() -> None:
    found = values(measured(end=Observation(20.0, {"log_bytes": 5.0})))
    assert "log_bytes_per_event" not in found


def test_inserts_are_told_apart_before_during_and_after_a_switch() -> None:
    found = values(measured(switch(11.4, switch_s=0.5, create_s=0.7, preallocated=0)))
    assert found["segment_switches"] == 1
    assert found["switch_median_ms"] == found["switch_max_ms"] == pytest.approx(1200)
    assert found["insert_at_switch_p99_ms"] == pytest.approx(2000, rel=0.01)
    assert found["insert_before_switch_p99_ms"] == pytest.approx(900, rel=0.01)
    assert found["insert_after_switch_p99_ms"] == pytest.approx(300, rel=0.01)


def test_switches_outside_the_measured_phase_and_other_events_do_not_count() -> None:
    other = close(12.0, 1.0)
    found = values(measured(switch(-3.0, switch_s=9.0), other, switch(15.0, switch_s=0.1)))
    assert found["segment_switches"] == 1
    assert found["switch_max_ms"] == pytest.approx(100)


def test_closing_a_segment_takes_what_was_told_of_it() -> None:
    closed = [close(-1.0, 9.0), close(3.0, 0.1), close(12.0, 0.4), close(15.0, 0.3)]
    found = values(measured(*closed))
    assert found["close_median_ms"] == pytest.approx(300)
    assert found["close_max_ms"] == pytest.approx(400)
    assert "close_max_ms" not in values(measured(switch(12.0, switch_s=1.0)))


def test_lost_events_are_told() -> None:
    workload = EventArchive(ArchiveParameters(events_per_s=500, buffer_events=500))
    (notice,) = workload.notices(measured())
    assert notice.severity == "warning"
    assert notice.message == "200 of 20,000 events were lost: a buffer of 500 events was full"
    assert workload.notices(measured(counters={"events_lost": 0, "events_offered": 5})) == []


def test_every_metric_can_be_given() -> None:
    everything = measured(
        switch(11.4, switch_s=0.5),
        close(13.0, 0.5),
        before={"events": 0.0, "size_bytes": 0.0},
        after={"events": 1.0, "size_bytes": 80.0},
    )
    assert set(values(everything)) == {spec.name for spec in METRICS}
