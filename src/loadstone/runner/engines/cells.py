"""Encoded cells in rows of fixed length: members of seven dimensions, then thirteen amounts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from loadstone.results.columns import of_numpy

_MEMBERS, _AMOUNTS = 7, 13
COLUMNS = tuple(f"c{number}" for number in range(_MEMBERS + _AMOUNTS))
MEMBERS, AMOUNTS = COLUMNS[:_MEMBERS], COLUMNS[_MEMBERS:]
_ROW = np.dtype([*((name, "=i2") for name in MEMBERS), *((name, "=f8") for name in AMOUNTS)])
ROW_BYTES = _ROW.itemsize


def table_of(chunk: bytes) -> pa.Table:
    """Whole rows as a table, in which a missing amount is null.

    Args:
        chunk: As `loadstone-driver cells --form fixed` writes them: an amount that is NaN is
            missing.
    """
    rows = np.frombuffer(chunk, dtype=_ROW)
    columns = [of_numpy(rows[name]) for name in MEMBERS]
    columns += [of_numpy(rows[name], np.isnan(rows[name])) for name in AMOUNTS]
    return pa.table(columns, names=COLUMNS)
