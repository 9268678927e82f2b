"""The driver's counts against the data, and the tests of mix, rollbacks and pace."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import TargetError
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.oltp import accounting, fairness
from loadstone.workloads.oltp.ledger import Ledger, LineTotals
from loadstone.workloads.oltp.metrics import METRICS, metric_values
from loadstone.workloads.oltp.parameters import DECK, OPERATIONS, OrderEntryParameters
from loadstone.workloads.oltp.population import expected_rows, verify_population

DONE = {
    "new-order": 10_000,
    "payment": 10_010,
    "order-status": 1_000,
    "delivery": 990,
    "stock-level": 1_000,
}
MEASURED = Measured(
    begin=Observation(10.0, {"next_order_ids": 3_001_000.0, "warehouse_ytd": 300_100.0}),
    end=Observation(70.0, {"next_order_ids": 3_006_000.0, "warehouse_ytd": 300_900.0}),
    duration_s=60.0,
    operations={name: count // 2 for name, count in DONE.items()},
    rolled_back={"new-order": 50},
    retries=23,
    errors=0,
    driver_cpu_s=1.15,
    server_cpu_s=5.0,
    total_operations=DONE,
    total_rolled_back={"new-order": 100},
    total_errors=0,
)
LEDGER = Ledger(
    orders=9_900,
    payments=10_010,
    payments_of_customers=10_010,
    amount_paid=Decimal("25325300.00"),
    least_payment=Decimal("1.00"),
    greatest_payment=Decimal("5000.00"),
    deliveries=9_900,
    most_deliveries=700,
    ordered=LineTotals(99_000, 495_000, 990),
    taken=LineTotals(99_000, 495_000, 990),
)
BEFORE = {"next_order_ids": 3_000_000.0, "warehouse_ytd": 300_000.0}
AFTER = {"next_order_ids": 3_009_900.0, "warehouse_ytd": 25_325_300.0}


def test_counts_that_match_pass():
    for result in (
        accounting.check_new_orders(BEFORE, AFTER, LEDGER, MEASURED),
        accounting.check_payments(LEDGER, MEASURED),
        accounting.check_amounts(BEFORE, AFTER, LEDGER),
        accounting.check_deliveries(LEDGER, MEASURED),
        accounting.check_stock(LEDGER),
    ):
        assert result.passed, result


@pytest.mark.parametrize("lost", [1, -1])
def test_one_new_order_too_few_or_too_many_fails(lost):
    after = AFTER | {"next_order_ids": AFTER["next_order_ids"] - lost}
    ledger = replace(LEDGER, orders=LEDGER.orders - lost)
    assert not accounting.check_new_orders(BEFORE, after, ledger, MEASURED).passed


def test_an_order_row_without_its_count_fails():
    ledger = replace(LEDGER, orders=LEDGER.orders - 1)
    result = accounting.check_new_orders(BEFORE, AFTER, ledger, MEASURED)
    assert not result.passed
    assert "orders grew by 9,899 rows" in result.detail


def test_errors_are_in_doubt_upwards_only():
    in_doubt = replace(MEASURED, total_errors=2)
    for more, passed in ((0, True), (2, True), (3, False), (-1, False)):
        after = AFTER | {"next_order_ids": AFTER["next_order_ids"] + more}
        ledger = replace(LEDGER, orders=LEDGER.orders + more)
        assert accounting.check_new_orders(BEFORE, after, ledger, in_doubt).passed is passed


def test_a_lost_payment_fails():
    assert not accounting.check_payments(replace(LEDGER, payments=10_009), MEASURED).passed
    assert not accounting.check_payments(
        replace(LEDGER, payments_of_customers=10_009), MEASURED
    ).passed


def test_money_that_does_not_add_up_fails():
    after = AFTER | {"warehouse_ytd": AFTER["warehouse_ytd"] + 0.01}
    assert not accounting.check_amounts(BEFORE, after, LEDGER).passed
    dear = replace(LEDGER, greatest_payment=Decimal("5000.01"))
    assert not accounting.check_amounts(BEFORE, AFTER, dear).passed


def test_deliveries_may_skip_1_percent_unless_a_district_ran_dry():
    def passed(deliveries: int, most: int = 700) -> bool:
        ledger = replace(LEDGER, deliveries=deliveries, most_deliveries=most)
        return accounting.check_deliveries(ledger, MEASURED).passed

    few = replace(MEASURED, total_operations={"delivery": 1})
    assert accounting.check_deliveries(replace(LEDGER, deliveries=9), few).passed
    assert not accounting.check_deliveries(replace(LEDGER, deliveries=8), few).passed
    assert passed(9_801)
    assert not passed(9_800)
    assert passed(5_000, most=900)
    assert not passed(9_901, most=900)


def test_a_line_that_took_no_stock_fails():
    ledger = replace(LEDGER, taken=LineTotals(98_999, 494_995, 990))
    assert not accounting.check_stock(ledger).passed


def test_the_mix_that_was_asked_for_passes():
    assert fairness.check_mix(OrderEntryParameters(), MEASURED).passed


@given(st.integers(0, 2**32 - 1), st.integers(1_000, 200_000))
def test_a_mix_drawn_with_the_weights_passes(seed, total):
    own = OrderEntryParameters()
    drawn = np.random.default_rng(seed).multinomial(total, list(own.shares().values()))
    counts = dict(zip(OPERATIONS, map(int, drawn), strict=True))
    assert fairness.check_mix(own, replace(MEASURED, total_operations=counts)).passed


@pytest.mark.parametrize(
    "weights",
    [
        DECK | {"delivery": 2},
        DECK | {"new-order": 9},
        DECK | {"order-status": 0},
        dict.fromkeys(OPERATIONS, 1),
    ],
)
def test_another_mix_fails(weights):
    parts = sum(weights.values())
    counts = {name: 50_000 * weight // parts for name, weight in weights.items()}
    result = fairness.check_mix(OrderEntryParameters(), replace(MEASURED, total_operations=counts))
    assert not result.passed, result


def test_a_transaction_that_was_not_asked_for_fails_at_once():
    own = OrderEntryParameters(mix={"payment": 1})
    counts = {"payment": 5, "delivery": 1}
    result = fairness.check_mix(own, replace(MEASURED, total_operations=counts))
    assert not result.passed
    assert "not asked for: delivery" in result.detail


def test_a_single_transaction_is_a_mix():
    own = OrderEntryParameters(mix={"payment": 1})
    assert fairness.check_mix(own, replace(MEASURED, total_operations={"payment": 5000})).passed


def test_transactions_not_counted_yet_are_allowed_for():
    """1,000 terminals of which most still key in the slow transaction of the first cycle."""
    counts = DONE | {"new-order": 9_000}
    measured = replace(MEASURED, total_operations=counts)
    assert not fairness.check_mix(OrderEntryParameters(), measured).passed
    assert fairness.check_mix(OrderEntryParameters(), replace(measured, users=1000)).passed


def test_failed_transactions_are_allowed_for():
    """A serializable run in which half of the new-orders and a quarter of the payments failed."""
    counts = {
        "new-order": 809,
        "payment": 1240,
        "order-status": 159,
        "delivery": 159,
        "stock-level": 159,
    }
    measured = replace(MEASURED, total_operations=counts, total_errors=1157)
    assert fairness.check_mix(OrderEntryParameters(), measured).passed
    assert not fairness.check_mix(
        OrderEntryParameters(), replace(measured, total_errors=300)
    ).passed


@given(st.lists(st.integers(0, 10_000), min_size=5, max_size=5), st.integers(0, 20_000))
def test_what_is_not_counted_never_makes_a_mix_worse(numbers, more):
    counts = dict(zip(OPERATIONS, numbers, strict=True))
    shares = OrderEntryParameters().shares()
    if not any(numbers):
        return
    filled = fairness._filled(counts, shares, more)
    assert sum(filled.values()) <= sum(numbers) + more + 1e-6 * sum(numbers)
    assert all(filled[name] >= count for name, count in counts.items())
    assert fairness._p_of_mix(counts, shares, more) >= fairness._p_of_mix(counts, shares, 0) - 1e-9


@pytest.mark.parametrize(
    ("rolled_back", "passed"), [(100, True), (60, True), (150, True), (40, False), (170, False)]
)
def test_rollbacks_are_about_1_percent(rolled_back, passed):
    measured = replace(MEASURED, total_rolled_back={"new-order": rolled_back})
    assert fairness.check_rollbacks(measured).passed is passed


def test_few_new_orders_may_have_any_rollbacks():
    measured = replace(
        MEASURED, total_operations={"new-order": 999}, total_rolled_back={"new-order": 0}
    )
    result = fairness.check_rollbacks(measured)
    assert result.passed
    assert "too few to judge" in result.detail


def test_a_rolled_back_payment_fails():
    measured = replace(MEASURED, total_rolled_back={"new-order": 100, "payment": 1})
    assert not fairness.check_rollbacks(measured).passed


def test_pace_is_tested_only_with_the_specified_waits():
    own = OrderEntryParameters()
    assert fairness.check_pace(own, MEASURED) is None
    patient = replace(MEASURED, specified_waits=True, users=100)
    result = fairness.check_pace(own, patient)
    assert result is not None
    assert not result.passed
    slow = fairness.check_pace(own, replace(patient, operations={"new-order": 126}))
    assert slow is not None
    assert slow.passed


def figures(measured: Measured) -> dict[str, float]:
    return {metric.name: metric.value for metric in metric_values(OrderEntryParameters(), measured)}


def test_metrics_come_from_the_district_counters():
    values = figures(MEASURED)
    assert values == pytest.approx(
        {
            "new_orders_per_min": 5_000,
            "transactions_per_s": 11_500 / 60,
            "errors": 0,
            "retries_per_1000": 2,
            "driver_cpu_us": 100,
            "server_cpu_us": 5e6 / 11_500,
            "new_orders_per_server_cpu_s": 1_000,
            "rollback_percent": 1,
        }
    )


def test_new_orders_are_the_drivers_count_where_the_data_cannot_be_read_under_load():
    unread = replace(MEASURED, begin=Observation(10.0, {}), end=Observation(75.0, {}))
    values = figures(unread)
    assert values["new_orders_per_min"] == pytest.approx(5_000 - 50)
    assert values["new_orders_per_server_cpu_s"] == pytest.approx((5_000 - 50) / 5)


def test_efficiency_is_given_with_the_specified_waits():
    patient = replace(MEASURED, specified_waits=True, users=4_000)
    values = figures(patient)
    assert values["terminal_efficiency_percent"] == pytest.approx(5_000 / 5_042 * 100, rel=1e-4)


def test_a_phase_without_transactions_has_figures():
    nothing = replace(
        MEASURED, operations={}, rolled_back={}, end=MEASURED.begin, server_cpu_s=None
    )
    values = figures(nothing)
    assert values == {"new_orders_per_min": 0, "transactions_per_s": 0, "errors": 0}


def test_metric_names_are_unique():
    assert len({spec.name for spec in METRICS}) == len(METRICS)


def test_a_load_that_is_not_whole_is_named():
    rows = {table: allowed.least for table, allowed in expected_rows(2).items()}

    def query(sql: str) -> list[tuple[int]]:
        return [(rows[sql.rsplit(maxsplit=1)[-1]],)]

    assert verify_population(query, 2) == rows
    rows["new_order"] -= 1
    with pytest.raises(TargetError, match=r"new_order has 17,999 rows and not 18,000"):
        verify_population(query, 2)


def test_order_lines_have_a_range():
    lines = expected_rows(10)["order_line"]
    assert 3_000_000 in lines
    assert 2_999_000 in lines
    assert 2_980_000 not in lines
