"""Frames of the driver: those of this protocol, and stored ones of the protocols before it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sample_frames import hello, tick

from loadstone.protocol.frames import (
    PROTOCOL_VERSION,
    End,
    Event,
    FrameError,
    Hello,
    RequestTick,
    RequestTotal,
    Tick,
    parse_frame,
)


def told(operation: dict[str, Any]) -> Tick:
    """A tick with one operation, through text as frames come: names in it are new objects."""
    frame = parse_frame(json.loads(json.dumps({**tick([], 1), "operations": {"list": operation}})))
    assert isinstance(frame, Tick)
    return frame


def test_a_stored_frame_of_version_2_lacks_what_version_3_added() -> None:
    old = {key: value for key, value in hello().items() if key != "monotonic_s"}
    read = parse_frame({**old, "version": 2})
    assert isinstance(read, Hello)
    assert (read.version, read.monotonic_s) == (2, None)
    plain = parse_frame(tick([], 1))
    assert isinstance(plain, Tick)
    assert (plain.counters, plain.gauges) == ({}, {})


def test_a_stored_frame_of_version_3_has_no_requests() -> None:
    read = parse_frame({**hello(), "version": 3})
    assert isinstance(read, Hello)
    assert (read.version, read.requests) == (3, {})
    assert told({"count": 2, "errors": {}, "retries": {}}).operations["list"].requests == {}
    end = {"frame": "end", "t_s": 1.0, "reason": "completed"}
    read_end = parse_frame({**end, "operations": {"list": {"count": 2, "errors": {"40001": 1}}}})
    assert isinstance(read_end, End)
    assert (read_end.operations["list"].errors, read_end.operations["list"].requests) == (1, {})


def test_a_version_that_is_not_known_is_refused() -> None:
    with pytest.raises(FrameError, match=f"speaks protocol {PROTOCOL_VERSION + 1}"):
        parse_frame({**hello(), "version": PROTOCOL_VERSION + 1})


def test_requests_are_told_below_their_operation() -> None:
    read = parse_frame({**hello(), "requests": {"list": ["list page", "style"]}})
    assert isinstance(read, Hello)
    assert read.requests == {"list": ("list page", "style")}
    page = {"count": 3, "errors": {"status_500": 1}, "resent": {"reset": 2}, "service": "HIST"}
    style = {"count": 1, "errors": {}, "resent": {}}
    list_ = {"count": 3, "errors": {}, "requests": {"list page": page, "style": style}}
    page |= {"retried": {"status_503": 4}, "marks": {"cached": 2}}
    assert told(list_).operations["list"].requests == {
        "list page": RequestTick(
            3, {"status_500": 1}, {"reset": 2}, "HIST", {"status_503": 4}, {"cached": 2}
        ),
        "style": RequestTick(1, {}, {}, None),
    }
    end = {"frame": "end", "t_s": 1.0, "reason": "completed"}
    total = {"count": 3, "errors": {}, "requests": {"list page": {"count": 3, "errors": {"x": 1}}}}
    read_end = parse_frame({**end, "operations": {"list": total}})
    assert isinstance(read_end, End)
    assert read_end.operations["list"].requests == {"list page": RequestTotal(3, 1)}


@pytest.mark.parametrize(
    "requests",
    [
        {"page": {}},
        {"page": {"count": "many"}},
        {"page": {"count": 1, "service": 5}},
        {"page": 3},
        [1],
    ],
)
def test_requests_that_cannot_be_read_are_an_error_of_the_frame(requests: Any) -> None:
    with pytest.raises(FrameError, match="tick frame that cannot be read"):
        told({"count": 1, "errors": {}, "requests": requests})


def test_a_workload_tells_counters_gauges_and_events() -> None:
    read = parse_frame(tick([], 1, counters={"events_stored": 7}, gauges={"events_buffered": 2}))
    assert isinstance(read, Tick)
    assert (read.counters, read.gauges) == ({"events_stored": 7}, {"events_buffered": 2.0})
    event = parse_frame(
        {"frame": "event", "t_s": 1.0, "kind": "workload", "name": "segment-switch",
         "data": {"number": 2, "segment": "event_history_00000002"}}
    )  # fmt: skip
    assert isinstance(event, Event)
    assert event.name == "segment-switch"
    assert event.data == {"number": 2.0, "segment": "event_history_00000002"}


def test_the_clock_of_the_machine_is_read() -> None:
    read = parse_frame(hello())
    assert isinstance(read, Hello)
    assert read.monotonic_s == pytest.approx(100.0)


def test_what_is_alike_in_all_ticks_is_kept_once() -> None:
    idle = {"operations": {"idle": {"count": 0, "errors": {}, "retries": {}}}}
    alike = {**idle, "counters": {"events_stored": 7}, "gauges": {"events_buffered": 2}}
    # Through text, as frames come: names in it are new objects each time.
    one, two = (parse_frame(json.loads(json.dumps({**tick([], at), **alike}))) for at in (1, 2))
    assert isinstance(one, Tick)
    assert isinstance(two, Tick)
    assert one.operations["idle"] is two.operations["idle"]
    for first, second in (
        (one.operations, two.operations),
        (one.counters, two.counters),
        (one.gauges, two.gauges),
    ):
        assert next(iter(first)) is next(iter(second))
    assert one.phase is two.phase
    assert not hasattr(one, "__dict__")


def test_an_operation_whose_requests_are_all_idle_is_kept_once_too() -> None:
    idle = {"count": 0, "errors": {}, "retries": {}, "requests": {}}
    assert told(idle).operations["list"] is told(idle).operations["list"]
    page = {"count": 1, "errors": {}, "resent": {}}
    first, second = (told({"count": 1, "requests": {"page": page}}) for _ in range(2))
    names = [next(iter(each.operations["list"].requests)) for each in (first, second)]
    assert names[0] is names[1]
