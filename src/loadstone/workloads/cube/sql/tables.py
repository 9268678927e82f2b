"""The tables of the cube.

A row of cells is a block's account: the key of the block (the sparse members), the account, and the
loaded periods as columns. Members are their numbers in the outline.
"""

from __future__ import annotations

from loadstone.targets.schema import Column, ColumnType, Table
from loadstone.workloads.cube.outline.sparse import LOADED_PERIODS
from loadstone.workloads.cube.rollup import KEY

BASE, UPPER = "cube_base", "cube_upper"
"""Cells of level 0, and those of the parents of entities and products."""
LOADED = "cube_loaded"
"""Cells as the parser gives them: a row may come in parts."""
ACCOUNTS, TOTALS, RATES = "cube_account", "cube_total", "cube_rate"
ABOVE = {"entity": "cube_above_entity", "product": "cube_above_product"}
"""The parents of stored members."""
CURRENCIES = "cube_currency"
"""Of each entity."""
RENUMBERED = "cube_renumbered"
"""Accounts before and after a restructure."""
AMOUNTS = ("b", *(f"m{month:02d}" for month in range(1, len(LOADED_PERIODS))))
"""Columns of the loaded periods: the opening balance, then the months."""
KEYS = ", ".join(KEY)
BLOCK = KEY[:-1]
SLICE = ("year", "scenario", "version", "currency")
"""Columns of the small dimensions."""

_SMALL, _DOUBLE = ColumnType("smallint"), ColumnType("double")
_NAME = ColumnType("varchar", 40)


def _table(name: str, **columns: ColumnType) -> Table:
    return Table(name, tuple(Column(column, kind) for column, kind in columns.items()))


ACCOUNT_TABLE = _table(ACCOUNTS, number=_SMALL, rate=_NAME)
TOTAL_TABLE = _table(TOTALS, total=_SMALL, leaf=_SMALL, sign=_SMALL)
ABOVE_TABLES = {
    column: _table(name, child=_SMALL, parent=_SMALL, generation=_SMALL)
    for column, name in ABOVE.items()
}
CURRENCY_TABLE = _table(CURRENCIES, entity=_SMALL, code=_NAME)
RATE_TABLE = _table(RATES, code=_NAME, rate=_NAME, year=_SMALL, **dict.fromkeys(AMOUNTS, _DOUBLE))
RENUMBERED_TABLE = Table(
    RENUMBERED,
    # Without the account that is added, which has no cells, and the one that is deleted.
    (Column("before", _SMALL), Column("after", _SMALL)),
)
OUTLINE_TABLES = (
    ACCOUNT_TABLE,
    TOTAL_TABLE,
    *ABOVE_TABLES.values(),
    CURRENCY_TABLE,
    RATE_TABLE,
    RENUMBERED_TABLE,
)
"""What a reset keeps. Totals are those of the outline after the restructure."""
