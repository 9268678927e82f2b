"""The host's state on a machine made of files: order, read-back, putting back, recovery."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_machine import fake_machine, texts

from loadstone.errors import RefusedError, TargetError
from loadstone.host.machine import Machine
from loadstone.host.registry import host_setting
from loadstone.host.state import HostState
from loadstone.journal import Journal, open_journals
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec

TARGET = TargetSpec(engine="none")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    # Files do not answer as the kernel does: without brackets, what is written is what is read.
    plain = {
        "/sys/devices/pci/sda/queue/scheduler": "none\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "madvise\n",
    }
    return fake_machine(tmp_path / "machine", plain)


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as journal:
        yield journal


def readings(state: HostState, settings: dict[str, Level]) -> dict[str, tuple[Level, Level | None]]:
    return {
        reading.factor: (reading.read_back, reading.before)
        for reading in state.apply(settings, TARGET)
    }


def test_settings_are_read_back_with_what_was_before(machine: Machine, journal: Journal):
    state = HostState(journal, machine, machine.root.parent)
    assert readings(state, {"vm.swappiness": 10, "queue.sda.nr_requests": 64}) == {
        "host.queue.sda.nr_requests": ("64", "256"),
        "host.vm.swappiness": ("10", "60"),
    }


def test_what_a_trial_does_not_name_is_put_back_before_it(machine: Machine, journal: Journal):
    before = texts(machine)
    state = HostState(journal, machine, machine.root.parent)
    readings(state, {"vm.swappiness": 10, "vm.dirty_ratio": 40})
    assert readings(state, {"vm.swappiness": 10}) == {"host.vm.swappiness": ("10", "60")}
    assert machine.at("/proc/sys/vm/dirty_ratio").read_text() == "20\n"
    assert readings(state, {}) == {}
    assert texts(machine) == before


def test_what_moves_others_with_it_is_set_first(machine: Machine, journal: Journal):
    state = HostState(journal, machine, machine.root.parent)
    wanted: dict[str, Level] = {
        "queue.sda.nr_requests": 64,
        "vm.swappiness": 1,
        "transparent_hugepages": "never",
        "queue.sda.scheduler": "mq-deadline",
        "cpu.smt": "off",
    }
    order = [reading.factor for reading in state.apply(wanted, TARGET)]
    assert order == [
        "host.cpu.smt",
        "host.queue.sda.scheduler",
        "host.transparent_hugepages",
        "host.queue.sda.nr_requests",
        "host.vm.swappiness",
    ]


def test_a_setting_that_stays_is_not_written_again(machine: Machine, journal: Journal):
    state = HostState(journal, machine, machine.root.parent)
    readings(state, {"vm.dirty_ratio": 40})
    path = machine.at("/proc/sys/vm/dirty_ratio")
    written = path.stat().st_mtime_ns
    readings(state, {"vm.dirty_ratio": 40, "vm.swappiness": 10})
    assert path.stat().st_mtime_ns == written


def test_a_setting_that_somebody_else_changed_is_noticed(machine: Machine, journal: Journal):
    state = HostState(journal, machine, machine.root.parent)
    readings(state, {"vm.dirty_ratio": 40})
    machine.at("/proc/sys/vm/dirty_ratio").write_text("41\n")
    with pytest.raises(TargetError, match="was set to '40', but reads back '41'"):
        readings(state, {"vm.dirty_ratio": 40})


def test_fewer_huge_pages_are_told_with_the_figure(machine: Machine):
    setting = host_setting("vm.nr_hugepages", machine=machine)
    assert not setting.same("1000", "812")
    assert "was set to 1000, but the kernel found room for 812 only" in setting.differs(
        "1000", "812"
    )


def test_a_setting_that_cannot_be_applied_leaves_nothing_behind(machine: Machine, journal: Journal):
    before = texts(machine)
    state = HostState(journal, machine, machine.root.parent)
    with pytest.raises(TargetError, match="missing"):
        state.apply({"vm.swappiness": 10, "vm.vfs_cache_pressure": 50}, TARGET)
    state.put_back()
    assert texts(machine) == before


def test_files_are_put_back_byte_for_byte(machine: Machine, journal: Journal):
    path = machine.at("/proc/sys/net/ipv4/tcp_rmem")
    state = HostState(journal, machine, machine.root.parent)
    readings(state, {"net.ipv4.tcp_rmem": "4096 87380 16777216"})
    assert path.read_text() == "4096 87380 16777216\n"
    state.put_back()
    assert path.read_text() == "4096\t131072\t6291456\n"


def test_recovery_puts_back_what_a_killed_run_left(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    before = texts(machine)
    journal = Journal(tmp_path / "journal.jsonl", "killed")
    HostState(journal, machine, machine.root.parent).apply(
        {"vm.swappiness": 10, "vm.dirty_ratio": 40, "cpu.online": "0-3"}, TARGET
    )
    assert texts(machine) != before
    (left,) = open_journals()
    failures: list[Exception | None] = []
    assert left.recover(lambda _, error: failures.append(error))
    assert failures == [None, None, None]
    assert texts(machine) == before
    assert left.recover(lambda _, error: failures.append(error))  # twice does no harm
    assert texts(machine) == before


def test_a_file_that_went_with_its_device_needs_no_putting_back(machine: Machine, journal: Journal):
    state = HostState(journal, machine, machine.root.parent)
    readings(state, {"queue.sda.nr_requests": 64})
    machine.at("/sys/devices/pci/sda/queue/nr_requests").unlink()
    state.put_back()
    assert not machine.at("/sys/devices/pci/sda/queue/nr_requests").exists()


def test_two_runs_do_not_change_a_host_at_once(machine: Machine, journal: Journal, tmp_path: Path):
    first, second = (HostState(journal, machine, tmp_path) for _ in range(2))
    readings(first, {"vm.swappiness": 10})
    with pytest.raises(RefusedError, match=r"another run changes .* \(process \d+\)"):
        readings(second, {"vm.dirty_ratio": 40})
    assert readings(second, {}) == {}  # it changes nothing, so it need not wait
    first.put_back()
    assert readings(second, {"vm.dirty_ratio": 40}) == {"host.vm.dirty_ratio": ("40", "20")}


def test_what_a_killed_run_left_is_put_back_before_anything_else_is_changed(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path), str(machine.root)], check=False
    )
    assert ended.returncode == -signal.SIGKILL
    with Journal(tmp_path / "second.jsonl", "second") as journal:
        state = HostState(journal, machine, tmp_path)
        with pytest.raises(RefusedError, match="a killed run left settings of this host changed"):
            readings(state, {"vm.swappiness": 20})
        for left in open_journals():
            if not left.alive:
                assert left.recover(lambda _entry, _error: None)
        assert readings(state, {"vm.swappiness": 20}) == {"host.vm.swappiness": ("20", "60")}


_KILLED = """
import os, signal, sys
from pathlib import Path
from loadstone.journal import Journal
from loadstone.spec.target import TargetSpec
from loadstone.host.machine import Machine
from loadstone.host.registry import host_setting
from loadstone.host.state import HostState
folder, root = map(Path, sys.argv[1:])
state = HostState(Journal(folder / "killed.jsonl", "killed"), Machine(root), folder)
state.apply({"vm.swappiness": 10}, TargetSpec(engine="none"))
os.kill(os.getpid(), signal.SIGKILL)
"""
