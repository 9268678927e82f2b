"""Faults that were planted: `make test` must fail on each. The patches lie here.

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
PATCHES = sorted(Path(__file__).parent.glob("*.patch"))
TESTS_FAILED = 1
"""Exit code of pytest; another one says that they could not be run."""

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("faults")]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_fault_is_seen(patch: Path, tmp_path: Path) -> None:
    named = next(line for line in patch.read_text().splitlines() if line.startswith("Tests: "))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    shutil.copytree(ROOT / "src", tmp_path / "src")
    in_driver = "driver/" in patch.read_text()
    if in_driver:
        shutil.copytree(ROOT / "driver", tmp_path / "driver")  # what is compiled, too
    subprocess.run(["patch", "--silent", "-p1", "-i", patch], cwd=tmp_path, check=True)
    if in_driver:
        environment["LOADSTONE_DRIVER"] = built(tmp_path / "driver")
    words = ["-q", "-x", "-n0", "-p", "no:cacheprovider", *named.removeprefix("Tests: ").split()]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == TESTS_FAILED, done.stdout[-2000:]


def built(crate: Path) -> str:
    """Compiles a driver."""
    words = ["--release", "--locked", "--target-dir", str(crate / "target")]
    subprocess.run(["cargo", "build", *words], cwd=crate, check=True)
    return str(crate / "target" / "release" / "loadstone-driver")
