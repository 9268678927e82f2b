"""What must add up in the companies of `ssj`, and every way in which it may not."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.load.health import generator_notices
from loadstone.load.totals import LoadTotals
from loadstone.protocol.frames import Event
from loadstone.results.generator import GeneratorHealth
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.jvm.connection import JvmConnection
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.ssj import checks
from loadstone.workloads.ssj.parameters import DECK, SsjParameters
from loadstone.workloads.ssj.workload import ServerSideJava

FACTS: dict[str, float] = {
    "orders_begin": 300,
    "orders_made": 40,
    "orders_made_before": 10,
    "orders_delivered": 38,
    "orders_live": 302,
    "orders_waiting": 302,
    "order_numbers": 40,
    "orders_begin_cents": 3000,
    "ordered_cents": 400,
    "delivered_cents": 380,
    "orders_live_cents": 3020,
    "payments_made": 25,
    "payments_made_before": 5,
    "paid_cents": 250,
    "warehouse_paid_cents": 250,
    "district_paid_cents": 250,
    "customer_paid_cents": 250,
    "customer_payments": 25,
    "balance_begin_cents": 1000,
    "balance_cents": 1130,
    "stock_begin_units": 500,
    "restocked_units": 60,
    "ordered_units": 70,
    "stock_units": 490,
    "stock_sold_units": 70,
    "records_begin": 1000,
    "records_live": 1004,
    "live_begin_bytes": 100 * 2**20,
    "live_end_bytes": 101 * 2**20,
}
NOTHING = Observation(0.0, {})


def measured(*companies: dict[str, float], **changes: Any) -> Measured:
    """Of JVMs with these facts: the sums, and each by itself."""
    sums = {name: sum(each.get(name, 0.0) for each in companies) for name in FACTS}
    for name in FACTS:
        if any(name not in each for each in companies):
            del sums[name]
    fields: dict[str, Any] = {
        "begin": NOTHING,
        "end": NOTHING,
        "duration_s": 10.0,
        "operations": {"new-order": 30},
        "rolled_back": {},
        "retries": 0,
        "errors": 0,
        "driver_cpu_s": 0.1,
        "server_cpu_s": 19.0,
        "total_operations": {
            "new-order": 40 * len(companies),
            "payment": 25 * len(companies),
        },
        "total_rolled_back": {},
        "total_errors": 0,
        "facts": sums,
        "events": tuple(Event(1.0, "workload", name="company", data=each) for each in companies),
        "counters": {"gc_ms": 500, "compile_ms": 20},
        "gauges": {"heap_used_bytes": 3.0 * 2**20},
    }
    return Measured(**{**fields, **changes})


def failed(of: Measured) -> list[str]:
    found = checks.check_companies(of)
    assert [each.name for each in found] == [each.name for each in checks.CHECKS]
    return [each.name for each in found if not each.passed]


def test_books_that_balance_pass() -> None:
    assert failed(measured(FACTS)) == []
    assert failed(measured(FACTS, FACTS)) == []


@pytest.mark.parametrize(
    ("fact", "check"),
    [
        ("orders_live", "orders balance"),
        ("orders_waiting", "orders balance"),
        ("order_numbers", "orders balance"),
        ("orders_live_cents", "orders balance"),
        ("warehouse_paid_cents", "payments balance"),
        ("district_paid_cents", "payments balance"),
        ("customer_paid_cents", "payments balance"),
        ("customer_payments", "payments balance"),
        ("balance_cents", "customers' balances"),
        ("stock_units", "stock balances"),
        ("stock_sold_units", "stock balances"),
    ],
)
def test_one_cent_or_unit_too_many_fails_its_check_and_no_other(fact: str, check: str) -> None:
    assert failed(measured({**FACTS, fact: FACTS[fact] + 1})) == [check]


def test_faults_of_two_companies_do_not_cancel_out() -> None:
    more = {**FACTS, "balance_cents": FACTS["balance_cents"] + 1}
    less = {**FACTS, "balance_cents": FACTS["balance_cents"] - 1}
    both = measured(more, less)
    assert failed(both) == ["customers' balances"]
    detail = next(each.detail for each in checks.check_companies(both) if not each.passed)
    assert "of company 1: 1,130 booked, 1,131 found" in detail


def test_what_the_load_counted_must_have_been_booked_in_this_run() -> None:
    lost = measured(FACTS, total_operations={"new-order": 31, "payment": 20})
    assert failed(lost) == ["transactions are in the data"]


def test_a_live_set_that_grows_fails() -> None:
    grown = {**FACTS, "records_live": 1051}
    assert failed(measured(grown)) == ["the live set is level"]
    heap = {**FACTS, "live_end_bytes": 109 * 2**20}
    assert failed(measured(heap)) == ["the live set is level"]
    small = {**FACTS, "live_begin_bytes": 2**20, "live_end_bytes": 8 * 2**20}
    assert failed(measured(small)) == []
    unknown = {name: fact for name, fact in FACTS.items() if "bytes" not in name}
    assert failed(measured(unknown)) == []


def test_data_that_nobody_looked_at_pass_no_check() -> None:
    booked = {name: fact for name, fact in FACTS.items() if name != checks.WALKED}
    assert failed(measured(booked)) == [each.name for each in checks.CHECKS]


def test_figures_are_rates_and_processor_time_by_transaction() -> None:
    values = {
        each.name: each.value for each in ServerSideJava(SsjParameters()).measure(measured(FACTS))
    }
    assert values["operations_per_s"] == 3.0
    assert values["jvm_cpu_us"] == pytest.approx(19e6 / 30)
    assert values["gc_ms_per_s"] == 50.0
    assert values["most_heap_mb"] == 3.0


def test_a_mix_in_which_orders_pile_up_is_refused() -> None:
    assert SsjParameters().mix == DECK
    with pytest.raises(ValidationError, match="orders would pile up or run out"):
        SsjParameters.model_validate({"mix": "new-order=5,delivery=1"})
    only = SsjParameters.model_validate({"mix": "payment=1"})
    assert only.program()["mix"]["payment"] == 1


def test_the_load_has_as_many_workers_as_warehouses() -> None:
    workload = ServerSideJava(SsjParameters(warehouses=6))
    closed = workload.loaded(ProfileSpec())
    assert (closed.users, workload.sessions(ProfileSpec())) == (6, 6)
    rate = ProfileSpec(load="open", rate_per_s=50_000)
    assert workload.loaded(rate).queue == 500_000
    given = ProfileSpec(load="open", rate_per_s=50_000, queue=7)
    assert workload.loaded(given).queue == 7


def test_warehouses_that_cannot_be_divided_are_refused_before_anything_begins() -> None:
    connection = JvmConnection(jvms=2)
    even = ServerSideJava(SsjParameters(warehouses=4)).resources(ProfileSpec(), connection)
    assert even.sessions == 4
    odd = ServerSideJava(SsjParameters(warehouses=3))
    with pytest.raises(WrongInputError, match="3 warehouses cannot be divided among 2") as raised:
        odd.resources(ProfileSpec(), connection)
    assert "warehouses=4" in str(raised.value.advice)


def test_a_worker_that_is_late_is_the_lateness_of_the_system() -> None:
    """A pause of the collector holds generator and transactions up alike: no trial is invalid."""
    late = GeneratorHealth(
        cpu_user_s=0.1, cpu_system_s=0.0, cpu_share=0.01, max_rss_bytes=1, lag_p99_s=0.02
    )
    profile = ProfileSpec(load="open", rate_per_s=10)
    within = generator_notices(late, profile, LoadTotals(), within=ServerSideJava.generator_within)
    assert [(each.code, each.severity) for each in within] == [("system-late", "info")]
    outside = generator_notices(late, profile, LoadTotals())
    assert ("schedule-lag", "error") in [(each.code, each.severity) for each in outside]
