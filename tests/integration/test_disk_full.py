"""A results disk that is really full: a small file system in memory."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_frames import FRAMES, Operation, phase, tick
from sample_trials import plan_of

from loadstone.errors import DiskFullError
from loadstone.load.interrupted import finish_interrupted
from loadstone.results.folder import ExperimentFolder, TrialFolder
from loadstone.results.frames import FRAMES_FILE, read_frames
from loadstone.results.record import Status
from loadstone.results.sample import Sample
from loadstone.results.samples import read_samples


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "loadstone-test", str(folder)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems can be mounted by root only")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(trial: TrialFolder) -> int:
    """Writes ticks until the disk is full; returns how many were written."""
    rng = random.Random(1)
    for frame in [FRAMES[0], phase("begin", "measure", 0.0)]:
        trial.write_frame(frame)
    for number in range(10_000):
        trial.samples.put([Sample(float(number), "host", "cpu_user_percent", rng.random())])
        operations: list[Operation] = [
            ("new-order", rng.randrange(1, 10**9), 10, None) for _ in range(20)
        ]
        trial.write_frame(tick(operations, number))
    raise AssertionError("the disk never filled up")


def test_a_full_disk_is_said_and_what_was_written_is_kept(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 100_000)
    trial = ExperimentFolder.create(small_disk, "demo").trial(plan_of())
    with pytest.raises(DiskFullError, match="no space left") as caught:
        fill(trial)
    assert caught.value.exit_code == 5
    with pytest.raises(DiskFullError):
        trial.close()
    kept = list(read_frames(trial.path))
    assert len(kept) > 3
    assert (trial.path / FRAMES_FILE).stat().st_size > 1000

    ballast.unlink()
    result = finish_interrupted(trial.path)
    assert result.status is Status.INTERRUPTED
    ticks = sum(frame["frame"] == "tick" for frame in kept)
    assert result.operations[0].count == 20 * ticks
    assert len(read_samples(trial.path)) >= ticks
