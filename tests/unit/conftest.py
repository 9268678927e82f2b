"""How many examples property tests take."""

from __future__ import annotations

import pytest
from hypothesis import settings

QUICK, LONG = 40, 1000
"""Examples of each property test: of `make test`, and of `make test-long`."""


def pytest_configure(config: pytest.Config) -> None:
    """No example has a deadline: the machine may be busy. Tests whose examples are slow take a
    share of the number."""
    settings.register_profile("quick", max_examples=QUICK, deadline=None)
    settings.register_profile("long", max_examples=LONG, deadline=None, derandomize=False)
    settings.load_profile("long" if config.getoption("--long") else "quick")
