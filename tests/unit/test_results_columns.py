"""Columns of Arrow tables hold what they are made of, and are those that `pa.array` makes."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from loadstone.results.columns import floats, texts


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
