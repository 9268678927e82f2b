"""Columns of Arrow tables, made without `pa.array`.

Where pandas is installed, as it is beside Spark, `pa.array` imports it, to ask whether the values
are its own: that takes longer than the rest of a command. So does `pq.read_table`; `pq.ParquetFile`
does not.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

import pyarrow as pa


def floats(values: Sequence[float]) -> pa.Array:
    """Numbers as a column of 64-bit floats."""
    return pa.Array.from_buffers(
        pa.float64(), len(values), [None, pa.py_buffer(array("d", values))]
    )


def texts(values: Sequence[str]) -> pa.Array:
    """Texts, 2 GiB of them at most, as a column."""
    encoded = [value.encode() for value in values]
    ends = array("i", accumulate(map(len, encoded), initial=0))
    return pa.Array.from_buffers(
        pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    )
