"""The machine's own speed and inventory: whatever the machine is, there is an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import loadstone

from loadstone.experiments import series
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


def test_what_stands_is_asked_for_once_and_settings_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing: inventory.Standing = {}
    first = host_inventory(tmp_path, standing=standing)
    disks, processor = inventory._disks, {"Model name": "another"}
    monkeypatch.setattr(inventory, "_processor", lambda: processor)
    monkeypatch.setattr(inventory, "_settings_of", lambda _: {"ra": 4711})
    second = host_inventory(tmp_path, standing=standing)
    assert second["processor"] == first["processor"] != processor
    assert {disk["ra"] for disk in second["disks"]} == {4711}
    assert inventory.changed(standing) == {"processor": processor}
    monkeypatch.setattr(inventory, "_state", lambda _: "a processor was switched off")
    assert host_inventory(tmp_path, standing=standing)["processor"] == processor
    assert inventory.changed(standing) == {}
    assert disks() == first["disks"]


@pytest.mark.usefixtures("own_places")
def test_another_host_at_the_end_is_said_of_the_last_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "changed", lambda _: {"virtualisation": "another"})
    said = loadstone(
        "run", "noop", "--measure", "100ms", "--warm-up", "0s", "--repeats", "2"
    ).stderr
    assert "the host is another than at the first trial: virtualisation" in " ".join(said.split())
    trials = sorted(Path("results/noop-run").glob("*/result.json"))
    noted = [
        [each["code"] for each in json.loads(trial.read_text())["notices"]].count("host-changed")
        for trial in trials
    ]
    assert noted == [0, 1]
    inventory_of_last = json.loads(trials[1].with_name("inventory.json").read_text())
    assert inventory_of_last["host"]["virtualisation"] == "another"
