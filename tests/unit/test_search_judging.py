"""Whether a level holds: the terms, the windows, and what speaks against it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_frames import Operation, tick

from loadstone.errors import WrongInputError
from loadstone.experiments.levels import _blamed
from loadstone.load.holding import Judge
from loadstone.load.objective import parse_objective, parse_term, tightest_limit_s
from loadstone.load.totals import LoadTotals, OperationTotals
from loadstone.load.windows import LoadInterval, windows_of
from loadstone.protocol.frames import Tick, parse_frame
from loadstone.results.record import LevelReason, LevelRecord
from loadstone.spec.design import LoadedBy
from loadstone.spec.plans import LevelPlan
from loadstone.workloads.charts import Flow

MS = 1_000_000
FLOW = Flow("offered", "stored", "lost", "waiting")


# -- terms ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("p99 < 1000 ms", (None, "p99", "<", 1000.0, "ms")),
        ("new-order.p95 < 500ms", ("new-order", "p95", "<", 500.0, "ms")),
        ("new-order.p99.9<=0.5 s", ("new-order", "p99.9", "<=", 0.5, "s")),
        ("loss = 0", (None, "loss", "=", 0.0, "")),
        ("errors < 0.1 %", (None, "errors", "<", 0.1, "%")),
        ("max < 20 us", (None, "max", "<", 20.0, "us")),
        ("insert.mean < 1 s", ("insert", "mean", "<", 1.0, "s")),
    ],
)
def test_terms_are_read(text: str, read: tuple[str | None, str, str, float, str]):
    term = parse_term(text)
    assert (term.operation, term.figure, term.relation, term.limit, term.unit) == read


@pytest.mark.parametrize(
    ("text", "operation", "figure"),
    [
        ("list page.p95 < 5 ms", "list page", "p95"),
        ("v1.2/items.p99.9 < 5 ms", "v1.2/items", "p99.9"),
        ("4.errors = 0", "4", "errors"),
    ],
)
def test_an_operation_may_have_any_name(text: str, operation: str, figure: str):
    term = parse_term(text)
    assert (term.operation, term.figure) == (operation, figure)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p99", "no term"),
        ("p99 > 5 ms", "no term"),
        ("p100 < 5 ms", "no term"),
        ("p99 < 5", "write its limit in ms"),
        ("p99 < 5 %", "write its limit in ms"),
        ("errors < 5 ms", "are counted"),
        ("insert.loss = 0", "write loss"),
        ("", "no term"),
    ],
)
def test_what_is_no_term_is_refused_with_a_reason(text: str, reason: str):
    with pytest.raises(WrongInputError, match=reason):
        parse_term(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str):
    try:
        term = parse_term(text)
    except WrongInputError:
        return
    assert parse_term(term.text) == term


def test_the_tightest_limit_is_the_least_time():
    terms = parse_objective(["p99 < 2 s", "errors < 1 %", "new-order.p95 < 500 ms"])
    assert tightest_limit_s(terms) == 0.5
    assert tightest_limit_s(parse_objective(["loss = 0"])) is None


# -- windows and verdicts ---------------------------------------------------------------------


def ticks(
    responses_ms: list[float], *, per_tick: int = 20, begin: int = 100, **fields: Any
) -> list[Tick]:
    """A tick a second, each with operations of one response time."""
    found = []
    for place, value in enumerate(responses_ms):
        operations: list[Operation] = [("op", int(value * MS), 1, None)] * per_tick
        each = {name: given[place] for name, given in fields.items()}
        frame = parse_frame(tick(operations, begin + place, **each))
        assert isinstance(frame, Tick)
        found.append(frame)
    return found


def interval(of: list[Tick], begin: int = 100, length: int | None = None) -> LoadInterval:
    return LoadInterval(of, float(begin), float(begin + (length or len(of))))


def verdict(
    of: LoadInterval,
    *objective: str,
    window_s: float = 10.0,
    is_open: bool = True,
    flow: Flow | None = None,
    level: float = 20.0,
    over: LoadedBy = "rate",
    queue: str | None = None,
    **options: Any,
) -> LevelRecord:
    plan = LevelPlan(
        over=over, unit="operations/s", level=level, kind="ascent",
        objective=list(objective), window_s=window_s,
    )  # fmt: skip
    return Judge(plan, flow=flow, is_open=is_open, queue=queue).verdict(of, level, **options)


def test_a_level_that_keeps_to_its_objective_holds():
    found = verdict(interval(ticks([5.0] * 30)), "p99 < 10 ms", "errors < 1 %", "loss = 0")
    assert found.holds
    assert found.reasons == []
    assert (found.windows, found.offered_per_s, found.achieved_per_s) == (3, 20.0, 20.0)
    assert found.response is not None
    assert found.response.p50_s == pytest.approx(0.005, rel=0.01)
    assert [each.term for each in found.worst] == ["p99 < 10 ms", "errors < 1 %", "loss = 0"]


def test_one_bad_window_is_enough_and_is_named_with_its_second():
    """Over the whole minute 95 % are fast; in its third window they are not."""
    found = verdict(interval(ticks([5.0] * 20 + [50.0] * 3 + [5.0] * 37)), "p95 < 10 ms")
    assert not found.holds
    (reason,) = found.reasons
    assert (reason.cause, reason.at_s) == ("objective", 20.0)
    assert "in 1 of 6 windows" in reason.text
    assert found.worst[0].at_s == 20.0
    assert found.worst[0].value == pytest.approx(50.0, rel=0.01)


def test_a_term_of_an_operation_is_about_that_one():
    mixed: list[Operation] = [("new-order", 9 * MS, 1, None), ("payment", MS, 1, None)]
    of = [parse_frame(tick(mixed * 10, second)) for second in range(20)]
    whole = LoadInterval([each for each in of if isinstance(each, Tick)], 0.0, 20.0)
    assert verdict(whole, "payment.p99 < 2 ms").holds
    assert not verdict(whole, "new-order.p99 < 2 ms").holds
    assert not verdict(whole, "p99 < 2 ms").holds
    judged = LevelPlan(over="rate", unit="", level=1.0, kind="ascent",
                       objective=["p99 < 2 ms"], window_s=10.0)  # fmt: skip
    assert Judge(judged, judged=("payment",)).verdict(whole, 1.0).holds


def test_a_window_in_which_nothing_ends_fails():
    of = ticks([5.0] * 10) + ticks([5.0] * 10, per_tick=0, begin=110)
    found = verdict(interval(of), "p99 < 10 ms", is_open=False)
    assert [reason.text for reason in found.reasons] == [
        "p99 < 10 ms: no operation ended, in 1 of 2 windows"
    ]


def test_errors_are_a_share_of_what_ended():
    operations: list[Operation] = [("op", MS, 1, None)] * 9 + [("op", MS, 1, "XX000")]
    of = [parse_frame(tick(operations, second)) for second in range(10)]
    whole = LoadInterval([each for each in of if isinstance(each, Tick)], 0.0, 10.0)
    assert verdict(whole, "errors <= 10 %", level=10.0).holds
    assert not verdict(whole, "errors < 10 %", level=10.0).holds
    assert not verdict(whole, "errors = 0", level=10.0).holds


def test_errors_of_the_generator_itself_are_not_the_systems():
    operations: list[Operation] = [("op", MS, 1, None)] * 9 + [("op", MS, 1, "no_ports")]
    of = [parse_frame(tick(operations, second)) for second in range(10)]
    whole = LoadInterval([each for each in of if isinstance(each, Tick)], 0.0, 10.0)
    assert verdict(whole, "errors = 0", "errors < 0.1 %", level=10.0).holds


def test_what_was_dropped_is_lost():
    of = ticks([5.0] * 10, dropped=[0] * 9 + [1])
    assert not verdict(interval(of), "loss = 0").holds
    assert verdict(interval(of), "loss < 1 %").holds
    given_up = LoadInterval(ticks([5.0] * 10), 100.0, 110.0, discarded=3)
    assert not verdict(given_up, "loss = 0").holds


def test_less_than_99_percent_of_the_offered_is_too_little():
    short = ticks([5.0] * 20, due=[20] * 10 + [25] * 10)
    found = verdict(interval(short), window_s=5.0)
    assert [(each.cause, each.at_s) for each in found.reasons] == [("achieved", 10.0)]
    assert verdict(interval(short), achieved_share=0.995).holds
    assert verdict(interval(short), is_open=False).holds


def test_what_a_workload_counts_itself_is_what_is_offered():
    of = ticks(
        [5.0] * 20,
        counters=[{"offered": 1000, "stored": 1000, "lost": 0}] * 20,
        gauges=[{"waiting": 50.0}] * 20,
    )
    found = verdict(interval(of), "loss = 0", is_open=False, flow=FLOW)
    assert found.holds
    assert (found.offered_per_s, found.achieved_per_s) == (1000.0, 1000.0)
    losing = ticks([5.0] * 20, counters=[{"offered": 1000, "stored": 950, "lost": 50}] * 20)
    found = verdict(interval(losing), "loss = 0", is_open=False, flow=FLOW)
    assert {each.cause for each in found.reasons} == {"achieved", "objective"}
    filling = ticks(
        [5.0] * 20,
        counters=[{"offered": 1000, "stored": 995, "lost": 0}] * 20,
        gauges=[{"waiting": 50.0 + 30 * second} for second in range(20)],
    )
    found = verdict(interval(filling), "loss = 0", is_open=False, flow=FLOW)
    assert [each.cause for each in found.reasons] == ["backlog"]


@pytest.mark.parametrize(
    ("level", "over", "said"),
    [
        (15_000.0, "rate", "only 3,000 of 15,000 operations/s offered"),
        (3_070.0, "rate", "only 3,000 of 3,070 operations/s offered"),
        (3_050.0, "rate", None),
        (1_000.0, "rate", None),
        (15_000.0, "users", None),
    ],
)
def test_a_rate_that_was_not_offered_has_not_been_held(
    level: float, over: LoadedBy, said: str | None
):
    of = ticks([5.0] * 20, counters=[{"offered": 3000, "stored": 3000, "lost": 0}] * 20)
    found = verdict(interval(of), is_open=False, flow=FLOW, level=level, over=over)
    assert [(each.cause, each.text) for each in found.reasons] == (
        [] if said is None else [("generator", said)]
    )


def test_a_poisson_load_may_offer_somewhat_less_by_chance_and_not_half():
    of = ticks([5.0] * 20)  # 400 in all
    assert verdict(interval(of), level=24.0).holds
    (reason,) = verdict(interval(of), level=40.0).reasons
    assert (reason.cause, reason.text) == ("generator", "only 20 of 40 operations/s offered")
    assert verdict(interval(of), level=40.0, is_open=False).holds


def test_a_backlog_that_rises_fails_a_level_that_still_keeps_to_its_objective():
    growing = ticks([5.0] * 30, queued=[2 * second for second in range(30)])
    found = verdict(interval(growing), "p99 < 10 ms")
    assert [each.cause for each in found.reasons] == ["backlog"]
    assert "118 a minute" in found.reasons[0].text or "120 a minute" in found.reasons[0].text


def test_what_the_system_keeps_waiting_is_backlog_and_what_it_serves_lacks_nothing():
    """Long operations: those that run when the arrivals end are not held against a level."""
    served = interval(ticks([5] * 30, due=[40] * 30, gauges=[{"waiting": 3}] * 30))
    assert [each.cause for each in verdict(served).reasons] == ["achieved"]
    assert verdict(served, level=40.0, queue="waiting").holds
    growing = [{"waiting": 2 * place} for place in range(30)]
    found = verdict(
        interval(ticks([5] * 30, due=[40] * 30, gauges=growing)), level=40.0, queue="waiting"
    )
    assert [each.cause for each in found.reasons] == ["backlog"]
    assert found.reasons[0].text == "the backlog rises by 120 a minute"


def test_a_response_time_that_rises_fails_it_too():
    slower = ticks([5.0 + 0.4 * second for second in range(30)])
    found = verdict(interval(slower), "p99 < 1000 ms", is_open=False)
    assert [each.cause for each in found.reasons] == ["response time"]
    harmless = ticks([5.0 + 0.2 * second for second in range(30)])
    assert verdict(interval(harmless), "p99 < 1000 ms", is_open=False).holds


def test_what_failed_first_comes_first_and_the_generator_before_all():
    of = ticks([5.0] * 20 + [50.0] * 10, due=[40] * 10 + [20] * 20)
    generator = LevelReason(cause="generator", text="its worker threads were busy")
    found = verdict(interval(of), "p95 < 10 ms", others=[generator])
    causes = [each.cause for each in found.reasons]
    assert causes[:2] == ["generator", "achieved"]
    assert "objective" in causes[2:]


def test_what_was_done_after_the_end_counts_into_the_last_window():
    drained = ticks([500.0], begin=125, late=[True], due=[0])
    found = verdict(interval(ticks([5.0] * 20) + drained, length=20), "max < 100 ms")
    assert [(each.cause, each.at_s) for each in found.reasons] == [("objective", 10.0)]


@given(seconds=st.integers(1, 40), window_s=st.floats(0.5, 20), late=st.integers(0, 3))
def test_every_operation_is_in_one_window(seconds: int, window_s: float, late: int):
    of = ticks([5.0] * seconds, per_tick=3)
    of += ticks([5.0] * late, per_tick=3, begin=100 + seconds, late=[True] * late)
    windows = windows_of(interval(of, length=seconds), window_s)
    assert sum(window.load.count for window in windows) == 3 * (seconds + late)
    assert windows[0].from_s == 0.0
    assert sum(window.duration_s for window in windows) == pytest.approx(seconds)
    assert all(window.duration_s >= min(seconds, window_s) * 0.49 for window in windows)


@pytest.mark.parametrize(
    ("error", "broke"),
    [
        ("connection", True), ("57P01", True), ("53100", True), ("sqlite_full", True),
        ("1021", True), ("40001", False), ("55P03", False),
    ],
)  # fmt: skip
def test_what_broke_under_the_load_is_no_level_that_did_not_hold(error: str, broke: bool) -> None:
    """A full disk, or a server that ended, tells nothing of what the system sustains."""
    record = LevelRecord(
        over="users", unit="users", level=8, kind="ascent", from_s=0.0, duration_s=60.0,
        holds=False, reasons=[LevelReason(cause="objective", text="errors < 1 %: was 20 %")],
        achieved_per_s=1.0, windows=6,
    )  # fmt: skip
    operation = OperationTotals("x", count=80, errors={error: 20})
    load = LoadTotals(operations={"x": operation})
    blamed = _blamed(record, load)
    assert blamed.of_system is not broke
    assert len(blamed.reasons) == 1 + broke
    held = record.model_copy(update={"holds": True, "reasons": []})
    assert _blamed(held, load) == held
