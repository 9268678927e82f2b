"""Who was there when measuring began, and whether response times drifted while it went on."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sample_frames import hello, phase, tick

from loadstone.experiments.steadiness import absent_users, response_drift
from loadstone.load.totals import LoadLog
from loadstone.protocol.frames import Tick, parse_frame

_MS = 1_000_000


def _log(working: float | None, users: int = 10) -> LoadLog:
    """A log whose warm-up ended with so many working users; None: nothing is told of them."""
    told: dict[str, Any] = {"users": users}
    if working is not None:
        told["gauges"] = {"users_working": working}
    before = {"phase": "warm-up", "phase_kind": "warm-up"}
    frames = [
        hello(),
        phase("begin", "warm-up", 0.0),
        tick([("list", _MS, 1, None)], 0, **before, **told),
        phase("end", "warm-up", 1.0),
        phase("begin", "measure", 1.0),
        tick([("list", _MS, 1, None)], 1, **told),
        phase("end", "measure", 2.0),
    ]
    return LoadLog.of(parse_frame(frame) for frame in frames)


@pytest.mark.parametrize(("working", "missing"), [(10.0, None), (7.0, "3 of 10"), (None, None)])
def test_users_who_had_done_nothing_yet_are_counted(
    working: float | None, missing: str | None
) -> None:
    found = absent_users(_log(working))
    if missing is None:
        assert found == []
    else:
        (notice,) = found
        assert (notice.code, notice.severity) == ("users-absent", "warning")
        assert notice.message.startswith(missing)


def test_without_a_warm_up_nobody_had_logged_in() -> None:
    told = {"users": 4, "gauges": {"users_working": 4.0}}
    frames = [
        hello(),
        phase("begin", "measure", 0.0),
        tick([("list", _MS, 1, None)], 0, **told),
        phase("end", "measure", 1.0),
    ]
    (notice,) = absent_users(LoadLog.of(parse_frame(frame) for frame in frames))
    assert notice.message.startswith("4 of 4")


def _ticks(rise: float, seconds: int = 120) -> list[Tick]:
    """Five operations a second whose times scatter by a fifth and rise by so much in all."""
    drawn = random.Random(7)
    found = []
    for at in range(seconds):
        mean_ms = 100 * (1 + rise * at / seconds)
        times = [round(mean_ms * drawn.uniform(0.8, 1.2)) * _MS for _ in range(5)]
        frame = parse_frame(tick([("open", each, 1, None) for each in times], at))
        assert isinstance(frame, Tick)
        found.append(frame)
    return found


def test_response_times_that_rise_are_told() -> None:
    (notice,) = response_drift(_ticks(0.3), ["open"], "phase 'a': ")
    assert notice.code == "response-drifts"
    assert notice.message.startswith("phase 'a': ")


@pytest.mark.parametrize("rise", [0.0, 0.03])
def test_response_times_that_scatter_or_move_little_are_not(rise: float) -> None:
    assert response_drift(_ticks(rise), []) == []


def test_operations_that_are_not_judged_do_not_count() -> None:
    assert response_drift(_ticks(0.3), ["list"]) == []


def test_a_short_phase_says_nothing() -> None:
    assert response_drift(_ticks(0.5, seconds=15), []) == []


def test_what_is_done_more_often_at_the_end_makes_no_drift() -> None:
    drawn = random.Random(3)
    found = []
    for at in range(120):
        slow = "open" if drawn.random() < at / 120 else "list"
        length = {"open": 500, "list": 10}[slow]
        times = [(slow, round(length * drawn.uniform(0.8, 1.2)) * _MS, 1, None) for _ in range(5)]
        frame = parse_frame(tick(times, at))
        assert isinstance(frame, Tick)
        found.append(frame)
    assert response_drift(found, []) == []
