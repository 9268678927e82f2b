"""Each consistency condition fails for the damage it is there to find, and for nothing else."""

from collections.abc import Iterator

import order_entry
import pytest
from order_entry import ENGINES, in_dialect, undone

from loadstone.targets.database import Database
from loadstone.workloads.oltp.conditions import CONDITIONS, check_conditions
from loadstone.workloads.oltp.fingerprint import fingerprint_tables
from loadstone.workloads.oltp.sums import read_sums

WAREHOUSES = 2

ORDER = "o_w_id = 1 AND o_d_id = 1 AND o_id = {0}"
LINES = "ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = {0}"
NEW_ORDER = "no_w_id = 1 AND no_d_id = 1 AND no_o_id = {0}"

# Orders to 2100 are delivered, with lines of 0.00; those from 2101 to 2200 are not.
DAMAGES = {
    "a warehouse's takings are off": (
        "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1",
        {"3.3.2.1", "3.3.2.8"},
    ),
    "a district's takings are off": (
        "UPDATE district SET d_ytd = d_ytd - {cent} WHERE d_w_id = 2 AND d_id = 2",
        {"3.3.2.1", "3.3.2.9"},
    ),
    "a district counter ran ahead": (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 2",
        {"3.3.2.2"},
    ),
    "the last order is lost": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(2200)};"
        f"DELETE FROM order_line WHERE {LINES.format(2200)};"
        f"DELETE FROM orders WHERE {ORDER.format(2200)}",
        {"3.3.2.2"},
    ),
    "an order is delivered out of its turn": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(2150)};"
        f"UPDATE orders SET o_carrier_id = 5 WHERE {ORDER.format(2150)};"
        f"UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {LINES.format(2150)};"
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1, c_balance = c_balance + "
        f"(SELECT sum(ol_amount) FROM order_line WHERE {LINES.format(2150)}) "
        "WHERE c_w_id = 1 AND c_d_id = 1 "
        f"AND c_id = (SELECT o_c_id FROM orders WHERE {ORDER.format(2150)})",
        {"3.3.2.3"},
    ),
    "a new-order is lost": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(2150)}",
        {"3.3.2.3", "3.3.2.5", "3.3.2.11"},
    ),
    "an order line is lost": (
        f"DELETE FROM order_line WHERE {LINES.format(2150)} AND ol_number = 1",
        {"3.3.2.4", "3.3.2.6"},
    ),
    "a delivered order has no carrier and no dates": (
        f"UPDATE orders SET o_carrier_id = NULL WHERE {ORDER.format(7)};"
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {LINES.format(7)}",
        {"3.3.2.5"},
    ),
    "an undelivered order has a carrier": (
        f"UPDATE orders SET o_carrier_id = 1 WHERE {ORDER.format(2150)}",
        {"3.3.2.5", "3.3.2.7"},
    ),
    "two orders of a district swapped a line": (
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {ORDER.format(2150)};"
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {ORDER.format(2151)}",
        {"3.3.2.6"},
    ),
    "a line of a delivered order has no date": (
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {LINES.format(7)} AND ol_number = 2",
        {"3.3.2.7"},
    ),
    "a payment is booked at another warehouse": (
        "UPDATE history SET h_w_id = 2 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 9",
        {"3.3.2.8", "3.3.2.9"},
    ),
    "a payment is booked in another district": (
        "UPDATE history SET h_d_id = 2 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 9",
        {"3.3.2.9"},
    ),
    "a payment is booked for another customer": (
        "UPDATE history SET h_c_id = 10 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 9",
        {"3.3.2.10"},
    ),
    "a balance is off": (
        "UPDATE customer SET c_balance = c_balance + {cent} "
        "WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 750",
        {"3.3.2.10", "3.3.2.12"},
    ),
    "a delivered order is lost with its lines": (
        f"DELETE FROM order_line WHERE {LINES.format(7)};"
        f"DELETE FROM orders WHERE {ORDER.format(7)}",
        {"3.3.2.11"},
    ),
    "a delivery is counted twice": (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 "
        "WHERE c_w_id = 2 AND c_d_id = 2 AND c_id = 750",
        {"3.3.2.11"},
    ),
    "a customer's payments are off": (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 "
        "WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        {"3.3.2.12"},
    ),
}

# Faults that make up for each other within a district: no total shows them.
EVENED_OUT = {
    "a line came under another order": (
        f"UPDATE order_line SET ol_o_id = 2151, ol_number = 90 WHERE {LINES.format(2150)} "
        "AND ol_number = 1",
        {"3.3.2.6"},
    ),
    "an order has a carrier, and another has none": (
        f"UPDATE orders SET o_carrier_id = 1 WHERE {ORDER.format(2150)};"
        f"UPDATE orders SET o_carrier_id = NULL WHERE {ORDER.format(7)}",
        {"3.3.2.5", "3.3.2.7"},
    ),
    "a line has a date, and another has none": (
        f"UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {LINES.format(2150)} "
        "AND ol_number = 1;"
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {LINES.format(7)} AND ol_number = 1",
        {"3.3.2.7", "3.3.2.10", "3.3.2.12"},
    ),
    "an order has a line too many and a date too many": (
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {ORDER.format(2150)};"
        f"UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {LINES.format(2150)} "
        "AND ol_number = 1",
        {"3.3.2.4", "3.3.2.6", "3.3.2.7", "3.3.2.10", "3.3.2.12"},
    ),
    "three orders in a row have a line too many or too few": (
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {ORDER.format(2150)};"
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 2 WHERE {ORDER.format(2151)};"
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {ORDER.format(2152)}",
        {"3.3.2.6"},
    ),
    "two warehouses and two districts exchanged takings": (
        "UPDATE warehouse SET w_ytd = w_ytd + 3 - 2 * w_id;"
        "UPDATE district SET d_ytd = d_ytd + 3 - 2 * d_w_id WHERE d_id = 1",
        {"3.3.2.8", "3.3.2.9"},
    ),
    "two customers exchanged a cent": (
        "UPDATE customer SET c_balance = c_balance + {cent} * (3 - 2 * c_id) "
        "WHERE c_w_id = 1 AND c_d_id = 1 AND c_id IN (1, 2)",
        {"3.3.2.10", "3.3.2.12"},
    ),
    "two districts exchanged a delivery": (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 2 - c_d_id "
        "WHERE c_w_id = 1 AND c_d_id IN (1, 3) AND c_id = 1",
        {"3.3.2.11"},
    ),
    "a line was delivered for an amount that nobody owes": (
        f"UPDATE order_line SET ol_amount = {{cent}} WHERE {LINES.format(7)} AND ol_number = 1",
        {"3.3.2.10", "3.3.2.12"},
    ),
}
ALL_DAMAGES = DAMAGES | EVENED_OUT

FINGERPRINTS: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module", params=ENGINES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """An engine with a loaded order-entry database."""
    if not order_entry.available(request.param):
        pytest.skip(f"no {request.param} here")
    with order_entry.opened(request.param, tmp_path_factory.mktemp("oltp")) as target:
        order_entry.populate(target, WAREHOUSES)
        target.snapshot("populated")
        yield target


def damage(target: Database, script: str) -> None:
    target.execute(in_dialect(script, target.dialect))


def failing(target: Database) -> set[str]:
    results = check_conditions(
        target.query, target.dialect, read_sums(target.query, target.dialect)
    )
    assert len(results) == 12
    return {result.name.split()[-1] for result in results if not result.passed}


def detail(target: Database, clause: str) -> str:
    results = check_conditions(
        target.query, target.dialect, read_sums(target.query, target.dialect)
    )
    result = next(each for each in results if each.name == f"consistency {clause}")
    assert not result.passed
    assert result.source == f"TPC-C 5.11, clause {clause}"
    return result.detail


def test_every_condition_has_a_damage():
    clauses = {f"3.3.2.{number}" for number in range(1, 13)}
    assert {condition.clause for condition in CONDITIONS} == clauses
    assert set().union(*(expected for _, expected in DAMAGES.values())) == clauses


def test_a_loaded_database_passes(target: Database):
    assert failing(target) == set()


@pytest.mark.parametrize("name", ALL_DAMAGES)
def test_damage_fails_just_the_right_conditions(target, name):
    script, expected = ALL_DAMAGES[name]
    with undone(target):
        damage(target, script)
        assert failing(target) == expected


def test_damage_undone_passes_again(target):
    with undone(target):
        for script, _ in DAMAGES.values():
            damage(target, script)
        assert failing(target)
    assert failing(target) == set()


def test_the_queries_over_large_tables_are_run_only_where_sums_differ(target):
    asked: list[str] = []

    def query(sql: str) -> list[tuple[object, ...]]:
        asked.append(sql)
        return target.query(sql)

    sums = read_sums(target.query, target.dialect)
    assert all(each.passed for each in check_conditions(query, target.dialect, sums))
    assert len(asked) == 3


def test_a_violation_is_shown_with_its_figures(target):
    with undone(target):
        damage(target, "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2")
        assert detail(target, "3.3.2.2").endswith(
            "2 violations, for example d_w_id=2, d_id=1, d_next_o_id=2202, max_o_id=2200, "
            "max_no_o_id=2200"
        )


def test_money_is_shown_alike_on_every_engine(target):
    with undone(target):
        damage(
            target,
            "UPDATE customer SET c_balance = c_balance - 5 * {cent} "
            "WHERE c_w_id = 2 AND c_d_id = 1 AND c_id = 7",
        )
        assert detail(target, "3.3.2.12").endswith(
            "1 violations, for example c_w_id=2, c_d_id=1, c_id=7, c_balance=-10.05, "
            "c_ytd_payment=10.00, sum_ol_amount=0.00"
        )


def test_the_same_data_has_the_same_fingerprint_on_every_engine(target):
    found = target.fingerprint(fingerprint_tables(target.dialect))
    FINGERPRINTS[target.engine] = found.sums
    assert all(sums == found.sums for sums in FINGERPRINTS.values()), FINGERPRINTS


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE customer SET c_balance = c_balance + {cent} WHERE c_w_id = 1 AND c_d_id = 1 "
        "AND c_id = 1",
        "UPDATE district SET d_tax = d_tax + {rate} WHERE d_w_id = 1 AND d_id = 1",
        "UPDATE order_line SET ol_amount = ol_amount + {cent} WHERE ol_w_id = 1 AND ol_d_id = 1 "
        "AND ol_o_id = 1 AND ol_number = 1",
        "UPDATE item SET i_data = 'other' WHERE i_id = 1",
        "DELETE FROM history WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 1",
    ],
)
def test_a_changed_value_changes_the_fingerprint(target, change):
    tables = fingerprint_tables(target.dialect)
    before = target.fingerprint(tables)
    with undone(target):
        damage(target, change)
        assert target.fingerprint(tables).digest != before.digest
    assert target.fingerprint(tables).digest == before.digest
