"""Decision support without a server: queries, their parameters, streams, figures, answers."""

from __future__ import annotations

import re
from collections import Counter
from math import prod

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.targets.dialect import Dialect
from loadstone.targets.duckdb import ddl
from loadstone.workloads.dss import figures, refresh
from loadstone.workloads.dss.answers import Row, difference, same
from loadstone.workloads.dss.published import TIED, published
from loadstone.workloads.dss.queries import NUMBERS, operation, text, title
from loadstone.workloads.dss.streams import ORDERS, order_of, streams_of
from loadstone.workloads.dss.substitution import VALIDATION, drawn
from loadstone.workloads.dss.tables import LINEITEM, TABLES, rows_of, tables

ROWS = {1: 4, 2: 100, 3: 10, 6: 1, 9: 175, 11: 1048, 13: 42, 16: 18314, 18: 57, 20: 186, 22: 7}
"""Of some published answers (TPC-H 3.0.1, the answer set of its kit)."""


@pytest.fixture(scope="module")
def empty() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(ddl.create([*tables("none"), *refresh.STAGED]))
    return connection


@pytest.mark.parametrize("query", NUMBERS)
def test_every_query_is_sql_with_the_columns_of_its_answer(
    empty: duckdb.DuckDBPyConnection, query: int
):
    for parameters in (VALIDATION[query], drawn(query, 1.0, 42, 1)):
        sql = text(query, parameters)
        assert "{" not in sql
        empty.execute(sql)
        assert empty.description is not None
        assert len(empty.description) == len(published(query)[0])
    assert title(query)[0].isupper()


@pytest.mark.parametrize("query", NUMBERS)
def test_parameters_are_drawn_by_seed_and_stream(query: int):
    first = drawn(query, 1.0, 42, 0)
    assert first == drawn(query, 1.0, 42, 0)
    assert set(first) == set(VALIDATION[query])
    many = {tuple(sorted(drawn(query, 1.0, seed, 0).items())) for seed in range(60)}
    assert len(many) > 1


def test_parameters_keep_to_their_ranges():
    of = {query: [drawn(query, 10.0, seed, 0) for seed in range(300)] for query in NUMBERS}
    assert {int(each["delta"]) for each in of[1]} <= set(range(60, 121))
    assert {each["date"][:7] for each in of[3]} == {"1995-03"}
    assert max(each["date"] for each in of[4]) == "1997-10-01"
    assert min(each["date"] for each in of[10]) == "1993-02-01"
    assert max(each["date"] for each in of[10]) == "1995-01-01"
    assert {each["fraction"] for each in of[11]} == {"0.0000100000"}
    assert all(each["nation1"] != each["nation2"] for each in of[7])
    assert all(each["shipmode1"] != each["shipmode2"] for each in of[12])
    assert {each["quantity"] for each in of[18]} == {"312", "313", "314", "315"}
    for each in of[16]:
        sizes = [int(size) for size in each["sizes"].split(", ")]
        assert len(set(sizes)) == 8
        assert all(1 <= size <= 50 for size in sizes)
    for each in of[22]:
        codes = re.findall(r"\'(\d\d)\'", each["codes"])
        assert len(set(codes)) == 7
        assert all(10 <= int(code) <= 34 for code in codes)


def test_every_stream_sends_every_query_once():
    assert len(ORDERS) == 41
    assert all(sorted(order) == list(NUMBERS) for order in ORDERS)
    assert order_of(0)[:3] == (14, 2, 9)
    assert order_of(41) == order_of(0)


@pytest.mark.parametrize(
    ("scale", "streams"),
    [(0.01, 2), (1, 2), (9, 2), (10, 3), (30, 4), (100, 5), (300, 6), (1000, 7), (3000, 8)],
)
def test_streams_grow_with_the_scale(scale: float, streams: int):
    assert streams_of(scale) == streams


@pytest.mark.parametrize(("scale", "streams"), [(10_000, 9), (30_000, 10), (100_000, 11)])
def test_streams_grow_to_the_largest_scale(scale: float, streams: int):
    assert streams_of(scale) == streams


def test_figures_agree_with_a_case_worked_by_hand():
    # 22 queries of 2 s and two refreshes of 8 s: the 24th root of 2^22 * 8^2 = 2^28 is 2^(28/24).
    assert figures.power(100.0, [2.0] * 22, [8.0, 8.0]) == pytest.approx(360_000 / 2 ** (28 / 24))
    # 5 streams of 22 queries in 1,000 s at scale 100: 110 * 3.6 * 100.
    assert figures.throughput(100.0, 5, 1000.0) == pytest.approx(39_600)
    assert figures.composite(160_000.0, 40_000.0) == pytest.approx(80_000.0)
    assert figures.geometric_mean([1.0, 2.0, 4.0]) == pytest.approx(2.0)


def test_times_below_a_thousandth_of_the_longest_count_as_that():
    times = [5000.0, *[1.0] * 20, 2.0]
    raised = [5000.0, *[5.0] * 23]
    found = figures.power(1.0, times, [0.5, 1.0])
    assert found == pytest.approx(3600.0 / prod(time ** (1 / 24) for time in raised))


@pytest.mark.parametrize(
    ("queries", "refreshes"),
    [([1.0] * 21, [1.0] * 2), ([1.0] * 22, [1.0]), ([0.0] * 22, [1.0] * 2)],
)
def test_no_power_without_all_times(queries: list[float], refreshes: list[float]):
    with pytest.raises(ValueError, match=r"power is made of|cannot be"):
        figures.power(1.0, queries, refreshes)


def test_published_answers_are_whole():
    assert {query: len(published(query)) for query in ROWS} == ROWS
    assert published(6) == (("123141078.2283",),)
    assert published(1)[0][:3] == ("A", "F", "37734107")


def test_values_are_the_same_as_they_are_printed():
    assert same("123141078.2283", "123141078.23")
    assert same("0.03443589", "0.0344")
    assert not same("123141078.22", "123141078.24")
    assert not same("37734107", "37734108")
    assert not same("BRAZIL", "FRANCE")
    assert same("1995", "1995.0")
    assert not same("", "0")


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        ("0.0499852958", "0.0454", False),
        ("0.0499852958", "0.049985", True),
        ("0.0344358904", "0.0375", False),
        ("0.0344358904", "0.0344", True),
        ("25.522005853", "25.522006", True),
        ("25.522005853", "25.5260", False),
        ("348406.0542857", "348406.054286", True),
        ("56586554400.7300", "56586554400.735", True),
        ("56586554400.73", "56586554400.74", False),
        ("56586554400.73", "56586554401.73", False),
    ],
)
def test_small_numbers_are_the_same_to_five_digits_or_four_decimals(
    one: str, other: str, are_same: bool
) -> None:
    assert same(one, other) is are_same


def test_a_difference_is_named_by_its_place():
    expected: list[Row] = [("a", "1.00"), ("b", "2.00")]
    assert difference(expected, [("a", "1"), ("b", "2.0")]) is None
    assert str(difference(expected, [("a", "1"), ("b", "3")])) == (
        "row 2, column 2: expected 2.00, found 3"
    )
    assert str(difference(expected, expected[:1])) == "row 2: expected b | 2.00, found no row"
    assert str(difference(expected[:1], expected)) == "row 2: expected no row, found b | 2.00"


def test_rows_that_are_equal_in_what_they_are_sorted_by_come_in_any_order():
    one: list[Row] = [("a", "5"), ("b", "5"), ("c", "4")]
    other: list[Row] = [("b", "5.00"), ("a", "5.00"), ("c", "4")]
    assert difference(one, other) is not None
    assert difference(one, other, tied=(1,)) is None
    swapped: list[Row] = [("c", "4"), ("a", "5"), ("b", "5")]
    assert difference(one, swapped, tied=(1,)) is not None
    assert all(max(columns) < len(published(int(name[1:]))[0]) for name, columns in TIED.items())


def test_indexes_are_those_that_are_allowed():
    assert all(not table.primary_key for table in tables("none"))
    assert all(table.primary_key and not table.foreign_keys for table in tables("keys"))
    foreign = {index.name for table in tables("foreign") for index in table.indexes}
    assert "o_custkey_index" in foreign
    assert "l_orderkey_index" not in foreign  # the primary key serves it
    dates = {index.name for table in tables("dates") for index in table.indexes} - foreign
    assert dates == {
        f"{name}_index" for name in ("o_orderdate", "l_shipdate", "l_commitdate", "l_receiptdate")
    }
    names = Counter(index.name for table in tables("dates") for index in table.indexes)
    assert set(names.values()) == {1}
    assert [table.name for table in TABLES][-1] == LINEITEM.name
    assert rows_of(10)["orders"] == 15_000_000


@given(number=st.integers(1, 6 * 10**9))
def test_new_orders_lie_in_the_gaps_between_those_of_the_load(number: int):
    assert refresh.loaded_key(number) % 32 < 8
    assert 8 <= refresh.new_key(number) % 32 < 16
    assert refresh.loaded_key(number + 1) > refresh.loaded_key(number)


def test_refreshes_are_sql(empty: duckdb.DuckDBPyConnection):
    assert refresh.loaded_key(1_500_000) == 6_000_000
    assert refresh.orders_of(1.0) == 1500
    for function in (refresh.INSERT, refresh.DELETE):
        for statement in refresh.statements(function, 1, Dialect("duckdb")):
            empty.execute(statement)
    assert operation(1) == "q01"
