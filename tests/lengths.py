"""Which tests only `make test-long` runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

LONG = pytest.mark.long
"""Of tests that repeat, at length or on another engine, what a quick test shows."""


def long_but(quick: Collection[Any], every: Iterable[Any]) -> list[Any]:
    """The parameters of a test that `make test` runs for a few of them only.

    Args:
        quick: Those that it runs. Each must be among `every`.
        every: All of them, in order; sets of parameters that have marks keep them.
    """
    found = [_parameters(each) for each in every]
    plain = [each.values[0] if len(each.values) == 1 else each.values for each in found]
    assert all(each in plain for each in quick), f"{quick} are not all among {plain}"
    return [
        each if value in quick else _long(each) for each, value in zip(found, plain, strict=True)
    ]


def _long(each: Any) -> Any:
    return pytest.param(*each.values, marks=[*each.marks, LONG], id=each.id)


def _parameters(each: Any) -> Any:
    if hasattr(each, "marks"):
        return each
    return pytest.param(*each) if isinstance(each, tuple) else pytest.param(each)
