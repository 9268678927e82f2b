"""The page that says what a newcomer writes is true."""

from __future__ import annotations

import re
from pathlib import Path

import contracts
import pytest

from loadstone.targets.base import Target
from loadstone.workloads.base import Workload

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
FILES = (
    *("tests/outside/toy/folder.py", "tests/outside/toy/files.py", "tests/outside/toy/beat.py"),
    *("tests/outside/toy/sessions.py", "tests/outside/toy/wheel.py"),
    "src/loadstone/targets/none.py",
    "src/loadstone/experiments/designs/run.py",
)


def test_the_table_of_contracts_is_current() -> None:
    assert contracts.table() in PAGE, "renew it: python tests/contracts.py"


def test_the_counts_in_the_text_are_those_of_the_classes() -> None:
    assert f"{len(contracts.methods(Target))} methods, and none that must be written" in PAGE
    assert contracts.required(Workload) == ["check", "fingerprint", "measure"]


@pytest.mark.parametrize("path", FILES)
def test_the_lines_in_the_text_are_those_of_the_files(path: str) -> None:
    lines = len((ROOT / path).read_text().splitlines())
    name = re.escape(path.removeprefix("src/loadstone/"))
    (said,) = re.findall(rf"`{name}` has (\d+) lines", PAGE.replace("\n", " "))
    assert int(said) == lines
