"""The eight tables of decision support, TPC-H 3.0.1 clause 1.4, with keys and allowed indexes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from loadstone.targets.schema import Column, ColumnType, ForeignKey, Index, Table
from loadstone.workloads.dss.words import NATIONS, REGIONS

Indexes = Literal["none", "keys", "foreign", "dates"]
"""Clause 1.5 allows indexes of primary keys, foreign keys and dates; each level has all before."""

_BIGINT, _INTEGER, _DATE = ColumnType("bigint"), ColumnType("integer"), ColumnType("date")
_MONEY = ColumnType("decimal", 15, 2)


def _char(size: int) -> ColumnType:
    return ColumnType("char", size)


def _varchar(size: int) -> ColumnType:
    return ColumnType("varchar", size)


def _columns(**types: ColumnType) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in types.items())


def _reference(columns: str, table: str, references: str) -> ForeignKey:
    own = tuple(columns.split())
    return ForeignKey(f"{'_'.join(own)}_fk", own, table, tuple(references.split()))


REGION = Table(
    "region",
    _columns(r_regionkey=_INTEGER, r_name=_char(25), r_comment=_varchar(152)),
    ("r_regionkey",),
)
NATION = Table(
    "nation",
    _columns(n_nationkey=_INTEGER, n_name=_char(25), n_regionkey=_INTEGER, n_comment=_varchar(152)),
    ("n_nationkey",),
    (_reference("n_regionkey", "region", "r_regionkey"),),
)
SUPPLIER = Table(
    "supplier",
    _columns(
        s_suppkey=_INTEGER,
        s_name=_char(25),
        s_address=_varchar(40),
        s_nationkey=_INTEGER,
        s_phone=_char(15),
        s_acctbal=_MONEY,
        s_comment=_varchar(101),
    ),
    ("s_suppkey",),
    (_reference("s_nationkey", "nation", "n_nationkey"),),
)
CUSTOMER = Table(
    "customer",
    _columns(
        c_custkey=_INTEGER,
        c_name=_varchar(25),
        c_address=_varchar(40),
        c_nationkey=_INTEGER,
        c_phone=_char(15),
        c_acctbal=_MONEY,
        c_mktsegment=_char(10),
        c_comment=_varchar(117),
    ),
    ("c_custkey",),
    (_reference("c_nationkey", "nation", "n_nationkey"),),
)
PART = Table(
    "part",
    _columns(
        p_partkey=_INTEGER,
        p_name=_varchar(55),
        p_mfgr=_char(25),
        p_brand=_char(10),
        p_type=_varchar(25),
        p_size=_INTEGER,
        p_container=_char(10),
        p_retailprice=_MONEY,
        p_comment=_varchar(23),
    ),
    ("p_partkey",),
)
PARTSUPP = Table(
    "partsupp",
    _columns(
        ps_partkey=_INTEGER,
        ps_suppkey=_INTEGER,
        ps_availqty=_INTEGER,
        ps_supplycost=_MONEY,
        ps_comment=_varchar(199),
    ),
    ("ps_partkey", "ps_suppkey"),
    (
        _reference("ps_partkey", "part", "p_partkey"),
        _reference("ps_suppkey", "supplier", "s_suppkey"),
    ),
)
ORDERS = Table(
    "orders",
    _columns(
        o_orderkey=_BIGINT,
        o_custkey=_INTEGER,
        o_orderstatus=_char(1),
        o_totalprice=_MONEY,
        o_orderdate=_DATE,
        o_orderpriority=_char(15),
        o_clerk=_char(15),
        o_shippriority=_INTEGER,
        o_comment=_varchar(79),
    ),
    ("o_orderkey",),
    (_reference("o_custkey", "customer", "c_custkey"),),
)
LINEITEM = Table(
    "lineitem",
    _columns(
        l_orderkey=_BIGINT,
        l_partkey=_INTEGER,
        l_suppkey=_INTEGER,
        l_linenumber=_INTEGER,
        l_quantity=_MONEY,
        l_extendedprice=_MONEY,
        l_discount=_MONEY,
        l_tax=_MONEY,
        l_returnflag=_char(1),
        l_linestatus=_char(1),
        l_shipdate=_DATE,
        l_commitdate=_DATE,
        l_receiptdate=_DATE,
        l_shipinstruct=_char(25),
        l_shipmode=_char(10),
        l_comment=_varchar(44),
    ),
    ("l_orderkey", "l_linenumber"),
    (
        _reference("l_orderkey", "orders", "o_orderkey"),
        _reference("l_partkey l_suppkey", "partsupp", "ps_partkey ps_suppkey"),
    ),
)
TABLES = (REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM)
"""In the order of their references."""

_ROWS = {
    "supplier": 10_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "orders": 1_500_000,
}
"""Rows at scale 1 (clause 4.2.5.1), of the tables whose rows follow from the scale alone."""


def rows_of(scale: float) -> dict[str, int]:
    """Rows of each table but `lineitem`, an order of which has one to seven at random."""
    fixed = {"region": len(REGIONS), "nation": len(NATIONS)}
    return fixed | {name: int(count * scale) for name, count in _ROWS.items()}


def tables(indexes: Indexes) -> list[Table]:
    """The tables with as many keys and indexes."""
    return [keyed(table, indexes) for table in TABLES]


def keyed(table: Table, indexes: Indexes) -> Table:
    """A table that has all keys, with as many of them and of indexes."""
    if indexes == "none":
        return replace(table, primary_key=(), foreign_keys=())
    if indexes == "keys":
        return replace(table, foreign_keys=())
    found = [
        Index(f"{'_'.join(key.columns)}_index", key.columns)
        for key in table.foreign_keys
        # The primary key serves a reference that it begins with.
        if table.primary_key[: len(key.columns)] != key.columns
    ]
    if indexes == "dates":
        found += [
            Index(f"{column.name}_index", (column.name,))
            for column in table.columns
            if column.type == _DATE
        ]
    return replace(table, indexes=tuple(found))
