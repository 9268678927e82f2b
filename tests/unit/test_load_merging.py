"""Several drivers' frames as one stream: nothing is lost, doubled or averaged."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW
from sample_frames import Operation, encoded, hello, phase, tick

from loadstone.load.health import generator_notices
from loadstone.load.merging import BEHIND_S, BehindError, Merger
from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.results.latency import merge
from loadstone.spec.profile import ProfileSpec

Frames = list[dict[str, Any]]
CLOCKS = (100.0, 100.25, 99.5)
"""When each process started, on the machine's clock."""


def stream(number: int, *, first_at: float = 1.0, skip: int | None = None) -> Frames:
    """A warm-up and a measured phase of one process, in its own time.

    It begins at `first_at` of the first process's time; tick `skip` of the measured phase is told
    together with the next one, as by a process that had no turn in time.
    """
    offset = CLOCKS[number] - CLOCKS[0]
    begin = first_at - offset
    frames = [
        {**hello(), "monotonic_s": CLOCKS[number], "pid": 50 + number},
        {"frame": "event", "t_s": begin - 0.5, "kind": "ready", "detail": ""},
        phase("begin", "warm-up", begin),
        at(number, begin, begin + 1.001, name="warm-up"),
        phase("end", "warm-up", begin + 1.001),
        phase("begin", "measure", begin + 1.001),
    ]
    edge = begin + 1.001
    for second in range(1, 5):
        if second == skip:
            continue
        until = begin + 1.001 + second + 0.002
        frames.append(at(number, edge, until))
        edge = until
    return [
        *frames,
        phase("end", "measure", edge + 0.001, drained=number, discarded=1),
        {**at(number, edge, edge + 0.01), "late": True},
        end(number),
    ]


def at(number: int, from_s: float, to_s: float, *, name: str = "measure") -> dict[str, Any]:
    operations: list[Operation] = [("new-order", 10**6 * (number + 1), 1000, None)] * 3
    operations += [("payment", 10**5, 10, "40001")] * number
    value = tick(operations, 0, phase=name, phase_kind=name, users=4, in_flight=2, queued=number)
    return value | {
        "from_s": from_s,
        "to_s": to_s,
        "t_s": to_s,
        "counters": {"events_stored": 10 + number},
        "gauges": {"events_buffered": 5, "deepest_buffer": number},
    }


def end(number: int, reason: str = "completed") -> dict[str, Any]:
    return {
        "frame": "end",
        "t_s": 9.0,
        "reason": reason,
        "operations": {"new-order": {"count": 15, "errors": {"40001": number}}},
        "cpu_user_s": 1.0,
        "cpu_system_s": 0.5,
        "max_rss_bytes": 100,
        "facts": {"events_stored": 7.0, "deepest_buffer": float(number)},
    }


def merged(streams: list[Frames], order: list[int] | None = None) -> Frames:
    """What comes out when frames arrive in this order of processes, then in turn."""
    merger = Merger(len(streams))
    rest = [list(frames) for frames in streams]
    out: Frames = []
    turns = list(order or [])
    while any(rest):
        number = turns.pop(0) % len(rest) if turns else next(n for n, r in enumerate(rest) if r)
        if rest[number]:
            out += merger.add(number, rest[number].pop(0))
    return out


def ticks_of(frames: Frames) -> list[Tick]:
    return [frame for each in frames if isinstance(frame := parse_frame(each), Tick)]


def histogram_of(frames: Frames, name: str) -> Counter[int]:
    texts = [
        text
        for each in ticks_of(frames)
        if name in each.operations
        for text in (each.operations[name].response, each.operations[name].service)
        if text
    ]
    total = merge(texts)
    return Counter(
        {
            item.value_iterated_to: item.count_at_value_iterated_to
            for item in total.get_recorded_iterator()
        }
    )


@given(st.integers(2, 3), st.lists(st.integers(0, 2), max_size=40), st.integers(1, 3))
@SLOW
def test_whatever_the_order_nothing_is_lost(count: int, order: list[int], skip: int) -> None:
    streams = [stream(number, skip=skip if number == 1 else None) for number in range(count)]
    out = merged(streams, order)
    apart = [frame for frames in streams for frame in frames]
    for name in ("new-order", "payment"):
        for what in ("count", "errors"):
            total = Counter[Any]()
            for each in ticks_of(out):
                found = getattr(each.operations.get(name), what, 0)
                total.update(found if isinstance(found, dict) else {"": found})
            expected = Counter[Any]()
            for each in ticks_of(apart):
                found = getattr(each.operations.get(name), what, 0)
                expected.update(found if isinstance(found, dict) else {"": found})
            assert total == expected
    assert histogram_of(out, "new-order") == histogram_of(apart, "new-order")
    for field in ("due", "cpu_user_s", "cpu_system_s"):
        ours = sum(getattr(each, field) for each in ticks_of(out))
        assert ours == pytest.approx(sum(getattr(each, field) for each in ticks_of(apart)))


def test_the_stream_reads_as_that_of_one_driver() -> None:
    out = merged([stream(number) for number in range(3)], [0, 1, 2] * 20)
    kinds = [
        f"{each['frame']} {each.get('kind', '')} {each.get('phase', '')}".strip()
        for each in out
        if each.get("kind") != "ready"
    ]
    assert kinds[0] == "hello"
    assert kinds[1:4] == ["event phase-begin warm-up", "tick  warm-up", "event phase-end warm-up"]
    assert kinds[4:10] == [
        "event phase-begin measure",
        *["tick  measure"] * 4,
        "event phase-end measure",
    ]
    assert kinds[10:] == ["tick  measure"] * 3 + ["end"]
    assert [each.seq for each in ticks_of(out)] == list(range(8))
    assert [each["pid"] for each in out[0]["processes"]] == [50, 51, 52]
    assert out[0]["threads"] == 6


def test_times_are_those_of_the_first_process() -> None:
    log = LoadLog.of(parse_frame(each) for each in merged([stream(number) for number in range(3)]))
    warm_up, measured = log.phases()
    assert warm_up.from_s == pytest.approx(1.0)
    assert measured.from_s == pytest.approx(2.001)
    assert measured.to_s == pytest.approx(6.004)
    assert measured.drained == 3
    assert measured.discarded == 3
    edges = [(each.from_s, each.to_s) for each in log.ticks if not each.late]
    assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(edges))


def test_levels_are_sums_and_extremes_the_highest() -> None:
    first = next(each for each in merged([stream(n) for n in range(3)]) if each["frame"] == "tick")
    assert (first["users"], first["in_flight"], first["queued"]) == (12, 6, 3)
    assert first["counters"] == {"events_stored": 33}
    assert first["gauges"] == {"events_buffered": 15, "deepest_buffer": 2}


def test_a_process_that_skipped_a_tick_keeps_its_levels_and_its_counts() -> None:
    out = merged([stream(0), stream(1, skip=2)], [0, 1] * 20)
    counts = [
        each.operations["new-order"].count
        for each in ticks_of(out)
        if each.phase == "measure" and not each.late
    ]
    assert counts == [6, 3, 6, 6]
    assert {each.users for each in ticks_of(out) if not each.late} == {8}


def test_what_the_warm_up_told_late_is_not_measured() -> None:
    def late_in_the_first_tick(number: int) -> Frames:
        frames = stream(number)
        first = next(
            frame for frame in frames if frame.get("phase") == "measure" and is_tick(frame)
        )
        late = at(number, first["from_s"], first["to_s"], name="warm-up") | {"late": True}
        frames.insert(frames.index(first) + 1, late)
        return frames

    streams = [late_in_the_first_tick(0), late_in_the_first_tick(1)]
    counts = Counter[tuple[str, bool]]()
    for each in ticks_of(merged(streams, [0] * 20 + [1] * 20)):
        counts[each.phase, each.late] += each.operations["new-order"].count
    assert counts["warm-up", True] == 2 * 3
    assert counts["measure", False] == 2 * 4 * 3


def is_tick(frame: dict[str, Any]) -> bool:
    return bool(frame["frame"] == "tick")


def with_requests(number: int) -> Frames:
    """A stream whose processes make a request of a new order each, the others one more of it."""
    frames = stream(number)
    frames[0] = {**frames[0], "requests": {"new-order": ["page", "style"]}}
    for frame in frames:
        if frame["frame"] == "tick":
            service = frame["operations"]["new-order"]["service"]
            page = {"count": 3, "errors": {"status_500": number}, "resent": {"reset": 1}}
            page |= {"retried": {"status_503": 2}, "marks": {"cached": number, "stale": 0}}
            frame["operations"]["new-order"]["requests"] = {
                "page": {**page, "service": service},
                **({"style": {"count": 1, "errors": {}, "resent": {}}} if number else {}),
            }
    total = frames[-1]["operations"]["new-order"]
    total["requests"] = {"page": {"count": 15, "errors": {"status_500": 5 * number}}}
    return frames


def test_requests_of_all_processes_are_added_by_name() -> None:
    streams = [with_requests(number) for number in range(3)]
    out = merged(streams, [0, 1, 2] * 20)
    assert out[0]["requests"] == {"new-order": ["page", "style"]}
    log = LoadLog.of(parse_frame(each) for each in out)
    apart = LoadLog.of(
        frame
        for frames in streams
        for each in frames
        if isinstance(frame := parse_frame(each), Tick)
    )
    whole = log.overall().operations["new-order"]
    expected = apart.overall().operations["new-order"]
    assert list(whole.requests) == ["page", "style"]
    for name, request in whole.requests.items():
        ours, theirs = request.summary(10.0), expected.requests[name].summary(10.0)
        assert ours == theirs
    page = whole.requests["page"]
    assert (page.count, page.errors, page.resent) == (54, {"status_500": 18}, {"reset": 18})
    assert (page.retried, page.marks) == ({"status_503": 36}, {"cached": 18, "stale": 0})
    assert out[-1]["operations"]["new-order"]["requests"] == {
        "page": {"count": 45, "errors": {"status_500": 15}}
    }


def test_an_operation_without_requests_has_none_after_merging() -> None:
    out = merged([stream(number) for number in range(2)], [0, 1] * 20)
    assert all(
        "requests" not in operation
        for each in out
        if each["frame"] in ("tick", "end")
        for operation in each["operations"].values()
    )


def test_the_end_is_that_of_all() -> None:
    last = merged([stream(number) for number in range(3)])[-1]
    assert last["operations"]["new-order"] == {"count": 45, "errors": {"40001": 3}}
    assert last["facts"] == {"events_stored": 21.0, "deepest_buffer": 2.0}
    assert last["cpu_user_s"] == 3.0
    assert last["reason"] == "completed"


def test_a_process_that_ends_before_a_phase_does_not_hold_up_the_others() -> None:
    short = [*stream(1)[:5], end(1, "stopped")]
    last = merged([stream(0), short], [0, 1] * 20)[-1]
    assert last["frame"] == "end"
    assert last["reason"] == "stopped"


def test_a_silent_process_is_named() -> None:
    merger = Merger(2)
    for number in (0, 1):
        for frame in stream(number)[:3]:
            merger.add(number, frame)
    merger.add(0, at(0, 1.0, BEHIND_S - 1))
    with pytest.raises(BehindError) as caught:
        merger.add(0, at(0, BEHIND_S - 1, BEHIND_S + 2))
    assert caught.value.process == 1


def test_processes_that_measured_at_other_times_are_told() -> None:
    late = stream(1, first_at=1.5)
    log = LoadLog.of(parse_frame(each) for each in merged([stream(0), late]))
    health = log.health()
    assert health is not None
    assert health.apart_s == pytest.approx(0.5)
    codes = [each.code for each in generator_notices(health, ProfileSpec(), log.measured())]
    assert "processes-apart" in codes
    alike = LoadLog.of(parse_frame(each) for each in merged([stream(0), stream(1)]))
    health = alike.health()
    assert health is not None
    codes = [each.code for each in generator_notices(health, ProfileSpec(), alike.measured())]
    assert "processes-apart" not in codes


def test_the_busiest_process_is_judged() -> None:
    idle, busy = stream(0), stream(1)
    for frame in busy:
        if frame["frame"] == "tick":
            frame |= {"cpu_user_s": 1.5, "lag": encoded([9_000_000] * 3)}
    health = LoadLog.of(parse_frame(each) for each in merged([idle, busy])).health()
    assert health is not None
    assert [process.pid for process in health.processes] == [50, 51]
    assert health.cpu_share == health.processes[1].cpu_share > 2 * health.processes[0].cpu_share
    assert health.lag_p99_s == pytest.approx(0.009, rel=0.01)
    assert health.processes[0].lag_p99_s == pytest.approx(1e-6, rel=0.01)


def test_the_time_of_engines_is_added_and_is_not_the_generators() -> None:
    """A system that makes its own load uses next to all of the time of its process."""
    streams = [stream(0), stream(1)]
    for frames in streams:
        for frame in frames:
            if frame["frame"] in ("tick", "end"):
                frame |= {"cpu_user_s": 2.0, "cpu_system_s": 0.0, "engine_cpu_s": 1.98}
    log = LoadLog.of(parse_frame(each) for each in merged(streams))
    assert log.end is not None
    assert log.end.engine_cpu_s == pytest.approx(3.96)
    health = log.health()
    assert health is not None
    assert health.engine_cpu_s == pytest.approx(health.cpu_user_s * 0.99)
    assert health.cpu_share < 0.1


def test_addition_of_histograms_is_exact() -> None:
    one, other = [1, 1000, 10**9, 10**9 + 1], [5, 1000, 3 * 10**12]
    whole = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in one + other:
        whole.record_value(value)
    out = merged([with_times(0, one), with_times(1, other)])
    expected = Counter(
        {
            item.value_iterated_to: 2 * item.count_at_value_iterated_to
            for item in whole.get_recorded_iterator()
        }
    )
    assert histogram_of(out, "new-order") == expected


def with_times(number: int, values: list[int]) -> Frames:
    """A stream with a single tick, of these response times."""
    frames = stream(number)
    operations: list[Operation] = [("new-order", value, 10, None) for value in values]
    only = at(number, frames[2]["t_s"], frames[2]["t_s"] + 1.0, name="warm-up")
    only["operations"] = tick(operations, 0)["operations"]
    return [*frames[:3], only, frames[4], end(number)]
