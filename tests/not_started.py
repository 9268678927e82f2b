"""Targets that are asked only what is known of them before they run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from loadstone.targets.dialect import Dialect


def not_started(dialect: str) -> Any:
    """What a workload asks of a database for its plan, of one that does not run."""
    return SimpleNamespace(dialect=Dialect(dialect), server_pid=lambda: None)
