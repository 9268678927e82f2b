"""Each consistency condition fails for the damage it is there to find, and for nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from loadstone.experiments.journal import Journal
from loadstone.experiments.model import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.postgresql import PostgreSQL
from loadstone.workloads.oltp.conditions import CONDITIONS, check_conditions
from loadstone.workloads.oltp.tables import TABLES

WAREHOUSES = 2

ORDER = "o_w_id = 1 AND o_d_id = 1 AND o_id = {0}"
LINES = "ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = {0}"
NEW_ORDER = "no_w_id = 1 AND no_d_id = 1 AND no_o_id = {0}"

# Orders to 2100 are delivered, with lines of 0.00; those from 2101 to 3000 are not.
DAMAGES = {
    "a warehouse's takings are off": (
        "UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1",
        {"3.3.2.1", "3.3.2.8"},
    ),
    "a district's takings are off": (
        "UPDATE district SET d_ytd = d_ytd - 0.01 WHERE d_w_id = 2 AND d_id = 10",
        {"3.3.2.1", "3.3.2.9"},
    ),
    "a district counter ran ahead": (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3",
        {"3.3.2.2"},
    ),
    "the last order is lost": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(3000)};"
        f"DELETE FROM order_line WHERE {LINES.format(3000)};"
        f"DELETE FROM orders WHERE {ORDER.format(3000)}",
        {"3.3.2.2"},
    ),
    "an order is delivered out of its turn": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(2500)};"
        f"UPDATE orders SET o_carrier_id = 5 WHERE {ORDER.format(2500)};"
        f"UPDATE order_line SET ol_delivery_d = now() WHERE {LINES.format(2500)};"
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1, c_balance = c_balance + "
        f"(SELECT sum(ol_amount) FROM order_line WHERE {LINES.format(2500)}) "
        "WHERE c_w_id = 1 AND c_d_id = 1 "
        f"AND c_id = (SELECT o_c_id FROM orders WHERE {ORDER.format(2500)})",
        {"3.3.2.3"},
    ),
    "a new-order is lost": (
        f"DELETE FROM new_order WHERE {NEW_ORDER.format(2500)}",
        {"3.3.2.3", "3.3.2.5", "3.3.2.11"},
    ),
    "an order line is lost": (
        f"DELETE FROM order_line WHERE {LINES.format(2500)} AND ol_number = 1",
        {"3.3.2.4", "3.3.2.6"},
    ),
    "a delivered order has no carrier and no dates": (
        f"UPDATE orders SET o_carrier_id = NULL WHERE {ORDER.format(7)};"
        f"UPDATE order_line SET ol_delivery_d = NULL WHERE {LINES.format(7)}",
        {"3.3.2.5"},
    ),
    "an undelivered order has a carrier": (
        f"UPDATE orders SET o_carrier_id = 1 WHERE {ORDER.format(2500)}",
        {"3.3.2.5", "3.3.2.7"},
    ),
    "two orders of a district swapped a line": (
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE {ORDER.format(2500)};"
        f"UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE {ORDER.format(2501)}",
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
        "UPDATE customer SET c_balance = c_balance + 0.01 "
        "WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 3000",
        {"3.3.2.10", "3.3.2.12"},
    ),
    "a delivered order is lost with its lines": (
        f"DELETE FROM order_line WHERE {LINES.format(7)};"
        f"DELETE FROM orders WHERE {ORDER.format(7)}",
        {"3.3.2.11"},
    ),
    "a delivery is counted twice": (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 "
        "WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 3000",
        {"3.3.2.11"},
    ),
    "a customer's payments are off": (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 "
        "WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
        {"3.3.2.12"},
    ),
}


@pytest.fixture(scope="module")
def order_entry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection[Any]]:
    """A server with a loaded order-entry database."""
    journal = Journal(tmp_path_factory.mktemp("oltp") / "journal.jsonl", "pytest")
    context = TargetContext(journal=journal, owner="test-oltp-conditions")
    target = PostgreSQL(TargetSpec(engine="postgresql"), context)
    population = (Path(__file__).parent / "oltp_population.sql").read_text()
    try:
        target.open()
        target.create_tables(TABLES)
        target.execute(population.replace("$W", str(WAREHOUSES)))
        target.finish_tables(TABLES)
        target.execute("ANALYZE;")
        to = target.connection()
        with psycopg.connect(
            host=to.host, port=to.port, user=to.user, dbname=to.database, autocommit=True
        ) as connection:
            yield connection
    finally:
        target.close()
        journal.close()


def failing(connection: psycopg.Connection[Any]) -> set[str]:
    results = check_conditions(lambda sql: connection.execute(sql).fetchall())
    assert len(results) == 12
    return {result.name.split()[-1] for result in results if not result.passed}


def test_every_condition_has_a_damage():
    clauses = {f"3.3.2.{number}" for number in range(1, 13)}
    assert {condition.clause for condition in CONDITIONS} == clauses
    assert set().union(*(expected for _, expected in DAMAGES.values())) == clauses


def test_a_loaded_database_passes(order_entry: psycopg.Connection[Any]):
    assert failing(order_entry) == set()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_fails_just_the_right_conditions(order_entry, damage):
    script, expected = DAMAGES[damage]
    with order_entry.transaction(force_rollback=True):
        order_entry.execute(script)
        assert failing(order_entry) == expected


def test_damage_undone_passes_again(order_entry):
    with order_entry.transaction(force_rollback=True):
        for script, _ in DAMAGES.values():
            order_entry.execute(script)
        assert failing(order_entry)
    assert failing(order_entry) == set()


def test_a_violation_is_shown_with_its_figures(order_entry):
    with order_entry.transaction(force_rollback=True):
        order_entry.execute("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 2")
        results = check_conditions(lambda sql: order_entry.execute(sql).fetchall())
    second = next(result for result in results if result.name == "consistency 3.3.2.2")
    assert not second.passed
    assert second.detail.endswith(
        "10 violations, for example d_w_id=2, d_id=1, d_next_o_id=3002, max_o_id=3000, "
        "max_no_o_id=3000"
    )
    assert second.source == "TPC-C 5.11, clause 3.3.2.2"
