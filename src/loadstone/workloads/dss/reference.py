"""A second reading of the data: a DuckDB of its own, asked the same of the generated files."""

from __future__ import annotations

from functools import lru_cache

import duckdb

from loadstone.protocol.steps import as_text
from loadstone.workloads.dss.answers import Row
from loadstone.workloads.dss.data import DataSet, source_of
from loadstone.workloads.dss.queries import NUMBERS, text
from loadstone.workloads.dss.substitution import VALIDATION
from loadstone.workloads.dss.tables import TABLES

LARGEST_SCALE = 10.0
"""Above it a second reading may need more memory than there is."""


def reference_answers(data: DataSet) -> dict[int, tuple[Row, ...]]:
    """Query: its answer with the parameters of the validation. Made once for an experiment."""
    sources = tuple((table.name, source_of(table, data)) for table in TABLES)
    return _answers(sources)


@lru_cache(maxsize=2)
def _answers(sources: tuple[tuple[str, str], ...]) -> dict[int, tuple[Row, ...]]:
    with duckdb.connect() as connection:
        for table, source in sources:
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {source}")
        return {
            query: tuple(
                tuple(map(as_text, row))
                for row in connection.execute(text(query, VALIDATION[query])).fetchall()
            )
            for query in NUMBERS
        }
