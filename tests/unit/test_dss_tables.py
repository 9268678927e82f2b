"""Faults planted in the tables of decision support that keep rows, sums or counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from dss_steps import measured, queries, run_of, step

from loadstone.cache import MANIFEST
from loadstone.errors import ExitCode, WrongInputError
from loadstone.protocol.steps import StepRun, steps_of
from loadstone.results.record import Fingerprint
from loadstone.runner.steps.answer_files import keep_answer
from loadstone.targets.database import fingerprint_of
from loadstone.targets.dialect import Dialect
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.checks import LINES_HOLD, ORDERS_HOLD, OTHERS, check_reference
from loadstone.workloads.dss.data import DataSet, provide, refuse_altered_files
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.reference import reference_answers
from loadstone.workloads.dss.sums import summed
from loadstone.workloads.dss.tables import TABLES
from loadstone.workloads.dss.workload import DecisionSupport

DIALECT = Dialect("duckdb")
ORDERS, LINES = ORDERS_HOLD.name, LINES_HOLD.name


class Engine:
    """DuckDB, as far as the checks need a target."""

    dialect = DIALECT

    def __init__(self) -> None:
        self.connection = duckdb.connect()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()

    def fingerprint(self, tables: Mapping[str, str]) -> Fingerprint:
        found = {
            table: self.query(f"SELECT count(*), sum({row}) FROM {table}")[0]
            for table, row in tables.items()
        }
        rows = {table: count for table, (count, _) in found.items()}
        return fingerprint_of(rows, {table: str(total) for table, (_, total) in found.items()}, 1)

    def refresh(self, *pairs: int) -> None:
        for pair in pairs:
            for name in (refresh.INSERT, refresh.DELETE):
                for statement in refresh.statements(name, pair, DIALECT):
                    self.query(statement)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    cache = tmp_path_factory.mktemp("data")
    return provide(0.001, "parquet", pairs=2, seed=1, cache=cache)


@pytest.fixture(scope="module")
def loaded(data: DataSet) -> Engine:
    engine = Engine()
    for table in (*TABLES, *refresh.STAGED):
        files = ", ".join(f"'{path}'" for path in data.files[table.name])
        engine.query(f"CREATE TABLE {table.name} AS SELECT * FROM read_parquet([{files}])")
    return engine


@pytest.fixture
def engine(loaded: Engine) -> Iterator[Engine]:
    loaded.query("BEGIN")
    yield loaded
    loaded.query("ROLLBACK")


def failed(engine: Engine, before: Fingerprint, *, pairs: int = 2) -> dict[str, str]:
    """Checks of the tables that fail, after so many pairs of refreshes."""
    made = run_of("power", "rf1", *queries(), "rf2") if pairs else run_of("power", *queries())
    beside = run_of("refresh", "rf1", "rf2") if pairs > 1 else ()
    workload = DecisionSupport(DecisionSupportParameters(refreshes=pairs > 0))
    trial = measured(*made, *beside)
    object.__setattr__(trial, "loaded", before)
    target: Any = engine
    checks = workload.check(target, {}, trial)
    assert [each.name for each in checks] == [ORDERS, LINES, OTHERS.name]
    return {each.name: each.detail for each in checks if not each.passed}


def before(engine: Engine) -> Fingerprint:
    return engine.fingerprint(summed(DIALECT))


def test_what_was_loaded_and_refreshed_passes(engine: Engine) -> None:
    state = before(engine)
    assert failed(engine, state, pairs=0) == {}
    engine.refresh(1)
    assert failed(engine, state, pairs=1) == {}
    engine.refresh(2)
    assert failed(engine, state) == {}
    assert {*failed(engine, state, pairs=1)} == {ORDERS, LINES}


def exchange(table: str, column: str, one: str, other: str) -> str:
    """Two rows have each other's value."""
    taken = f"(SELECT {column} FROM {table} WHERE {{}})"
    return (
        f"UPDATE {table} SET {column} = CASE WHEN {one} THEN {taken.format(other)} "
        f"ELSE {taken.format(one)} END WHERE ({one}) OR ({other})"
    )


def line(order: int, number: int) -> str:
    return f"l_orderkey = {order} AND l_linenumber = {number}"


PLANTED = {
    "a line is lost and another doubled": (
        f"DELETE FROM lineitem WHERE {line(992, 1)}; INSERT INTO lineitem "
        f"SELECT * FROM lineitem WHERE {line(998, 1)}",
        LINES,
    ),
    "two prices are swapped within an order": (
        exchange("lineitem", "l_extendedprice", line(992, 1), line(992, 2)),
        LINES,
    ),
    "two days are swapped": (
        exchange("lineitem", "l_shipdate", line(992, 1), line(998, 1)),
        LINES,
    ),
    "what one quantity lost another gained": (
        f"UPDATE lineitem SET l_quantity = l_quantity + CASE WHEN {line(992, 1)} THEN 1 ELSE -1 "
        f"END WHERE ({line(992, 1)}) OR ({line(998, 1)})",
        LINES,
    ),
    "discount and tax are swapped in a line": (
        "UPDATE lineitem SET l_discount = l_discount + 0.01, l_tax = l_tax - 0.01 "
        f"WHERE {line(992, 1)}",
        LINES,
    ),
    "an order is lost and another doubled": (
        "DELETE FROM orders WHERE o_orderkey = 992; "
        "INSERT INTO orders SELECT * FROM orders WHERE o_orderkey = 998",
        ORDERS,
    ),
    "two orders have each other's customer": (
        exchange("orders", "o_custkey", "o_orderkey = 992", "o_orderkey = 998"),
        ORDERS,
    ),
    "an order is of another day": (
        "UPDATE orders SET o_orderdate = o_orderdate + 1 WHERE o_orderkey = 992",
        ORDERS,
    ),
    "an inserted order has another price": (
        "UPDATE orders SET o_totalprice = o_totalprice + 0.01 WHERE o_orderkey = "
        "(SELECT min(o_orderkey) FROM refresh_orders)",
        ORDERS,
    ),
    "a deleted order is there, and another is not": (
        "INSERT INTO orders SELECT (SELECT min(o_orderkey) FROM refresh_delete), "
        "* EXCLUDE (o_orderkey) FROM orders WHERE o_orderkey = 992; "
        "DELETE FROM orders WHERE o_orderkey = 998",
        ORDERS,
    ),
    "two customers have each other's balance": (
        exchange("customer", "c_acctbal", "c_custkey = 7", "c_custkey = 8"),
        OTHERS.name,
    ),
    "two supply costs are swapped": (
        exchange(
            "partsupp", "ps_supplycost",
            "ps_partkey = 7 AND ps_suppkey = (SELECT min(ps_suppkey) FROM partsupp "
            "WHERE ps_partkey = 7)",
            "ps_partkey = 7 AND ps_suppkey = (SELECT max(ps_suppkey) FROM partsupp "
            "WHERE ps_partkey = 7)",
        ),
        OTHERS.name,
    ),
    "a nation is lost and another doubled": (
        "DELETE FROM nation WHERE n_nationkey = 3; "
        "INSERT INTO nation SELECT * FROM nation WHERE n_nationkey = 4",
        OTHERS.name,
    ),
    "a part's size is not known": (
        "UPDATE part SET p_size = NULL WHERE p_partkey = 9",
        OTHERS.name,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_fails_its_check(engine: Engine, fault: str) -> None:
    statements, check = PLANTED[fault]
    state = before(engine)
    engine.refresh(1, 2)
    for statement in statements.split("; "):
        engine.query(statement)
    assert {*failed(engine, state)} == {check}


def answered(folder: Path, data: DataSet) -> list[StepRun]:
    for query, rows in reference_answers(data).items():
        keep_answer(folder / "answers", f"validation-q{query:02d}", rows)
    return steps_of([step("validation", name, 0.0, 1.0) for name in queries()])


def test_answers_are_held_against_a_second_reading(tmp_path: Path, data: DataSet) -> None:
    made = answered(tmp_path, data)
    found = check_reference(tmp_path, data, made)
    assert (found.passed, found.detail) == (
        True,
        "22 of 22 queries have the answer of the second reading",
    )
    first, second, *rest = reference_answers(data)[13]
    keep_answer(tmp_path / "answers", "validation-q13", [second, first, *rest])
    found = check_reference(tmp_path, data, made)
    assert not found.passed
    assert found.detail.startswith("q13 row 1, column 1: expected")


def test_cached_files_that_were_altered_are_refused(tmp_path: Path, data: DataSet) -> None:
    """Each file, with its size kept; and those of another seed."""
    refuse_altered_files(data)
    paths = {path for files in data.files.values() for path in files}
    every = {path for folder in data.folders for path in folder.rglob("*") if path.is_file()}
    assert {path for path in every if path.name != MANIFEST} == paths
    made = answered(tmp_path, data)
    for path in sorted(paths):
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(WrongInputError, match=f"{path} is not what Loadstone wrote") as raised:
            refuse_altered_files(data)
        assert raised.value.exit_code is ExitCode.WRONG_INPUT
        seen = check_reference(tmp_path, data, made)
        assert (seen.passed, seen.detail) == (False, f"{path} is not what Loadstone wrote")
        path.write_bytes(content)
    refuse_altered_files(data)
    staged = next(folder for folder, of in data.folders.items() if "seed" in of)
    stale = staged.rename(staged.with_name("refresh-2-7-2"))
    try:
        other = provide(0.001, "parquet", pairs=2, seed=7, cache=staged.parents[2])
        with pytest.raises(WrongInputError, match=r"holds files of .*seed 1, not of .*seed 7"):
            refuse_altered_files(other)
    finally:
        stale.rename(staged)
