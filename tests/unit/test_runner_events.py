"""The archive's events in the runner: what they say, which wait, and where they go."""

from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_plans import archive_plan, changed, encoded

from loadstone.runner.archive.batch import Batch
from loadstone.runner.archive.parameters import Parameters, Role, UserRole, part_of, read_parameters
from loadstone.runner.archive.station_buffer import EventRun, StationBuffer
from loadstone.runner.plan import RefusalError, parse_plan
from loadstone.workloads.archive.events import GOOD, EventColumns, EventGenerator

MILLISECOND = 1_000_000


def parameters(**change: Any) -> Parameters:
    plan = archive_plan("a.db")
    for name, value in change.items():
        plan = changed(plan, f"workload.parameters.{name}", value)
    return read_parameters(parse_plan(encoded(plan)))


def buffer(capacity: int, mark: int = 0) -> StationBuffer:
    return StationBuffer(EventGenerator(0, parameters(), 1), capacity, mark)


def say(maker: EventGenerator, first: int, count: int) -> EventColumns:
    numbers = np.arange(first, first + count, dtype=np.uint64)
    return maker.say(numbers, numbers + np.uint64(1))


# -- parameters ----
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", "staged"),
        ("compress", True),
        ("move", True),
        ("stations", 0),
        ("elements", 10**6),
        ("late_share", 1.5),
        ("interval_s", 0.0),
        ("index", "never"),
        ("batch_events", 1.5),
        ("colour", "red"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(name: str, value: Any) -> None:
    stations = {"stations": 3000} if name == "elements" else {}
    with pytest.raises(RefusalError, match=f"workload.parameters.{name}"):
        parameters(**{**stations, name: value})


def test_users_have_their_roles_in_order() -> None:
    given = parameters(operators=2)
    assert [part_of(given, user) for user in (0, 1, 2, 3, 4, 9)] == [
        UserRole(Role.KEEPER),
        UserRole(Role.CLOSER),
        UserRole(Role.OPERATOR),
        UserRole(Role.OPERATOR),
        UserRole(Role.STATION, 0),
        UserRole(Role.STATION, 5),
    ]


# -- what events say ----
def test_the_same_number_says_the_same_whatever_batch_it_is_in() -> None:
    maker = EventGenerator(3, parameters(), 7)
    whole, part = say(maker, 0, 100), say(EventGenerator(3, parameters(), 7), 40, 10)
    assert np.array_equal(whole.element[40:50], part.element)
    assert np.array_equal(whole.after_us[40:50], part.after_us)
    assert np.array_equal(whole.value[40:50], part.value)
    assert whole.text.slice(40, 10).equals(part.text)
    other = say(EventGenerator(4, parameters(), 7), 0, 100)
    assert not np.array_equal(whole.value, other.value)


def test_shares_are_as_asked_for() -> None:
    count = 200_000
    given = parameters(late_share=0.01, late_by_s=5.0, disorder_share=0.005, elements=100)
    said = say(EventGenerator(0, given, 7), 0, count)
    behind_us = (np.arange(count) + 1) * 1000 - said.after_us
    assert 0 <= behind_us.min() <= behind_us.max() < 5_000_100
    assert 1_800 < (behind_us > 6_000).sum() < 2_200
    assert 850 < ((behind_us >= 1_000) & (behind_us < 6_000)).sum() < 1_150
    assert 197_000 < (said.status == GOOD).sum() < 199_000
    assert 3_000 < said.lacks_value.sum() < 13_000
    assert said.text.null_count == count - said.lacks_value.sum()
    assert set(said.element) == set(range(100))


@given(per_s=st.floats(0.1, 1e6), elapsed_ns=st.integers(0, 10**14))
def test_an_event_is_counted_from_the_moment_it_is_due(per_s: float, elapsed_ns: int) -> None:
    maker = EventGenerator(0, parameters(events_per_s=per_s, late_share=0.0, disorder_share=0.0), 7)
    count = maker.due_by(elapsed_ns)
    last_us, next_us = say(maker, max(0, count - 1), 2).after_us
    assert count == 0 or last_us * 1000 <= elapsed_ns
    assert count == 0 or next_us * 1000 + 1000 > elapsed_ns


# -- the buffer ----
def test_an_event_that_finds_the_buffer_full_is_lost_and_has_no_number() -> None:
    full = buffer(10)
    full.cut(0, 1)
    full.cut(15 * MILLISECOND, 1)
    assert (full.waiting, full.totals(15 * MILLISECOND).lost) == (10, 5)
    assert full.settle(4, 15 * MILLISECOND) == (1, 4)
    _, runs = full.cut(17 * MILLISECOND, 100)
    assert runs == [EventRun(5, 4, 6), EventRun(11, 15, 2)]


def test_a_station_goes_on_where_it_stopped_in_an_earlier_run() -> None:
    later = buffer(10, mark=70)
    later.cut(0, 1)
    began_ns, runs = later.cut(2 * MILLISECOND, 9)
    assert (began_ns, runs) == (0, [EventRun(71, 0, 2)])
    assert later.settle(71, 2 * MILLISECOND) == (71, 71)


def test_nothing_comes_after_the_stop() -> None:
    stopped = buffer(1000)
    stopped.cut(0, 1)
    stopped.stop(5 * MILLISECOND)
    assert stopped.totals(50 * MILLISECOND).offered == 5


STEPS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 60), st.booleans()), max_size=60)


@given(capacity=st.integers(1, 200), steps=STEPS)
def test_every_event_is_stored_once_or_buffered_or_lost(
    capacity: int, steps: list[tuple[int, int, bool]]
) -> None:
    held, now_ns, stored, before = buffer(capacity), 0, 0, -1
    held.cut(0, 1)
    for passed_ms, most, arrived in steps:
        now_ns += passed_ms * MILLISECOND
        _, runs = held.cut(now_ns, most)
        count = sum(run.count for run in runs)
        seqs = [run.first_seq + at for run in runs for at in range(run.count)]
        numbers = [run.first_number + at for run in runs for at in range(run.count)]
        assert seqs == list(range(stored + 1, stored + 1 + count))
        assert numbers == sorted(set(numbers))
        assert not numbers or numbers[0] > before
        held.doubt(count)
        totals = held.totals(now_ns)
        assert (totals.in_doubt, totals.buffered) == (count, held.waiting - count)
        if arrived and numbers:
            stored, before = stored + count, numbers[-1]
        # Answered or not: what the mark says is settled before the station goes on.
        held.settle(stored, now_ns)
        assert held.waiting <= capacity
    totals = held.totals(now_ns)
    assert totals.offered == totals.accepted + totals.lost == now_ns // MILLISECOND
    assert totals.accepted == totals.stored + totals.buffered
    assert totals.stored == stored


# -- where they go ----
@given(
    count=st.integers(1, 400),
    begins=st.lists(st.integers(-100_000, 500_000), min_size=1, max_size=5, unique=True),
)
def test_each_event_goes_to_the_segment_of_its_time(count: int, begins: list[int]) -> None:
    began_us = 1_700_000_000_000_000
    given = parameters(late_share=0.3, late_by_s=0.2)
    batch = Batch(2, 50, EventGenerator(2, given, 3), began_us, [EventRun(1, 0, count)])
    routes = [(f"segment_{at}", began_us + begin) for at, begin in enumerate(sorted(begins))]
    parts = dict(batch.parts(routes))
    seqs = sorted(seq for rows in parts.values() for seq in rows["seq"].to_pylist())
    assert seqs == list(range(1, count + 1)) == sorted(batch.rows["seq"].to_pylist())
    for at, (name, begin_us) in enumerate(routes):
        if name in parts:
            ts = parts[name]["ts"].cast("int64")
            assert at == 0 or pc.min(ts).as_py() >= begin_us
            assert at + 1 == len(routes) or pc.max(ts).as_py() < routes[at + 1][1]


def test_a_batch_knows_its_last_event_and_its_size() -> None:
    batch = Batch(
        2, 50, EventGenerator(2, parameters(), 3), 0, [EventRun(5, 4, 6), EventRun(11, 15, 2)]
    )
    last = batch.rows.slice(7, 1).to_pylist()[0]
    assert batch.count == 8
    assert (
        (batch.last.seq, batch.last.element)
        == (last["seq"], last["element_id"])
        == (12, last["element_id"])
    )
    texts = [text or "" for text in batch.rows["text"].to_pylist()]
    assert batch.bytes == 8 * 36 + len("".join(texts))
    assert set(batch.rows["station"].to_pylist()) == {2}
    assert set(batch.rows["element_id"].to_pylist()) <= set(range(100, 150))
