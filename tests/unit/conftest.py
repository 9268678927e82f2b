"""How many examples property tests take, and the places of commands."""

from __future__ import annotations

from pathlib import Path

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


@pytest.fixture
def own_places(own_places: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a command is the test's, too."""
    monkeypatch.setenv("HOME", str(own_places))
    monkeypatch.delenv("LOADSTONE_DEBUG", raising=False)
    # A JVM that is asked for a setting ends at once: compiling well would be most of its work.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    return own_places


@pytest.fixture
def house_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system of `pieces` is a target, and none of its parts was told anything."""
    import pieces

    from loadstone.targets.registry import TARGETS

    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setitem(TARGETS._places, "house", "pieces:House")
    pieces.EVENTS.clear()
    pieces.BROKEN.clear()
