"""The rows of the tables that tell an engine of the outline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from loadstone.targets.database import Database
from loadstone.targets.schema import Table
from loadstone.workloads.cube.outline.accounts import ACCOUNT, linear
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.restructure import restructure
from loadstone.workloads.cube.outline.sparse import ENTITY, PRODUCT, YEARS
from loadstone.workloads.cube.rates import RATE_KINDS, Rates
from loadstone.workloads.cube.sql.aggregate import parents_of
from loadstone.workloads.cube.sql.tables import (
    ABOVE_TABLES,
    ACCOUNT_TABLE,
    AMOUNTS,
    CURRENCY_TABLE,
    RATE_TABLE,
    RENUMBERED_TABLE,
    TOTAL_TABLE,
)

_NO_MONEY = "none"
_Row = tuple[Any, ...]


def contents(outline: Outline, rates: Rates) -> Mapping[Table, list[_Row]]:
    """The rows of each table of the outline.

    Args:
        outline: As data are loaded into it.
        rates: Of its currencies.
    """
    accounts, entities = outline[ACCOUNT], outline[ENTITY]
    changed = restructure(outline)
    after = changed.outline[ACCOUNT]
    above = {"entity": entities, "product": outline[PRODUCT]}
    return {
        ACCOUNT_TABLE: [(leaf, accounts.members[leaf].rate) for leaf in accounts.leaves()],
        TOTAL_TABLE: [*linear(after), *((leaf, leaf, 1) for leaf in after.leaves())],
        **{table: [*parents_of(above[name])] for name, table in ABOVE_TABLES.items()},
        CURRENCY_TABLE: [(leaf, entities.members[leaf].currency) for leaf in entities.leaves()],
        RATE_TABLE: _rates(outline, rates),
        RENUMBERED_TABLE: [*changed.renumbered.items()],
    }


def table_of(table: Table, rows: list[_Row]) -> pa.Table:
    """Rows as Arrow has them."""
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    return pa.table(columns, names=[column.name for column in table.columns])


def store(target: Database, table: Table, rows: pa.Table) -> None:
    """Loads rows into a table that is there.

    Raises:
        TargetError: If the target refuses them.
    """
    with TemporaryDirectory(prefix="loadstone-cube-") as name:
        path = Path(name) / f"{table.name}.{target.files_form}"
        if target.files_form == "parquet":
            pq.write_table(rows, path)
        else:
            pyarrow.csv.write_csv(rows, path)
        target.load_files(table, [path], sessions=1)


def _rates(outline: Outline, rates: Rates) -> list[_Row]:
    found: list[_Row] = []
    for year in rates.years:
        number = outline[YEARS].numbers[year]
        for code in rates.currencies:
            found += [
                (code, kind, number, *map(float, rates.of(code, kind, year))) for kind in RATE_KINDS
            ]
            found.append((code, _NO_MONEY, number, *[1.0] * len(AMOUNTS)))
    return found
