"""Columns of Arrow tables, made without `pa.array`.

Where pandas is installed, as it is beside Spark, `pa.array` imports it, to ask whether the values
are its own: that takes longer than the rest of a command. So does `pq.read_table`; `pq.ParquetFile`
does not.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


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


def of_numpy(values: NDArray[Any], null: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of one dimension as a column; what `null` marks is null."""
    bits = values.dtype == np.bool_
    data = np.packbits(values, bitorder="little") if bits else np.ascontiguousarray(values)
    valid = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(data)])
