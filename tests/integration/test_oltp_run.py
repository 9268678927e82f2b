"""Order entry as a user has it: loaded by the driver, run by the driver, checked by Loadstone."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import order_entry
import pytest
from lengths import LONG, long_but
from order_entry import undone

from loadstone.journal import Journal
from loadstone.load.driver import Driver
from loadstone.load.profiles import load_plan, run_plan
from loadstone.load.totals import LoadTotals
from loadstone.results.record import CheckResult
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.database import Database
from loadstone.targets.postgresql import OwnedPostgreSQL
from loadstone.workloads.base import LoadContext, LoadRequest
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.oltp.conditions import check_conditions
from loadstone.workloads.oltp.fingerprint import fingerprint_tables
from loadstone.workloads.oltp.parameters import OrderEntryParameters
from loadstone.workloads.oltp.sums import read_sums
from loadstone.workloads.oltp.workload import OrderEntry

WAREHOUSES, SEED, USERS = 2, 7, 4
LOADED = "loaded"


@dataclass(frozen=True)
class Loaded:
    """A target with a snapshot of a loaded database."""

    target: OwnedPostgreSQL
    facts: dict[str, float]
    driver_facts: Mapping[str, float]


def build(target: Database, sessions: int) -> tuple[dict[str, float], Mapping[str, float]]:
    said: dict[str, float] = {}

    def run_driver(request: LoadRequest) -> Mapping[str, float]:
        with Driver(load_plan("oltp", request, target.connection()), lambda _: None) as driver:
            said.update(driver.wait().facts)
        return said

    own = OrderEntryParameters(warehouses=WAREHOUSES, load_sessions=sessions)
    return OrderEntry(own).build(target, run_driver, SEED), said


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    journal = Journal(tmp_path_factory.mktemp("oltp") / "journal.jsonl", "pytest")
    context = TargetContext(journal=journal, owner="test-oltp-run")
    target = OwnedPostgreSQL(TargetSpec(engine="postgresql"), context)
    try:
        target.open()
        facts, driver_facts = build(target, sessions=2)
        target.snapshot(LOADED)
        yield Loaded(target, facts, driver_facts)
    finally:
        target.close()
        journal.close()


def run(
    target: OwnedPostgreSQL,
    workload: OrderEntry,
    profile: ProfileSpec,
    enough: Callable[[LoadTotals], bool],
) -> Measured:
    """Runs the load on restored data until it is enough."""
    target.restore(LOADED, target.spec)
    workload.prepare(target)
    plan = run_plan(
        profile,
        workload.plan(LoadContext(SEED, target, Path())),
        workload.pacing(),
        target.connection(),
        seed=SEED,
    )
    before = workload.observe(target)
    log = order_entry.drive(plan, enough)
    begin, end = Observation(0.0, before), Observation(profile.measure, workload.observe(target))
    return replace(
        log.of_workload(begin, end, None),
        users=profile.users,
        specified_waits=profile.think_time == "specified",
    )


def failed(results: list[CheckResult]) -> dict[str, str]:
    return {result.name: result.detail for result in results if not result.passed}


def test_the_load_has_the_rows_of_the_specification(loaded):
    assert loaded.facts["rows"] == sum(
        loaded.target.fingerprint(fingerprint_tables(loaded.target.dialect)).rows.values()
    )
    assert loaded.facts["load_time_s"] >= loaded.facts["copy_time_s"] > 0
    assert loaded.facts["bytes_per_warehouse"] == loaded.facts["size_bytes"] / WAREHOUSES
    assert loaded.driver_facts["rows"] == loaded.facts["rows"]


def test_a_loaded_database_is_consistent(loaded):
    loaded.target.restore(LOADED, loaded.target.spec)
    assert (
        failed(
            check_conditions(
                loaded.target.query,
                loaded.target.dialect,
                read_sums(loaded.target.query, loaded.target.dialect),
            )
        )
        == {}
    )


@pytest.mark.parametrize("engine", long_but(["sqlite"], ["sqlite", "postgresql"]))
def test_one_seed_makes_the_same_data_with_any_number_of_sessions(loaded, tmp_path, engine):
    loaded.target.restore(LOADED, loaded.target.spec)
    with_two = loaded.target.fingerprint(fingerprint_tables(loaded.target.dialect))
    with order_entry.opened(engine, tmp_path) as other:
        build(other, sessions=5)
        with_five = other.fingerprint(fingerprint_tables(other.dialect))
    assert (with_five.rows, with_five.sums) == (with_two.rows, with_two.sums)


def finish(loaded: Loaded, style: str, isolation: str, home: str) -> tuple[OrderEntry, Measured]:
    """A short run."""
    workload = OrderEntry(
        OrderEntryParameters(warehouses=WAREHOUSES, style=style, isolation=isolation, home=home)
    )
    profile = ProfileSpec.model_validate({"users": USERS, "warm_up": "0.2s", "measure": "60s"})
    return workload, run(loaded.target, workload, profile, order_entry.each_has_run)


def assert_good(loaded: Loaded, workload: OrderEntry, measured: Measured) -> None:
    results = workload.check(loaded.target, measured.begin.counters, measured)
    assert failed(results) == {}
    assert len(results) == 20
    # On two warehouses the server sees conflicts between all serializable transactions.
    assert measured.total_errors == 0 or workload.parameters.isolation == "serializable"
    assert min(measured.total_operations.values()) > 0
    figures = {metric.name: metric.value for metric in workload.measure(measured)}
    assert figures["new_orders_per_min"] > 0


def test_terminals_with_the_specified_waits_keep_their_pace(loaded):
    workload = OrderEntry(OrderEntryParameters(warehouses=WAREHOUSES))
    profile = ProfileSpec.model_validate(
        {"users": 20, "warm_up": "0", "measure": "15s", "think_time": "specified"}
    )
    measured = run(loaded.target, workload, profile, some_payments)
    assert failed(workload.check(loaded.target, measured.begin.counters, measured)) == {}
    # Keying an order takes 18 s.
    assert measured.total_operations["new-order"] == 0
    assert measured.total_operations["payment"] > 0


def some_payments(measured: LoadTotals) -> bool:
    """Keying one takes 3 s; in 5 s most terminals have done so."""
    payments = measured.operations.get("payment")
    return measured.duration_s >= 5 and payments is not None and payments.count > 0


DAMAGES: dict[str, tuple[str, set[str]]] = {
    "a district counter ran ahead": (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 1",
        {"consistency 3.3.2.2", "new-orders are all there"},
    ),
    "a line took no stock": (
        "UPDATE stock SET s_order_cnt = s_order_cnt - 1 WHERE s_w_id = 1 AND s_order_cnt > 0 "
        "AND s_i_id = (SELECT max(s_i_id) FROM stock WHERE s_w_id = 1 AND s_order_cnt > 0)",
        {"stock matches the orders"},
    ),
    "a committed payment is lost with all its traces": (
        """DO $$
        DECLARE lost history;
        BEGIN
            SELECT * INTO lost FROM history WHERE h_amount <> 10 LIMIT 1;
            DELETE FROM history WHERE h_c_w_id = lost.h_c_w_id AND h_c_d_id = lost.h_c_d_id
                AND h_c_id = lost.h_c_id AND h_date = lost.h_date AND h_amount = lost.h_amount;
            UPDATE warehouse SET w_ytd = w_ytd - lost.h_amount WHERE w_id = lost.h_w_id;
            UPDATE district SET d_ytd = d_ytd - lost.h_amount
                WHERE d_w_id = lost.h_w_id AND d_id = lost.h_d_id;
            UPDATE customer SET c_balance = c_balance + lost.h_amount,
                c_ytd_payment = c_ytd_payment - lost.h_amount, c_payment_cnt = c_payment_cnt - 1
                WHERE c_w_id = lost.h_c_w_id AND c_d_id = lost.h_c_d_id AND c_id = lost.h_c_id;
        END $$""",
        {"payments are all there"},
    ),
    "an item is gone": (
        "ALTER TABLE stock DROP CONSTRAINT stock_item_fk; DELETE FROM item WHERE i_id = 1",
        {"no rows lost or added"},
    ),
}


@pytest.fixture(scope="module")
def finished(loaded) -> tuple[OrderEntry, Measured]:
    """A run whose data are damaged."""
    return finish(loaded, "procedures", "repeatable read", "per-user")


def test_a_run_passes_all_its_checks(loaded, finished):
    assert_good(loaded, *finished)


@pytest.mark.parametrize(
    "damage",
    long_but(["a committed payment is lost with all its traces", "an item is gone"], DAMAGES),
)
def test_damage_after_a_run_is_found(loaded, finished, damage):
    workload, measured = finished
    script, expected = DAMAGES[damage]
    with undone(loaded.target):
        loaded.target.execute(script)
        results = workload.check(loaded.target, measured.begin.counters, measured)
        assert set(failed(results)) == expected


def test_damage_undone_passes_again(loaded, finished):
    assert_good(loaded, *finished)


@LONG
@pytest.mark.parametrize(
    ("style", "isolation", "home"),
    [
        ("statements", "read committed", "per-user"),
        ("procedures", "read committed", "any"),
        ("statements", "serializable", "any"),
    ],
)
def test_another_run_passes_all_its_checks(loaded, style, isolation, home):
    assert_good(loaded, *finish(loaded, style, isolation, home))
