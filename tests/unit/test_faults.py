"""Faults that were planted: `make test` must fail on each. The patches lie in `tests/faults`.

The head of a patch says what is wrong, and names the tests that see it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATCHES = sorted((ROOT / "tests" / "faults").glob("*.patch"))
TESTS_FAILED = 1
"""Exit code of pytest; another one says that they could not be run."""


@pytest.mark.long
@pytest.mark.part("faults")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_fault_is_seen(patch: Path, tmp_path: Path) -> None:
    named = next(line for line in patch.read_text().splitlines() if line.startswith("Tests: "))
    shutil.copytree(ROOT / "src", tmp_path / "src")
    if "driver/" in patch.read_text():
        shutil.copytree(ROOT / "driver", tmp_path / "driver", ignore=shutil.ignore_patterns("target"))
    subprocess.run(["patch", "--silent", "-p1", "-i", patch], cwd=tmp_path, check=True)
    words = ["-q", "-x", "-n0", "-p", "no:cacheprovider", *named.removeprefix("Tests: ").split()]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == TESTS_FAILED, done.stdout[-2000:]
