"""Lines of text made of columns: as fast as memory, not as a loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from loadstone.results.columns import of_numpy
from loadstone.results.columns import texts as short_texts


def texts(values: Sequence[str]) -> pa.Array:
    """A column of texts."""
    return short_texts(values).cast(pa.large_string())


def numbers(values: NDArray[np.int64]) -> pa.Array:
    """A column of whole numbers, as texts."""
    return of_numpy(values.ravel()).cast(pa.large_string())


def joined(columns: Sequence[pa.Array | pa.Scalar], separator: str = "") -> pa.Array:
    """The texts of several columns, row by row."""
    between = pa.scalar(separator, type=pa.large_string())
    return pc.binary_join_element_wise(*columns, between)


def constant(text: str) -> pa.Scalar:
    """The same text in each row."""
    return pa.scalar(text, type=pa.large_string())


def concatenated(column: pa.Array, per_row: int) -> pa.Array:
    """A text of each so many rows that follow each other."""
    offsets = of_numpy(np.arange(0, len(column) + 1, per_row, dtype=np.int64))
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, column), constant(""))


def data_of(column: pa.Array) -> memoryview:
    """The bytes of all texts of a column, one after the other, without a copy."""
    _, offsets, data = column.buffers()
    at = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    return memoryview(data)[int(at[0]) : int(at[-1])]
