"""Host settings of this very machine: set, read back, put back. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from alone import ON_THE_HOST, host_to_itself
from listing import host_settings

from loadstone.errors import TargetError
from loadstone.host.registry import host_setting
from loadstone.host.state import HostState
from loadstone.journal import Journal, open_journals
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec

pytestmark = [ON_THE_HOST, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

TARGET = TargetSpec(engine="postgresql")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[HostState]:
    """Of a run that has the host to itself; afterwards every setting is as before."""
    with host_to_itself():
        before = dict(host_settings())
        with Journal(tmp_path / "journal.jsonl", "test") as journal:
            state = HostState(journal)
            yield state
            state.put_back()
        assert dict(host_settings()) == before


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[str]:
    """A block device that nobody else uses, with the queue as it was at the end."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    if shutil.which("losetup") is None:
        pytest.skip("losetup is missing")
    made = subprocess.run(
        ["losetup", "--find", "--show", str(image)], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no loop devices here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        yield Path(device).name
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def allowed(*names: str) -> None:
    """Skips by name what this machine has not."""
    for name in names:
        reason = host_setting(name, TARGET).unavailable()
        if reason:
            pytest.skip(f"host.{name} is {reason}")


def queue(disk: str) -> dict[str, str]:
    """Every file of the queue that can be written."""
    folder = Path(f"/sys/block/{disk}/queue")
    return {
        str(path): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_mode & 0o222 and path.stat().st_mode & 0o444
    }


def by_factor(readings: list[FactorReading]) -> dict[str, FactorReading]:
    return {reading.factor: reading for reading in readings}


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("vm.swappiness", (10, 90)),
        ("vm.dirty_ratio", (35, 45)),
        ("vm.dirty_bytes", ("256MB", "512MB")),
        ("vm.dirty_background_bytes", ("64MB", "32MB")),
        ("net.ipv4.tcp_rmem", ("4096 87380 6291456", "4096 65536 4194304")),
        ("net.core.somaxconn", (1024, 2048)),
        ("fs.aio-max-nr", (70000, 80000)),
        ("kernel.numa_balancing", (0, 1)),
        ("transparent_hugepages", ("never", "always")),
        ("transparent_hugepages.defrag", ("never", "defer")),
        ("queue.read_ahead_kb", (512, 4096)),
    ],
)
def test_a_setting_is_set_read_back_and_put_back(
    state: HostState, name: str, levels: tuple[Level, ...]
):
    allowed(name)
    setting = host_setting(name, TARGET)
    for level in levels:
        (reading,) = state.apply({name: level}, TARGET)
        assert setting.same(setting.check(level), str(reading.read_back))
        assert reading.requested == level
    state.put_back()


def test_a_counterpart_that_the_kernel_zeroes_is_put_back(state: HostState):
    allowed("vm.dirty_bytes")
    ratio = Path("/proc/sys/vm/dirty_ratio")
    before = ratio.read_text()
    (reading,) = state.apply({"vm.dirty_bytes": "256MB"}, TARGET)
    if before.strip() != "0":
        assert ratio.read_text() == "0\n"
        assert "dirty_ratio" in reading.how
    state.put_back()
    assert ratio.read_text() == before


@pytest.mark.parametrize("scheduler", ["mq-deadline", "kyber", "bfq", "none"])
def test_all_that_a_scheduler_moves_is_put_back(state: HostState, disk: str, scheduler: str):
    name = f"queue.{disk}.scheduler"
    reason = host_setting(name).unavailable(scheduler)
    if reason:
        pytest.skip(f"{scheduler} is {reason}")
    before = queue(disk)
    wanted: dict[str, Level] = {name: scheduler, f"queue.{disk}.nr_requests": 64}
    readings = by_factor(state.apply(wanted, TARGET))
    assert readings[f"host.{name}"].read_back == scheduler
    assert readings[f"host.queue.{disk}.nr_requests"].read_back == "64"
    state.put_back()
    assert queue(disk) == before


def test_a_level_that_the_kernel_rounds_is_an_error_with_both_figures(state: HostState, disk: str):
    with pytest.raises(TargetError, match="was set to '13', but reads back '12'"):
        state.apply({f"queue.{disk}.read_ahead_kb": 13}, TARGET)
    assert state.apply({}, TARGET) == []


def test_a_level_that_the_kernel_refuses_is_an_error_with_its_reason(state: HostState):
    allowed("net.ipv4.tcp_congestion_control")
    with pytest.raises(TargetError, match=r"cannot be set to 'nosuch': .*No such file"):
        state.apply({"net.ipv4.tcp_congestion_control": "nosuch"}, TARGET)


def test_huge_pages_are_kept_ready_and_given_back(state: HostState):
    allowed("vm.nr_hugepages")
    (reading,) = state.apply({"vm.nr_hugepages": 8}, TARGET)
    assert reading.read_back == "8"


def test_a_processor_is_taken_away_and_given_back(state: HostState):
    online = host_setting("cpu.online")
    allowed("cpu.online")
    if online.read() == "0":
        pytest.skip("there is but one processor")
    own = os.sched_getaffinity(0)
    (reading,) = state.apply({"cpu.online": "0"}, TARGET)
    assert reading.read_back == "0"
    assert os.sched_getaffinity(0) == {0}
    state.put_back()
    assert os.sched_getaffinity(0) == own


def test_recover_puts_the_host_back_after_a_kill(tmp_path: Path):
    allowed("vm.swappiness", "transparent_hugepages")
    with host_to_itself():
        before = dict(host_settings())
        journal = Journal(tmp_path / "killed.jsonl", "killed")
        state = HostState(journal, locks=tmp_path)  # of its own: this process is not killed
        state.apply({"vm.swappiness": 7, "transparent_hugepages": "never"}, TARGET)
        assert dict(host_settings()) != before
        (left,) = [each for each in open_journals() if each.path == journal.path]
        errors: list[Exception | None] = []
        assert left.recover(lambda _entry, error: errors.append(error))
        assert errors == [None, None]
        assert dict(host_settings()) == before


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("cpu.deepest_idle", "POLL"),
        ("cpu.idle.POLL", "off"),
        ("cpu.energy_preference", "performance"),
        ("cpu.prefetcher.l2_adjacent", "off"),
        ("hugepages.2MB", 4),
    ],
)
def test_settings_of_speed_and_power_read_back_as_asked(
    state: HostState, name: str, level: Level
) -> None:
    allowed(name)
    (reading,) = state.apply({name: level}, TARGET)
    assert reading.read_back == str(level)
