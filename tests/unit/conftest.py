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
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """State, home and working folder of a command are those of the test."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("LOADSTONE_DEBUG", raising=False)
    # A JVM that is asked for a setting ends at once: compiling well would be most of its work.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def house_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system of `pieces` is a target, and none of its parts was told anything."""
    import pieces

    from loadstone.targets.registry import TARGETS

    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setitem(TARGETS._places, "house", "pieces:House")
    pieces.EVENTS.clear()
    pieces.BROKEN.clear()
