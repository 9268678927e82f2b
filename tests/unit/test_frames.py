"""Frames of the driver: those of this protocol, and stored ones of the protocol before it."""

from __future__ import annotations

import json

import pytest
from sample_frames import hello, tick

from loadstone.protocol.frames import Event, FrameError, Hello, Tick, parse_frame


def test_a_stored_frame_of_version_2_lacks_what_version_3_added() -> None:
    old = {key: value for key, value in hello().items() if key != "monotonic_s"}
    read = parse_frame({**old, "version": 2})
    assert isinstance(read, Hello)
    assert (read.version, read.monotonic_s) == (2, None)
    plain = parse_frame(tick([], 1))
    assert isinstance(plain, Tick)
    assert (plain.counters, plain.gauges) == ({}, {})


def test_a_version_that_is_not_known_is_refused() -> None:
    with pytest.raises(FrameError, match="speaks protocol 4"):
        parse_frame({**hello(), "version": 4})


def test_a_workload_tells_counters_gauges_and_events() -> None:
    told = parse_frame(tick([], 1, counters={"events_stored": 7}, gauges={"events_buffered": 2}))
    assert isinstance(told, Tick)
    assert (told.counters, told.gauges) == ({"events_stored": 7}, {"events_buffered": 2.0})
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
    told = {**idle, "counters": {"events_stored": 7}, "gauges": {"events_buffered": 2}}
    # Through text, as frames come: names in it are new objects each time.
    one, two = (parse_frame(json.loads(json.dumps({**tick([], at), **told}))) for at in (1, 2))
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
