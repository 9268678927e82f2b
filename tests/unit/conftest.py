"""How many examples property tests take, and names of tests that a line can hold."""

from __future__ import annotations

import pytest
from hypothesis import settings

QUICK, LONG = 40, 1000
"""Examples of each property test: of `make test`, and of `make test-long`."""

LONGEST_NAME = 60


def pytest_configure(config: pytest.Config) -> None:
    """No example has a deadline: the machine may be busy. Tests whose examples are slow take a
    share of the number."""
    settings.register_profile("quick", max_examples=QUICK, deadline=None)
    settings.register_profile("long", max_examples=LONG, deadline=None, derandomize=False)
    settings.load_profile("long" if config.getoption("--long") else "quick")


def pytest_make_parametrize_id(val: object) -> str | None:
    """The beginning of a long text; pytest names all else."""
    if isinstance(val, str) and len(val) > LONGEST_NAME:
        return f"{val[: LONGEST_NAME - 3]}..."
    return None
