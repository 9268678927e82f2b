"""Totals do not depend on how a run is cut into ticks; notices follow from the figures."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import SLOW
from sample_frames import FRAMES, Operation, encoded, tick

from loadstone.load.health import (
    generator_notices,
    generator_trouble,
    own_errors,
    system_errors,
)
from loadstone.load.totals import LoadLog, LoadTotals, OperationTotals, RequestTotals, add_up
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.results.generator import GeneratorHealth
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.measured import Observation

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["new-order", "payment"]),
        st.integers(1, 10**10),
        st.integers(0, 10**7),
        st.sampled_from([None, None, None, "40001", "connection"]),
    ),
    max_size=40,
)


def parsed(value: dict[str, Any]) -> Tick:
    frame = parse_frame(value)
    assert isinstance(frame, Tick)
    return frame


@SLOW
@given(OPERATIONS, st.lists(st.integers(0, 40), max_size=8))
def test_any_split_into_ticks_gives_the_same_totals(
    operations: list[Operation], cuts: list[int]
) -> None:
    edges = [0, *sorted(min(cut, len(operations)) for cut in cuts), len(operations)]
    parts = [operations[a:b] for a, b in pairwise(edges)]
    whole = add_up([parsed(tick(operations, 0))], ["new-order", "payment"])
    split = add_up([parsed(tick(part, at)) for at, part in enumerate(parts)], whole.operations)
    assert (split.count, split.errors, split.due) == (whole.count, whole.errors, whole.due)
    assert split.response() == whole.response()
    for name, operation in whole.operations.items():
        assert split.operations[name].summary() == operation.summary()


@SLOW
@given(OPERATIONS)
def test_counts_are_those_of_the_operations(operations: list[Operation]) -> None:
    totals = add_up([parsed(tick(operations, 0))])
    assert totals.count + totals.errors == len(operations)
    response = totals.response()
    assert (response.count if response else 0) == totals.count


def made(times_ns: list[int], failed: int = 0, resent: int = 0) -> dict[str, Any]:
    """A request of a tick."""
    service = encoded(times_ns)
    return {
        "count": len(times_ns),
        "errors": {"status_500": failed} if failed else {},
        "resent": {"reset": resent} if resent else {},
        **({"service": service} if service else {}),
    }


def with_requests(at: int, **requests: dict[str, Any]) -> Tick:
    value = tick([("list", 10**6, 10, None)], at)
    value["operations"]["list"]["requests"] = requests
    return parsed(value)


TIMES = st.lists(st.integers(1, 10**10), max_size=12)


@SLOW
@given(st.lists(st.tuples(TIMES, st.integers(0, 3), st.integers(0, 3)), max_size=6))
def test_requests_are_the_same_however_a_run_is_cut(
    parts: list[tuple[list[int], int, int]],
) -> None:
    split = add_up(
        [with_requests(at, page=made(*part)) for at, part in enumerate(parts)],
        ["list"],
        {"list": ["page", "style"]},
    )
    times = [time for part, _, _ in parts for time in part]
    failed, resent = (sum(part[place] for part in parts) for place in (1, 2))
    whole = add_up([with_requests(0, page=made(times, failed, resent))], ["list"])
    found = split.operations["list"].summary(4.0).requests
    assert [request.name for request in found] == ["page", "style"]
    assert found[0] == whole.operations["list"].summary(4.0).requests[0]
    assert found[0].rate_per_s == len(times) / 4.0
    assert (found[1].count, found[1].errors, found[1].service) == (0, {}, None)


def test_the_record_of_an_operation_has_its_requests_with_their_rates() -> None:
    frames = [dict(value) for value in FRAMES]
    frames[0]["requests"] = {"new-order": ["page", "style"]}
    for place in (5, 6):
        operations = {name: dict(each) for name, each in frames[place]["operations"].items()}
        operations["new-order"]["requests"] = {"page": made([10**6, 3 * 10**6], failed=1)}
        frames[place]["operations"] = operations
    new_order, payment = LoadLog.of(parse_frame(value) for value in frames).operations()
    page, style = new_order.requests
    assert (page.name, page.count, page.errors, page.rate_per_s) == (
        "page", 4, {"status_500": 2}, 2.0,
    )  # fmt: skip
    assert page.service is not None
    assert page.service.mean_s == pytest.approx(0.002, rel=1e-3)
    assert (style.count, style.rate_per_s, payment.requests) == (0, 0.0, [])


def test_every_phase_has_the_counts_of_its_operations() -> None:
    log = LoadLog.of(parse_frame(value) for value in FRAMES)
    assert [(phase.name, phase.count, phase.errors) for phase in log.phases()] == [
        ("warm-up", 1, {}),
        ("measure", 5, {"40001": 1}),
    ]


def test_the_measured_phase_has_its_own_length_and_its_late_operations() -> None:
    log = LoadLog.of(parse_frame(value) for value in FRAMES)
    measured = log.measured()
    assert (measured.from_s, measured.to_s, measured.drained) == (1.0, 3.0, 2)
    assert (measured.count, measured.errors) == (5, 1)
    assert log.overall().count == 6
    assert [(p.name, p.from_s, p.to_s, p.discarded) for p in log.phases()] == [
        ("warm-up", 0.0, 1.0, 0),
        ("measure", 1.0, 3.0, 1),
    ]


def test_late_ticks_count_and_take_no_time() -> None:
    late = tick([("new-order", 10**6, 10, None)], 2, late=True)
    totals = add_up([parsed(tick([("new-order", 10**6, 10, None)], 1)), parsed(late)])
    assert (totals.from_s, totals.to_s, totals.count) == (1.0, 2.0, 2)


def test_health_is_of_one_core_a_thread() -> None:
    health = LoadLog.of(parse_frame(value) for value in FRAMES).health()
    assert health is not None
    assert health.cpu_share == pytest.approx(1.5 / (2.0 * 2))
    assert health.max_rss_bytes == 1003


def test_an_engine_in_the_driver_is_no_part_of_the_generator() -> None:
    frames = [
        value | ({"engine_cpu_s": 0.25} if value["frame"] == "tick" else {"engine": "SQLite 3.1"})
        for value in FRAMES
    ]
    log = LoadLog.of(parse_frame(value) for value in frames)
    health = log.health()
    assert health is not None
    assert (health.cpu_user_s + health.cpu_system_s, health.engine_cpu_s) == (1.5, 0.75)
    assert health.cpu_share == pytest.approx(0.75 / (2.0 * 2))
    assert health.engine == "SQLite 3.1"
    nothing = Observation(0.0, {})
    measured = log.of_workload(nothing, nothing, server_cpu_s=None)
    assert (measured.driver_cpu_s, measured.server_cpu_s) == (0.75, 0.75)


def test_an_engine_elsewhere_has_its_own_account() -> None:
    log = LoadLog.of(parse_frame(value) for value in FRAMES)
    nothing = Observation(0.0, {})
    measured = log.of_workload(nothing, nothing, server_cpu_s=None)
    assert (measured.driver_cpu_s, measured.server_cpu_s) == (1.5, None)


def test_a_run_that_was_cut_off_keeps_what_was_measured() -> None:
    log = LoadLog.of(parse_frame(value) for value in FRAMES[:6])
    assert log.phases()[-1].to_s == 2.0
    assert [operation.count for operation in log.operations()] == [3, 0]


def test_a_run_without_a_measured_phase_has_no_health() -> None:
    assert LoadLog.of(parse_frame(value) for value in FRAMES[:4]).health() is None


def test_the_workload_is_given_both_totals() -> None:
    log = LoadLog.of(parse_frame(value) for value in FRAMES)
    begin, end = Observation(1.0, {"x": 1}), Observation(3.0, {"x": 2})
    measured = log.of_workload(begin, end, server_cpu_s=1.5)
    assert measured.operations == {"new-order": 5, "payment": 0}
    assert measured.total_operations == {"new-order": 6, "payment": 0}
    assert (measured.errors, measured.retries, measured.server_cpu_s) == (1, 1, 1.5)


# -- notices -----------------------------------------------------------------------------------

CLOSED = ProfileSpec()
OPEN = ProfileSpec(load="open", rate_per_s=100.0)


def health(**fields: Any) -> GeneratorHealth:
    return GeneratorHealth(
        **({"cpu_user_s": 1, "cpu_system_s": 1, "cpu_share": 0.1, "max_rss_bytes": 1} | fields)
    )


def load(count: int = 100, *, p50_ns: int = 10**6, **fields: Any) -> LoadTotals:
    response = encoded([p50_ns])
    assert response is not None
    operations = {"noop": OperationTotals("noop", count, response=(response,))}
    totals = LoadTotals(operations=operations, to_s=1.0, due=100)
    return replace(totals, **fields)


def codes(*given: Any) -> list[tuple[str, str]]:
    return [(notice.code, notice.severity) for notice in generator_notices(*given)]


def test_a_healthy_generator_says_nothing() -> None:
    assert codes(health(lag_p99_s=0.0009), OPEN, load()) == []


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.7, []),
        (0.71, [("generator-busy", "warning")]),
        (0.9, [("generator-busy", "warning")]),
        (0.91, [("generator-saturated", "error")]),
    ],
)
def test_a_saturated_generator_makes_the_trial_invalid(
    share: float, expected: list[tuple[str, str]]
) -> None:
    assert codes(health(cpu_share=share), CLOSED, load()) == expected


@pytest.mark.parametrize(
    ("lag_s", "p50_ns", "expected"),
    [
        (0.0011, 10**6, [("schedule-lag", "warning")]),
        (0.0051, 10**6, [("schedule-lag", "error")]),
        (0.0051, 10**8, []),
        (0.0111, 10**8, [("schedule-lag", "error")]),
    ],
)
def test_lag_is_held_against_the_median_response(
    lag_s: float, p50_ns: int, expected: list[tuple[str, str]]
) -> None:
    assert codes(health(lag_p99_s=lag_s), OPEN, load(p50_ns=p50_ns)) == expected


@pytest.mark.parametrize(
    ("of_operation", "of_request", "said"),
    [
        ({}, {}, None),
        ({"status_500": 3}, {"connect_refused": 3}, None),
        ({"no_ports": 1}, {}, "no port left for another connection (no_ports, 1 time)"),
        ({"no_ports": 2}, {"no_ports": 5}, "(no_ports, 5 times)"),
        ({}, {"too_many_files": 4}, "open no more files (too_many_files, 4 times)"),
    ],
)
def test_a_generator_without_ports_or_files_makes_the_trial_invalid(
    of_operation: dict[str, int], of_request: dict[str, int], said: str | None
) -> None:
    requests = {"page": RequestTotals("page", 10, errors=of_request)}
    operation = OperationTotals("list", 10, errors=of_operation, requests=requests)
    failed = LoadTotals(operations={"list": operation}, to_s=1.0)
    found = generator_notices(health(), CLOSED, failed)
    assert [(each.code, each.severity) for each in found] == (
        [] if said is None else [("generator-exhausted", "error")]
    )
    assert said is None or said in found[0].message
    assert generator_trouble(found) == found


def test_what_failed_for_want_of_ports_is_not_the_systems() -> None:
    errors = {"no_ports": 2, "status_500": 3, "too_many_files": 1}
    failed = LoadTotals(operations={"list": OperationTotals("list", 10, errors=errors)})
    assert (failed.errors, own_errors(failed), system_errors(errors)) == (6, 3, 3)


def test_dropped_arrivals_make_an_open_trial_invalid() -> None:
    assert codes(health(dropped=1), OPEN, load()) == [("arrivals-dropped", "error")]
    assert codes(health(dropped=1), CLOSED, load()) == []


@pytest.mark.parametrize(
    ("count", "drained", "warned"), [(100, 0, False), (99, 0, False), (98, 0, True), (100, 2, True)]
)
def test_a_rate_that_was_not_achieved_is_said(count: int, drained: int, warned: bool) -> None:
    found = codes(health(), OPEN, load(count, drained=drained))
    assert found == ([("rate-not-achieved", "warning")] if warned else [])
