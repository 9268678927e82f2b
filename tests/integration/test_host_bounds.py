"""A busy process in a control group of this machine that has a quota: the kernel's counters."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path("/sys/fs/cgroup")
BUSY = """
import sys, time
from loadstone.probes.bounds import BoundsProbe
probe = BoundsProbe()
probe.start()
until = time.monotonic() + 0.6
while time.monotonic() < until:
    pass
share = probe.sample(1.0)[0].value
print(share, *(f"{notice.code}: {notice.message}" for notice in probe.notices()), sep="\\n")
"""


@pytest.fixture
def group() -> Iterator[tuple[Path, str]]:
    """A group that allows 0.3 processors, and the file that takes processes into it."""
    name = f"loadstone-test-{uuid.uuid4().hex[:8]}"
    v1 = next((ROOT / each for each in ("cpu", "cpu,cpuacct") if (ROOT / each).is_dir()), None)
    folder = (v1 or ROOT) / name
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error.strerror}")
    try:
        if v1 is not None:
            (folder / "cpu.cfs_quota_us").write_text("30000")
        else:
            (folder / "cpu.max").write_text("30000 100000")
    except OSError as error:
        folder.rmdir()
        pytest.skip(f"no quota can be set: {error.strerror}")
    try:
        yield folder, "tasks" if v1 is not None else "cgroup.procs"
    finally:
        folder.rmdir()


def test_a_busy_process_is_throttled(group: tuple[Path, str]) -> None:
    folder, members = group
    ended = subprocess.run(
        [sys.executable, "-c", BUSY],
        preexec_fn=lambda: (folder / members).write_text(str(os.getpid())),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    share, bounded, throttled = ended.stdout.splitlines()
    assert float(share) > 50.0, ended
    assert bounded.startswith("bounded-machine: the surrounding control group allows 0.3 processor")
    assert throttled.startswith("throttled: the CPU quota of the surrounding control group (0.3 ")
