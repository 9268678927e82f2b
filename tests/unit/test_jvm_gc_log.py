"""The log of a JVM's collector: what is a pause, what is not, and what nobody knows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.probes.marks import SampleTable
from loadstone.targets.jvm.gc_log import Cycle, Event, GcLog, Pause, Safepoint, Stall
from loadstone.targets.jvm.gc_probe import GcLogProbe, happenings, standstill_ms

HEAD = "[1.250s][7250000000ns][info][{}] {}\n"


def line(text: str, tags: str = "gc") -> bytes:
    return HEAD.format(tags.ljust(12), text).encode()


def events(*lines: bytes) -> list[Event]:
    return list(GcLog().feed(b"".join(lines)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->2M(254M) 3.456ms",
            ("Young (Normal)", "G1 Evacuation Pause", "", 2.0, 3.456),
        ),
        (
            "GC(9) Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Pinned) "
            "735M->218M(776M) 8.244ms",
            ("Young (Mixed)", "G1 Evacuation Pause", "Pinned", 218.0, 8.244),
        ),
        (
            "GC(9) Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure) "
            "735M->218M(776M) 8.244ms",
            ("Young (Normal)", "G1 Evacuation Pause", "not said", 218.0, 8.244),
        ),
        (
            "GC(4) Pause Full (System.gc()) 9M->1M(16M) 6,001ms",
            ("Full", "System.gc()", "", 1.0, 6.001),
        ),
        ("GC(5) Pause Remark 30M->30M(254M) 1.234ms", ("Remark", "", "", 30.0, 1.234)),
        (
            "GC(0) Pause Young (Allocation Failure) 65536K->1024K(251392K) 2.000ms",
            ("Young", "Allocation Failure", "", 1.0, 2.0),
        ),
    ],
)
def test_a_pause_has_a_kind_and_a_cause(text: str, found: tuple[Any, ...]) -> None:
    (pause,) = events(line(text))
    assert isinstance(pause, Pause)
    assert (pause.kind, pause.cause, pause.failure, pause.after_mb, pause.ms) == found
    assert pause.to_s == 7.25  # the monotonic clock, not the uptime


def test_a_failure_of_its_own_line_belongs_to_the_pause_after_it() -> None:
    first, second = events(
        line("GC(0) To-space exhausted"),
        line("GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->20M(30M) 3.0ms"),
        line("GC(1) Pause Young (Normal) (G1 Evacuation Pause) 24M->2M(30M) 3.0ms"),
    )
    assert isinstance(first, Pause)
    assert isinstance(second, Pause)
    assert (first.failure, second.failure) == ("not said", "")


def test_the_cycle_of_a_concurrent_collector_is_no_pause() -> None:
    found = events(
        line("GC(0) Minor Collection (Allocation Rate) 204M(10%)->30M(1%) 0.003s"),
        line("GC(1) Garbage Collection (Warmup) 204M(10%)->30M(1%)"),
        line("GC(2) Concurrent Mark Cycle"),
        line("GC(2) Concurrent Mark Cycle 12.345ms"),
        line("GC(0) Y: Pause Mark Start 0.011ms", "gc,phases"),
        line("Allocation Stall (main) 8.338ms"),
        line("GC(13) y: Relocation Stall (ZWorkerYoung#0) 1.240ms"),
        line("GC(9) Garbage Collection (System.gc()) 40M(83%)->24M(50%)"),
        line("GC(106) Garbage Collection (Allocation Stall) Aborted"),
        line("GC(7) Concurrent cleanup (unload classes) 40M->39M(48M) 0.012ms"),
        line("Trigger: Free (4096K) is below minimum threshold (4915K)"),
    )
    assert found == [
        Cycle(7.25, "Minor Collection", 3.0),
        Cycle(7.25, "Garbage Collection", 0.0),
        Cycle(7.25, "Concurrent Mark Cycle", 12.345),
        Pause(7.25, 0.011, "Mark Start", ""),
        Stall(7.25, 8.338, "Allocation Stall"),
        Stall(7.25, 1.24, "Relocation Stall"),
        Cycle(7.25, "Garbage Collection", 0.0),
        Cycle(7.25, "Concurrent cleanup", 0.012),
    ]


def test_a_pause_within_another_is_not_counted_twice() -> None:
    """The Serial collector makes a full collection within a young one that finds no room."""
    full = Pause(10.008, 6.0, "Full", "Allocation Failure")
    young = Pause(10.010, 10.0, "Young", "Allocation Failure")
    later = Pause(11.0, 1.0, "Young", "Allocation Failure")
    assert standstill_ms([full, young, later]) == pytest.approx(11.0)
    assert standstill_ms([]) == 0.0


def test_safepoints_of_17_and_of_25_are_read() -> None:
    of_17, of_25 = events(
        line(
            'Safepoint "SerialCollectForAllocation", Time since last: 1000 ns, Reaching safepoint: '
            "500000 ns, Cleanup: 100 ns, At safepoint: 36000000 ns, Total: 36903410 ns",
            "safepoint",
        ),
        line(
            'Safepoint "G1CollectForAllocation", Time since last: 1 ns, Reaching safepoint: '
            "2000000 ns, At safepoint: 5 ns, Leaving safepoint: 7 ns, Total: 4000000 ns, Threads: "
            "0 runnable, 12 total",
            "safepoint",
        ),
    )
    assert of_17 == Safepoint(7.25, "SerialCollectForAllocation", 0.5, 36.90341)
    assert isinstance(of_25, Safepoint)
    assert (of_25.reach_ms, of_25.total_ms) == (2.0, 4.0)


def test_lines_that_no_rule_knows_are_counted_and_those_of_programs_are_not() -> None:
    log = GcLog()
    told = [
        line("Using G1"),
        line("GC(0) Pre Evacuate Collection Set: 0.1ms", "gc,phases"),
        line("GC(0) Pause Young (Normal) (G1 Evacuation Pause)", "gc,start"),
        line("GC(7) Something new 3.0ms"),
        line("Heap region size: 1M", "gc,wonders"),
        b"loadstone-ssj: ready, 2 warehouses\n",
        b"[1.0s][warning][gc] It is tight\n",
    ]
    assert list(log.feed(b"".join(told))) == []
    assert log.unknown == 2
    assert "Something new" in log.examples[0]
    assert log.warnings == ["It is tight"]
    assert log.collector == "G1"


@given(st.lists(st.integers(min_value=1, max_value=200), max_size=6))
def test_it_does_not_matter_where_a_reading_ends(cuts: list[int]) -> None:
    whole = b"".join(
        line(f"GC({number}) Pause Remark 30M->30M(254M) {number}.5ms") for number in range(1, 4)
    )
    log, found, at = GcLog(), [], 0
    for cut in [*cuts, len(whole)]:
        found += log.feed(whole[at : at + cut])
        at += cut
    assert [event.ms for event in found if isinstance(event, Pause)] == [1.5, 2.5, 3.5]
    assert log.unknown == 0


def test_the_probe_places_pauses_on_the_trials_clock(tmp_path: Path) -> None:
    path = tmp_path / "jvm.log"
    path.write_bytes(line("GC(0) Pause Remark 30M->30M(254M) 9.0ms"))
    probe = GcLogProbe(path)
    probe.start()
    now_ns = time.monotonic_ns()
    pause = "GC(1) Pause Full (System.gc()) (Evacuation Failure: Pinned) 9M->1M(16M) 6.0ms"
    with path.open("ab") as file:
        file.write(f"[2.0s][{now_ns}ns][info][gc] {pause}\n".encode())
        file.write(f"[2.0s][{now_ns}ns][info][gc] What\n".encode())
    origin_s = time.monotonic() - 100.0
    found = {each.metric: each for each in probe.sample(time.monotonic() - origin_s)}
    of_pause = found["gc_pause_ms:Full: System.gc()"]
    assert of_pause.value == 6.0
    assert of_pause.t_s == pytest.approx(now_ns / 1e9 - origin_s, abs=0.5)
    assert found["heap_after_gc_mb"].value == 1.0
    assert found["gc_pause_percent"].value > 0
    codes = [notice.code for notice in probe.notices()]
    assert codes == ["evacuation-failed", "gc-log-not-known"]
    (mark,) = happenings(SampleTable.of([(of_pause.t_s, of_pause.metric, of_pause.value)]))
    assert (mark.kind, mark.detail) == ("GC pause", "Full: System.gc()")
    assert mark.to_s - mark.from_s == pytest.approx(0.006)
