"""Order entry on every engine: the driver loads the same data, runs, and passes every check."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import order_entry
import pytest
from lengths import long_but
from order_entry import ENGINES, in_dialect, undone

from loadstone.load.driver import Driver
from loadstone.load.profiles import load_plan, run_plan
from loadstone.results.record import Fingerprint
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.database import Database
from loadstone.workloads.base import LoadContext, LoadRequest
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.oltp.parameters import OrderEntryParameters
from loadstone.workloads.oltp.workload import OrderEntry

WAREHOUSES, SEED, USERS = 1, 11, 3
LOADED = "loaded"
FINGERPRINTS: dict[str, Fingerprint] = {}


def workload(**parameters: object) -> OrderEntry:
    given = {"warehouses": WAREHOUSES, "load_sessions": 2, **parameters}
    return OrderEntry(OrderEntryParameters.model_validate(given))


# `test_oltp_run.py` has all of it on PostgreSQL, with more warehouses.
QUICK = [engine for engine in ENGINES if engine != "postgresql"]


@pytest.fixture(scope="module", params=long_but(QUICK, ENGINES))
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """An engine with order entry as the driver loaded it."""
    if not order_entry.available(request.param):
        pytest.skip(f"no {request.param} here")
    with order_entry.opened(request.param, tmp_path_factory.mktemp("oltp")) as target:

        def run_driver(asked: LoadRequest) -> Mapping[str, float]:
            with Driver(load_plan("oltp", asked, target.connection()), lambda _: None) as driver:
                return driver.wait().facts

        workload().build(target, run_driver, SEED)
        target.snapshot(LOADED)
        yield target


def run(target: Database, own: OrderEntry) -> Measured:
    target.restore(LOADED, target.spec)
    own.prepare(target)
    profile = ProfileSpec.model_validate({"users": USERS, "warm_up": "0.2s", "measure": "60s"})
    plan = run_plan(
        profile,
        own.plan(LoadContext(SEED, target, Path())),
        own.pacing(),
        target.connection(),
        SEED,
    )
    before = own.observe(target)
    log = order_entry.drive(plan, order_entry.each_has_run)
    begin, end = Observation(0.0, before), Observation(profile.measure, own.observe(target))
    return replace(log.of_workload(begin, end, None), users=USERS)


def test_one_seed_makes_the_same_data_on_every_engine(target: Database):
    target.restore(LOADED, target.spec)
    found = workload().fingerprint(target)
    FINGERPRINTS[target.engine] = found
    for other in FINGERPRINTS.values():
        assert (other.rows, other.sums, other.digest) == (found.rows, found.sums, found.digest)


@pytest.fixture(scope="module")
def finished(target: Database) -> tuple[OrderEntry, Measured]:
    """A run, with the data that it left."""
    own = workload()
    return own, run(target, own)


def failed(target: Database, own: OrderEntry, measured: Measured) -> dict[str, str]:
    results = own.check(target, measured.begin.counters, measured)
    return {each.name: each.detail for each in results if not each.passed}


def assert_good(target: Database, own: OrderEntry, measured: Measured) -> None:
    assert failed(target, own, measured) == {}
    assert min(measured.total_operations.values()) > 0
    assert measured.total_errors == 0
    assert (measured.server_cpu_s is not None) == target.in_process


def test_a_run_passes_all_its_checks(target: Database, finished):
    assert_good(target, *finished)


def a_counter_ran_ahead(_: Database) -> str:
    return "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1"


def a_line_took_no_stock(target: Database) -> str:
    item = target.query("SELECT max(s_i_id) FROM stock WHERE s_w_id = 1 AND s_order_cnt > 0")[0][0]
    return f"UPDATE stock SET s_order_cnt = s_order_cnt - 1 WHERE s_w_id = 1 AND s_i_id = {item}"


def a_payment_is_lost_with_all_its_traces(target: Database) -> str:
    cents = target.dialect.cents("h_amount")
    customer, paid = target.query(
        f"SELECT h_c_id, {cents} FROM history WHERE h_w_id = 1 AND h_d_id = 1 AND h_c_w_id = 1 "
        f"AND h_c_d_id = 1 AND {cents} <> 1000 ORDER BY h_c_id, 2 LIMIT 1"
    )[0]
    return f"""
        DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 1 AND h_c_w_id = 1 AND h_c_d_id = 1
            AND h_c_id = {customer} AND {cents} = {paid};
        UPDATE warehouse SET w_ytd = w_ytd - {paid} * {{cent}} WHERE w_id = 1;
        UPDATE district SET d_ytd = d_ytd - {paid} * {{cent}} WHERE d_w_id = 1 AND d_id = 1;
        UPDATE customer SET c_balance = c_balance + {paid} * {{cent}},
            c_ytd_payment = c_ytd_payment - {paid} * {{cent}}, c_payment_cnt = c_payment_cnt - 1
            WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = {customer}"""


def a_payment_was_too_large(_: Database) -> str:
    return """
        INSERT INTO history
            SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, c_since, 500001 * {cent}, 'x'
            FROM customer WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1;
        UPDATE warehouse SET w_ytd = w_ytd + 500001 * {cent} WHERE w_id = 1;
        UPDATE district SET d_ytd = d_ytd + 500001 * {cent} WHERE d_w_id = 1 AND d_id = 1;
        UPDATE customer SET c_balance = c_balance - 500001 * {cent},
            c_ytd_payment = c_ytd_payment + 500001 * {cent}, c_payment_cnt = c_payment_cnt + 1
            WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1"""


def two_items_exchanged_a_line(target: Database) -> str:
    item = target.query("SELECT max(s_i_id) FROM stock WHERE s_w_id = 1 AND s_order_cnt > 0")[0][0]
    return f"""
        UPDATE stock SET s_order_cnt = s_order_cnt - 1 WHERE s_w_id = 1 AND s_i_id = {item};
        UPDATE stock SET s_order_cnt = s_order_cnt + 1 WHERE s_w_id = 1 AND s_i_id = {item} - 1"""


def a_line_took_another_item(target: Database) -> str:
    """Of the same order, which took that item as well: all keys and totals fit."""
    order, item, other = target.query(
        "SELECT ol_d_id * 1000000 + ol_o_id, min(ol_i_id), max(ol_i_id) FROM order_line "
        "WHERE ol_o_id > 3000 GROUP BY ol_d_id * 1000000 + ol_o_id ORDER BY 1 LIMIT 1"
    )[0]
    district, number = divmod(order, 1_000_000)
    return f"""UPDATE order_line SET ol_i_id = {other}
        WHERE ol_w_id = 1 AND ol_d_id = {district} AND ol_o_id = {number} AND ol_i_id = {item}"""


def two_customers_exchanged_a_payment(_: Database) -> str:
    return """UPDATE customer SET c_payment_cnt = c_payment_cnt + 3 - 2 * c_id
        WHERE c_w_id = 1 AND c_d_id = 1 AND c_id IN (1, 2)"""


def two_customers_exchanged_a_delivery(_: Database) -> str:
    return """UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 3 - 2 * c_id
        WHERE c_w_id = 1 AND c_d_id = 1 AND c_id IN (1, 2)"""


def a_new_order_is_lost_with_all_its_traces(target: Database) -> str:
    """The last one of a district, whose stock is put back as well."""
    last = target.query(
        "SELECT o_d_id, o_id FROM orders JOIN district ON d_w_id = o_w_id AND d_id = o_d_id "
        "WHERE o_id = d_next_o_id - 1 AND o_id > 3000 ORDER BY o_d_id LIMIT 1"
    )[0]
    lines = f"ol_w_id = 1 AND ol_d_id = {last[0]} AND ol_o_id = {last[1]}"
    taken = f"(SELECT ol_quantity FROM order_line WHERE {lines} AND ol_i_id = s_i_id)"
    items = f"(SELECT ol_i_id FROM order_line WHERE {lines})"
    return f"""
        UPDATE stock SET s_order_cnt = s_order_cnt - 1, s_ytd = s_ytd - {taken}
            WHERE s_w_id = 1 AND s_i_id IN {items};
        DELETE FROM order_line WHERE {lines};
        DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = {last[0]} AND no_o_id = {last[1]};
        DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = {last[0]} AND o_id = {last[1]};
        UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_w_id = 1 AND d_id = {last[0]}"""


def an_item_is_added(_: Database) -> str:
    return """INSERT INTO item
        SELECT i_id + 100000, i_im_id, i_name, i_price, i_data FROM item WHERE i_id = 1"""


DAMAGES: dict[Callable[[Database], str], set[str]] = {
    a_counter_ran_ahead: {"consistency 3.3.2.2", "new-orders are all there"},
    a_line_took_no_stock: {"stock matches the orders"},
    a_payment_is_lost_with_all_its_traces: {"payments are all there"},
    two_items_exchanged_a_line: {"stock matches the orders"},
    a_line_took_another_item: {"stock matches the orders"},
    two_customers_exchanged_a_payment: {"payments are all there"},
    two_customers_exchanged_a_delivery: {"deliveries are all there"},
    a_new_order_is_lost_with_all_its_traces: {"new-orders are all there"},
    an_item_is_added: {"no rows lost or added"},
    a_payment_was_too_large: {"payments are all there", "payments add up"},
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_damage_after_a_run_is_found(target: Database, finished, damage):
    with undone(target):
        target.execute(in_dialect(damage(target), target.dialect))
        assert set(failed(target, *finished)) == DAMAGES[damage]


def test_damage_undone_passes_again(target: Database, finished):
    assert failed(target, *finished) == {}


def test_a_run_of_procedures_passes_all_its_checks(target: Database):
    own = workload(style="procedures")
    if not own.needs() <= target.capabilities:
        pytest.skip(f"{target.engine} has no procedures")
    assert_good(target, own, run(target, own))
