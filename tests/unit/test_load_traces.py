"""Whole transactions: what the driver tells of them, merged of processes, and what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_frames import hello
from sample_traces import HOME, row, trace, traces

from loadstone.load.merging import Merger
from loadstone.load.traces import SAMPLE, kept, merged, moved
from loadstone.protocol.frames import End, FrameError, parse_frame
from loadstone.protocol.traces import PARTS, Trace, TraceRow, Traces
from loadstone.results.record import LatencySummary, OperationSummary


def end(told: dict[str, Any] | None) -> dict[str, Any]:
    value = {
        "frame": "end", "t_s": 9.0, "reason": "completed", "operations": {}, "facts": {},
        "cpu_user_s": 1.0, "cpu_system_s": 0.5, "max_rss_bytes": 100,
    }  # fmt: skip
    return value if told is None else {**value, "traces": told}


def read(told: dict[str, Any]) -> dict[str, Traces]:
    frame = parse_frame(json.loads(json.dumps(end(told))))
    assert isinstance(frame, End)
    return dict(frame.traces)


def test_the_last_frame_tells_whole_transactions() -> None:
    home = read({"home": traces()})["home"]
    assert home.slowest is not None
    assert (home.slowest.took_s, home.slowest.due_s, home.slowest.error) == (0.523, 12.5, None)
    steps = [(each.request, each.step, each.lane, each.cause) for each in home.slowest.rows[1:4]]
    assert steps == [
        ("home page", 1, None, "redirect"),
        ("style", 3, 1, "asked"),
        ("script with a long name of its own", 3, 2, "asked"),
    ]
    assert home.failed is not None
    assert (home.failed.error, home.failed.left_out) == ("first_byte_timeout", 3)
    assert [each.took_s for each in home.sample] == [0.016, 0.012, 0.031]


def test_the_parts_of_a_request_follow_each_other() -> None:
    made = TraceRow.model_validate(
        row("page", 0.25, **{part: 0.5 * (place + 1) for place, part in enumerate(PARTS)})
    )
    assert made.took_s == pytest.approx(14.0)
    assert made.end_s == pytest.approx(14.25)


def test_drivers_that_tell_none_are_read() -> None:
    frame = parse_frame(end(None))
    assert isinstance(frame, End)
    assert frame.traces == {}


def test_a_transaction_that_cannot_be_read_is_named() -> None:
    with pytest.raises(FrameError, match="a end frame that cannot be read"):
        read({"home": {"slowest": {**HOME, "rows": [{"request": "page"}]}}})


PROCESSES = st.lists(
    st.lists(
        st.tuples(st.integers(1, 50), st.floats(0, 1, exclude_max=True, allow_subnormal=False)),
        max_size=6,
    ),
    min_size=1,
    max_size=4,
)
"""Of each process: how long its transactions took, and the keys that they have drawn."""


def told_by(process: list[tuple[int, float]]) -> dict[str, Any]:
    """What a process keeps of its transactions, as the driver does it."""
    made = [trace(took_s, key) for took_s, key in process]
    if not made:
        return {}
    slowest = max(made, key=lambda each: each["took_s"])
    sample = sorted(made, key=lambda each: each["key"])[:SAMPLE]
    return {"home": {"slowest": slowest, "failed": slowest, "sample": sample}}


@given(PROCESSES)
def test_several_processes_are_merged_as_if_they_were_one(
    processes: list[list[tuple[int, float]]],
) -> None:
    found = merged(told_by(each) for each in processes)
    every = [each for process in processes for each in process]
    if not every:
        assert found == {}
        return
    home = found["home"]
    assert home["slowest"]["took_s"] == home["failed"]["took_s"] == max(took for took, _ in every)
    keys = sorted(key for _, key in every)[:SAMPLE]
    assert [each["key"] for each in home["sample"]] == keys


def test_what_one_process_alone_has_stays() -> None:
    only = {"slowest": HOME}
    assert merged([{"home": only}, {}, {"other": traces()}]) == {"home": only, "other": traces()}


def test_times_are_those_of_the_common_clock() -> None:
    shifted = moved({"home": traces()}, 2.0)["home"]
    assert shifted["slowest"] == {**HOME, "due_s": 14.5}
    assert [each["due_s"] for each in shifted["sample"]] == [14.5] * 3


def test_a_group_of_drivers_tells_the_slowest_of_all() -> None:
    merger = Merger(2)
    frames: list[dict[str, Any]] = []
    for process, (start_s, took_s) in enumerate([(100.0, 0.5), (103.0, 0.75)]):
        frames += merger.add(process, {**hello(), "monotonic_s": start_s})
        told = {"slowest": trace(took_s), "sample": [trace(took_s, 0.5 - 0.25 * process)]}
        frames += merger.add(process, end({"home": told}))
    (last,) = [frame for each in frames if isinstance(frame := parse_frame(each), End)]
    home = last.traces["home"]
    assert home.slowest is not None
    assert (home.slowest.took_s, home.slowest.due_s) == (0.75, 15.5)
    assert [each.took_s for each in home.sample] == [0.75, 0.5]


def operation(name: str, p50_s: float) -> OperationSummary:
    at = LatencySummary(
        count=9, mean_s=p50_s, p50_s=p50_s, p90_s=1, p95_s=1, p99_s=1, p999_s=1, max_s=1
    )
    return OperationSummary(name=name, count=9, response=at)


def test_the_first_of_a_sample_is_nearest_to_the_median() -> None:
    (home,) = kept(read({"home": traces()}), [operation("home", 0.013)]).values()
    assert [each.took_s for each in home.sample] == [0.012, 0.016, 0.031]


def test_a_record_has_so_many_rows_at_most() -> None:
    """The slowest go before the failed, and these before what was drawn."""
    long = [row(f"part {number}", 0.0) for number in range(40)]
    told = read(
        {
            "home": {**traces(), "slowest": trace(0.5, 0.5, *long)},
            "list": {"slowest": trace(0.1, 0.5, *long), "sample": [trace(0.1, 0.5, *long)]},
            "odd": {"sample": [trace(0.1, 0.5, *long)]},
        }
    )
    found = kept(told, [], most_rows=84)
    assert list(found) == ["home", "list"], "nothing of the last one has room"
    home, other = found["home"], found["list"]
    assert home.slowest is not None and other.slowest is not None
    assert home.failed is not None
    assert (len(home.sample), len(other.sample)) == (2, 0)
    rows = [
        len(each.rows)
        for of in found.values()
        for each in (of.slowest, of.failed, *of.sample)
        if isinstance(each, Trace)
    ]
    assert sum(rows) == 84
    assert kept(told, []) == {name: _sorted(of) for name, of in told.items()}


def _sorted(of: Traces) -> Traces:
    return of.model_copy(update={"sample": sorted(of.sample, key=lambda each: each.took_s)})
