"""The machine's own speed and inventory: whatever the machine is, there is an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loadstone.probes import inventory, noise
from loadstone.probes.inventory import NOT_AVAILABLE, host_inventory
from loadstone.results.statistics import moved_percent


def test_the_speed_is_told_in_times_that_can_be_compared(tmp_path: Path) -> None:
    first, second = noise.machine_speed(tmp_path), noise.machine_speed(tmp_path)
    assert set(first) == {"cpu_work_us", "memory_read_us", "disk_sync_us"}
    assert all(value > 0 for value in first.values())
    assert abs(moved_percent([first, second], [first, second])) < 1e9
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_leaves_the_disk_out() -> None:
    assert "disk_sync_us" not in noise.machine_speed(Path("/proc"))


def test_the_inventory_holds_what_decides_performance(tmp_path: Path) -> None:
    found = host_inventory(tmp_path)
    assert json.loads(json.dumps(found)) == found
    assert found["memory_bytes"]["MemTotal"] > 0
    assert found["mounts"][str(tmp_path)]["free_bytes"] > 0
    assert found["versions"]["loadstone"]
    assert "vm.dirty_ratio" in found["sysctl"]
    assert not [name for name in found["processor"] if name.startswith("Vulnerability")]


def test_missing_tools_are_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = host_inventory(tmp_path)
    assert found["processor"]["CPU(s)"]
    assert isinstance(found["disks"], list)
    assert found["virtualisation"]


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("odd"), KeyError("field")])
def test_an_odd_host_is_no_reason_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    for part in ("_processor", "_memory", "_disks", "_cgroup", "_versions", "_virtualisation"):
        monkeypatch.setattr(inventory, part, fail)
    found = host_inventory(tmp_path)
    assert found["processor"] == found["cgroup"] == found["versions"] == NOT_AVAILABLE
    assert found["kernel"] != NOT_AVAILABLE
