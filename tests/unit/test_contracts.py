"""The page that says what a newcomer writes is true."""

from __future__ import annotations

from pathlib import Path

import contracts

from loadstone.targets.base import Target
from loadstone.workloads.base import Workload

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_table_of_contracts_is_current() -> None:
    assert contracts.table() in PAGE, "renew it: python tests/contracts.py"


def test_the_counts_in_the_text_are_those_of_the_classes() -> None:
    assert f"{len(contracts.methods(Target))} methods, and none that must be written" in PAGE
    assert contracts.required(Workload) == ["check", "fingerprint", "measure"]
