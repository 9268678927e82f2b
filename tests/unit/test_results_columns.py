"""Columns of Arrow tables hold what they are made of, and are those that `pa.array` makes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.results.columns import floats, of_numpy, texts


@given(values=st.lists(st.text()))
def test_texts_are_kept(values: list[str]) -> None:
    column = texts(values)
    column.validate(full=True)
    assert column.equals(pa.array(values, pa.string()))


@given(values=st.lists(st.floats(allow_nan=False)))
def test_numbers_are_kept(values: list[float]) -> None:
    column = floats(values)
    column.validate(full=True)
    assert column.equals(pa.array(values, pa.float64()))


@pytest.mark.parametrize("kind", ["int16", "int32", "int64", "float64", "bool"])
def test_an_array_is_kept_with_what_is_null(kind: str) -> None:
    values = np.arange(-9, 12).astype(kind)[::2]
    null = values == values[3]
    for own, column in ((None, of_numpy(values)), (null, of_numpy(values, null))):
        column.validate(full=True)
        assert column.equals(pa.array(values, mask=own))
