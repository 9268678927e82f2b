"""Host settings on a machine made of files: what they take, what is absent, what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_machine import fake_machine
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import WrongInputError
from loadstone.host import cpulist, sysctl
from loadstone.host.disks import disk_below
from loadstone.host.levels import Whole
from loadstone.host.locality import data_folder
from loadstone.host.machine import Absent, Machine
from loadstone.host.queue import setting as queue_setting
from loadstone.host.registry import all_known, host_setting
from loadstone.spec.base import Level
from loadstone.spec.target import StorageSpec, TargetSpec


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return fake_machine(tmp_path)


# -- what is read ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vm.swappiness", "60"),
        ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
        ("net.ipv4.tcp_congestion_control", "cubic"),
        ("transparent_hugepages", "madvise"),
        ("transparent_hugepages.defrag", "madvise"),
        ("queue.sda.scheduler", "none"),
        ("queue.sda1.read_ahead_kb", "128"),
        ("cpu.governor", "powersave"),
        ("cpu.smt", "on"),
        ("cpu.turbo", "on"),
        ("cpu.online", "0-3"),
    ],
)
def test_a_value_is_read_as_a_level_is_written(machine: Machine, name: str, value: str):
    setting = host_setting(name, machine=machine)
    assert setting.read() == value
    assert setting.same(setting.check(value), value)


@pytest.mark.parametrize(
    ("missing", "name", "said"),
    [
        ("/proc/sys/vm/swappiness", "vm.swappiness", "/proc/sys/vm/swappiness is missing"),
        (
            "/sys/kernel/mm/transparent_hugepage/defrag",
            "transparent_hugepages.defrag",
            "transparent_hugepage/defrag is missing",
        ),
        ("/sys/devices/system/cpu/smt/control", "cpu.smt", "smt/control is missing"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "cpu.turbo", "no_turbo and"),
        ("/sys/devices/pci/sda/queue/scheduler", "queue.sda.scheduler", "scheduler is missing"),
    ],
)
def test_what_is_absent_names_the_missing_file(tmp_path: Path, missing: str, name: str, said: str):
    setting = host_setting(name, machine=fake_machine(tmp_path, {missing: None}))
    value = setting.read()
    assert isinstance(value, Absent)
    assert said in value.reason
    assert (setting.unavailable() or "").startswith("absent: ")


def test_a_processor_without_threads_has_no_smt(tmp_path: Path):
    machine = fake_machine(tmp_path, {"/sys/devices/system/cpu/smt/control": "notsupported\n"})
    assert "says notsupported" in (host_setting("cpu.smt", machine=machine).unavailable() or "")


def test_frequency_domains_that_differ_are_all_told(tmp_path: Path):
    policy = "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor"
    machine = fake_machine(tmp_path, {policy: "performance\n"})
    value = host_setting("cpu.governor", machine=machine).read()
    assert value == "policy0: powersave, policy1: performance"


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(machine: Machine):
    reason = host_setting("vm.swapiness", machine=machine).unavailable()
    assert reason is not None
    assert reason.endswith("did you mean vm.swappiness?")


@pytest.mark.parametrize(
    ("name", "level", "offered"),
    [
        ("queue.sda.scheduler", "bfq", "none, mq-deadline"),
        ("cpu.governor", "schedutil", "performance, powersave"),
    ],
)
def test_a_level_that_this_kernel_does_not_offer_is_unavailable_not_wrong(
    machine: Machine, name: str, level: str, offered: str
):
    setting = host_setting(name, machine=machine)
    assert setting.unavailable() is None
    assert f"offers only {offered}" in (setting.unavailable(level) or "")


# -- what is taken -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "level", "text"),
    [
        ("vm.dirty_ratio", 40, "40"),
        ("vm.dirty_bytes", "256MB", str(256 * 2**20)),
        ("kernel.timer_migration", True, "1"),
        ("kernel.timer_migration", "off", "0"),
        ("net.ipv4.tcp_rmem", "4096  87380 16777216", "4096 87380 16777216"),
        ("cpu.online", "0,1,2", "0-2"),
        ("cpu.smt", False, "off"),
        ("server.nofile", 4096, "4096"),
        ("server.cpus", 1, "1"),
    ],
)
def test_a_level_is_written_as_the_kernel_takes_it(
    machine: Machine, name: str, level: Level, text: str
):
    assert host_setting(name, machine=machine).check(level) == text


@pytest.mark.parametrize(
    ("name", "level", "choices"),
    [
        ("vm.dirty_ratio", 101, "from 0 to 100"),
        ("vm.dirty_ratio", 1.5, "from 0 to 100"),
        ("vm.dirty_bytes", 4096, "from 8192"),
        ("net.ipv4.tcp_rmem", "4096 87380", "3 whole numbers"),
        ("transparent_hugepages", "sometimes", "always, madvise, never"),
        ("queue.sda.write_cache", "none", "write back, write through"),
        ("cpu.online", "1-3", "that holds 0"),
        ("cpu.online", "0-7", "within 0-3"),
        ("cpu.online", "", "within 0-3"),
        ("server.cpus", "9", "within 0-3"),
        ("server.nofile", 10, "from 64 to 1048576"),
        ("generator.cpus", True, "within 0-3"),
    ],
)
def test_a_wrong_level_is_answered_in_one_line_with_the_choices(
    machine: Machine, name: str, level: Level, choices: str
):
    with pytest.raises(WrongInputError) as caught:
        host_setting(name, machine=machine).check(level)
    message = caught.value.message
    assert message.startswith(f"host.{name} takes ")
    assert choices in message
    assert "given" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "name",
    [
        "speed",
        "vm",
        "vm.",
        "net.//.ipv4",
        "transparent_hugepages.speed",
        "queue.sda.speed",
        "cpu.speed",
        "server.speed",
        "generator.nofile",
        "kernel.modules_disabled",
        "net.ipv4",
    ],
)
def test_a_setting_that_is_none_is_wrong(machine: Machine, name: str):
    with pytest.raises(WrongInputError):
        host_setting(name, machine=machine)


def test_every_known_setting_describes_itself(machine: Machine):
    known = list(all_known(machine=machine))
    assert len({setting.name for setting in known}) == len(known)
    for setting in known:
        assert setting.about
        assert setting.source.startswith("https://")
        assert setting.levels.choices
        value = setting.read()
        if isinstance(value, str) and not isinstance(setting.levels, Whole):
            assert setting.check(value)
        assert host_setting(setting.name, machine=machine).about == setting.about


def test_every_known_setting_is_in_the_document(machine: Machine):
    text = (Path(__file__).parents[2] / "docs/host-settings.md").read_text()
    assert [
        each.name for each in all_known(machine=machine) if f"| `{each.name}` |" not in text
    ] == []


def test_only_the_cache_that_the_kernel_no_longer_flushes_is_unsafe(machine: Machine):
    unsafe = [setting.name for setting in all_known(machine=machine) if setting.unsafe_levels]
    assert unsafe == ["queue.write_cache"]
    setting = host_setting("queue.sda.write_cache", machine=machine)
    assert setting.unsafe("write through")
    assert not setting.unsafe("write back")


# -- what goes together ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"vm.dirty_ratio": "30", "vm.dirty_bytes": "8192"}, "exclude each other"),
        ({"vm.dirty_background_ratio": "20"}, "must be below host.vm.dirty_ratio (20)"),
        ({"vm.dirty_ratio": "10"}, "must be below"),
        ({"vm.dirty_ratio": "30", "vm.dirty_background_ratio": "40"}, "must be below"),
    ],
)
def test_sysctls_that_do_not_go_together_are_told(
    machine: Machine, wanted: dict[str, str], said: str
):
    messages = [message for _, message in sysctl.problems(wanted, machine)]
    assert len(messages) == 1
    assert said in messages[0]


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"vm.swappiness": "1"},
        {"vm.dirty_ratio": "30", "vm.dirty_background_ratio": "29"},
        {"vm.dirty_bytes": "8192"},
        {"vm.dirty_bytes": "100000", "vm.dirty_background_ratio": "90"},
    ],
)
def test_sysctls_that_go_together_are_fine(machine: Machine, wanted: dict[str, str]):
    assert list(sysctl.problems(wanted, machine)) == []


# -- which disk --------------------------------------------------------------------------------


@pytest.mark.parametrize(("device", "disk"), [("8:0", "sda"), ("8:1", "sda"), ("252:0", "sda")])
def test_partitions_and_layers_are_followed_to_the_disk(
    machine: Machine, tmp_path: Path, device: str, disk: str
):
    assert disk_below(tmp_path, machine, lambda _: device) == disk


def test_a_device_of_several_disks_asks_for_one_of_them(machine: Machine, tmp_path: Path):
    found = disk_below(tmp_path, machine, lambda _: "252:1")
    assert isinstance(found, Absent)
    assert "sda, sda1" in found.reason


def test_a_loop_device_is_followed_to_the_disk_of_its_file(machine: Machine, tmp_path: Path):
    image = tmp_path / "image"
    loop = machine.at("/sys/devices/virtual/loop0")
    (loop / "loop").mkdir(parents=True)
    (loop / "loop/backing_file").write_text(f"{image}\n")
    for link in ("/sys/dev/block/7:0", "/sys/class/block/loop0"):
        machine.at(link).symlink_to(loop)
    devices = {image: "8:1"}
    assert disk_below(tmp_path, machine, lambda path: devices.get(path, "7:0")) == "sda"


def test_a_loop_on_itself_is_no_endless_loop(machine: Machine, tmp_path: Path):
    loop = machine.at("/sys/devices/virtual/loop0")
    (loop / "loop").mkdir(parents=True)
    (loop / "loop/backing_file").write_text(f"{tmp_path}\n")
    for link in ("/sys/dev/block/7:0", "/sys/class/block/loop0"):
        machine.at(link).symlink_to(loop)
    found = disk_below(tmp_path, machine, lambda _: "7:0")
    assert isinstance(found, Absent)


def test_a_file_system_without_a_disk_says_so(machine: Machine):
    found = disk_below(Path("/proc"), machine, lambda _: None)
    assert isinstance(found, Absent)
    assert "kind proc" in found.reason


@pytest.mark.parametrize(
    ("target", "folder"),
    [
        ({"engine": "postgresql"}, Path("/var/tmp")),
        ({"engine": "postgresql", "data": "/srv"}, Path("/srv")),
        (
            {"engine": "postgresql", "data": "/srv", "storage": StorageSpec(data="loop:ext4")},
            Path("/srv"),
        ),
        ({"engine": "postgresql", "storage": StorageSpec(data="folder:/mnt/a")}, Path("/mnt/a")),
    ],
)
def test_the_disk_is_that_of_the_folder_that_holds_the_data(
    target: dict[str, object], folder: Path
):
    assert data_folder(TargetSpec.model_validate(target)) == folder


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"engine": "postgresql", "storage": StorageSpec(data="tmpfs:size=1GB")}, "in memory"),
        ({"engine": "postgresql", "server": "postgresql://db/x"}, "another address"),
    ],
)
def test_data_that_lie_on_no_disk_here_have_no_queue(
    machine: Machine, target: dict[str, object], said: str
):
    data = data_folder(TargetSpec.model_validate(target))
    reason = queue_setting("queue.scheduler", data, machine).unavailable()
    assert reason is not None
    assert said in reason


# -- lists of processors -----------------------------------------------------------------------


@given(st.sets(st.integers(0, cpulist.LARGEST_CPU), min_size=1, max_size=40))
def test_a_list_of_processors_is_read_as_it_is_written(cpus: set[int]):
    text = cpulist.shown(cpus)
    assert cpulist.parse(text) == cpus
    assert cpulist.shown(cpulist.parse(text)) == text


@given(st.text(max_size=12))
def test_any_text_is_a_list_of_processors_or_a_value_error(text: str):
    try:
        found = cpulist.parse(text)
    except ValueError:
        return
    assert found
