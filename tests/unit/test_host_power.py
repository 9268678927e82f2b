"""Host settings of speed and power on a made-up server: read, set, read back, put back."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_machine import fake_machine, texts
from fake_power import fake_server, prefetchers_of
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import TargetError, WrongInputError
from loadstone.host import cpu, settings
from loadstone.host.frequency import CLOCK
from loadstone.host.machine import Machine, write
from loadstone.host.registry import host_setting
from loadstone.host.state import HostState
from loadstone.journal import Journal, open_journals
from loadstone.report.differences import _is_declared
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec

TARGET = TargetSpec(engine="none")
CHANGES: dict[str, tuple[str, Level, str]] = {
    "cpu.pstate_mode": ("active", "passive", "passive"),
    "cpu.energy_preference": ("balance_performance", "power", "power"),
    "cpu.max_freq": ("3700MHz", "2.4GHz", "2400MHz"),
    "cpu.min_freq": ("800MHz", "1200 MHz", "1200MHz"),
    "cpu.deepest_idle": ("C6", "C1", "C1"),
    "cpu.prefetchers": ("on", "off", "off"),
    "power.package_limit": ("205W", "150.5W", "150.5W"),
    "power.package_window": ("27.983872s", "10s", "10s"),
    "power.package_short_limit": ("246W", "180W", "180W"),
    "power.package_short_window": ("0.007808s", "20ms", "0.02s"),
    "hugepages.2MB": ("0", 512, "512"),
}
"""Setting: what the server has, a level, and how that reads back."""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return fake_server(tmp_path / "machine")


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as journal:
        yield journal


@pytest.fixture
def state(machine: Machine, journal: Journal, tmp_path: Path) -> HostState:
    return HostState(journal, machine, tmp_path)


def set_back(state: HostState, name: str, level: Level) -> tuple[Level, Level | None]:
    """What a setting reads back, and what it was."""
    (reading,) = state.apply({name: level}, TARGET)
    return reading.read_back, reading.before


# -- each setting ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CHANGES, "cpu.idle.C1E", "cpu.prefetcher.l1_ip"])
def test_a_setting_is_set_read_back_and_put_back(machine: Machine, state: HostState, name: str):
    before, level, after = CHANGES.get(name, ("on", "off", "off"))
    assert host_setting(name, machine=machine).unavailable(level) is None
    files = texts(machine)
    assert set_back(state, name, level) == (after, before)
    assert texts(machine) != files
    state.put_back()
    assert texts(machine) == files


def test_all_of_them_survive_a_kill_and_are_recovered(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    files = texts(machine)
    levels = {name: level for name, (_, level, _) in CHANGES.items()}
    words = [sys.executable, "-c", _KILLED, str(tmp_path), str(machine.root), repr(levels)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert prefetchers_of(machine, 3) == 0x2F  # the reserved bit is as it was
    (left,) = open_journals()
    failures: list[Exception | None] = []
    assert left.recover(lambda _, error: failures.append(error))
    assert failures == [None] * len(CHANGES)
    assert texts(machine) == files


_KILLED = """
import ast, os, signal, sys
from pathlib import Path
from loadstone.journal import Journal
from loadstone.spec.target import TargetSpec
from loadstone.host.machine import Machine
from loadstone.host.state import HostState
folder, root = map(Path, sys.argv[1:3])
state = HostState(Journal(folder / "killed.jsonl", "killed"), Machine(root), folder)
state.apply(ast.literal_eval(sys.argv[3]), TargetSpec(engine="none"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_register_that_cannot_be_reached_stays_in_the_journal(
    machine: Machine, state: HostState, journal: Journal
):
    set_back(state, "cpu.prefetchers", "off")
    device = machine.at("/dev/cpu/2/msr")
    device.rename(device.with_name("gone"))
    with pytest.raises(ExceptionGroup) as caught:
        state.put_back()
    assert "modprobe msr" in str(caught.value.exceptions[0])
    device.with_name("gone").rename(device)
    journal.close()
    assert prefetchers_of(machine, 2) == 0x20


def test_one_prefetcher_leaves_the_others(machine: Machine, state: HostState):
    assert set_back(state, "cpu.prefetcher.l2_adjacent", "off") == ("off", "on")
    assert prefetchers_of(machine, 0) == 0x22
    assert host_setting("cpu.prefetchers", machine=machine).read() == "off: l2_adjacent"


def test_deeper_states_are_off_on_every_processor(machine: Machine, state: HostState):
    set_back(state, "cpu.deepest_idle", "C1")
    switches = [
        machine.at(f"/sys/devices/system/cpu/cpu{number}/cpuidle/state{depth}/disable").read_text()
        for number in range(4)
        for depth in range(4)
    ]
    assert switches == ["0\n", "0\n", "1\n", "1\n"] * 4


def test_processors_that_sleep_otherwise_are_told_with_their_numbers(tmp_path: Path):
    machine = fake_server(
        tmp_path,
        cpu3__cpuidle__state3__disable="1\n",
        cpu2__cpuidle__state1__disable="1\n",
    )
    assert (
        host_setting("cpu.deepest_idle", machine=machine).read()
        == "C6 (cpu 0-1); only POLL, C1E, C6 (cpu 2); C1E (cpu 3)"
    )
    assert host_setting("cpu.idle.C6", machine=machine).read() == "on (cpu 0-2); off (cpu 3)"


# -- what the machine makes of it --------------------------------------------------------------


@dataclass(frozen=True)
class Bounded:
    """A level that the machine bounds: what it writes instead, and what is said."""

    name: str
    level: str
    made: str
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Bounded(
            "power.package_limit", "500W", "270000000", "reads back '270W': the machine bounds it"
        ),
        Bounded(
            *("cpu.max_freq", "3GHz", "2400000"),
            "reads back '2400MHz': the driver or the firmware bounds it",
        ),
    ],
    ids=lambda case: case.name,
)
def test_a_level_that_the_machine_bounds_is_an_error_with_both_figures(
    machine: Machine, state: HostState, monkeypatch: pytest.MonkeyPatch, case: Bounded
):
    monkeypatch.setattr(settings, "write", lambda path, _: write(path, case.made))
    files = texts(machine)
    with pytest.raises(TargetError) as caught:
        state.apply({case.name: case.level}, TARGET)
    assert caught.value.message.endswith(case.said)
    assert texts(machine) == files


@pytest.mark.parametrize(
    ("name", "asked", "seen", "is_it"),
    [
        ("power.package_window", "10s", "9.99424s", True),
        ("power.package_window", "10s", "7.9s", False),
        ("power.package_window", "10s", "12s", False),
        ("power.package_limit", "125.3W", "125.25W", True),
        ("power.package_limit", "125W", "124W", False),
        ("power.package_limit", "125W", "intel-rapl:0: 125W, intel-rapl-mmio:0: 35W", False),
        ("cpu.max_freq", "2400MHz", "2399MHz", False),
    ],
)
def test_what_the_register_cuts_off_is_no_refusal(
    machine: Machine, name: str, asked: str, seen: str, is_it: bool
):
    assert host_setting(name, machine=machine).same(asked, seen) is is_it


def test_a_limit_is_written_to_each_interface_of_each_package(machine: Machine, state: HostState):
    set_back(state, "power.package_limit", "150W")
    written = machine.at("/sys/class/powercap").glob("*/constraint_0_power_limit_uw")
    assert [path.read_text() for path in written] == ["150000000\n"] * 3


def test_an_interface_whose_cap_is_off_is_left_alone(tmp_path: Path):
    machine = fake_server(
        tmp_path,
        **{
            "intel-rapl-mmio:0__enabled": "0\n",
            "intel-rapl-mmio:0__constraint_0_power_limit_uw": "15000000\n",
        },
    )
    assert host_setting("power.package_limit", machine=machine).read() == "205W"


def test_a_driver_of_another_mode_takes_everything_of_frequencies_with_it(
    machine: Machine, state: HostState
):
    """The kernel registers the driver anew, and all files of it begin at their defaults."""
    files = texts(machine)
    state.apply({"cpu.pstate_mode": "passive"}, TARGET)
    for path, text in (
        ("policy0/scaling_governor", "schedutil"),
        ("policy1/scaling_max_freq", "2000000"),
        ("../intel_pstate/no_turbo", "1"),
    ):
        write(machine.at(f"/sys/devices/system/cpu/cpufreq/{path}"), text)
    state.put_back()
    assert texts(machine) == files


# -- what is absent ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "name", "level", "said"),
    [
        ({"intel_pstate__status": None}, "cpu.pstate_mode", None, "another driver"),
        ({}, "cpu.pstate_mode", "guided", "has no guided mode"),
        (
            {"energy_performance_preference": None},
            "cpu.energy_preference", None, "takes no such hint",
        ),
        (
            {"energy_performance_available_preferences": "performance power\n"},
            "cpu.energy_preference", "balance_power", "offers only performance, power",
        ),
        ({}, "cpu.max_freq", "3.8GHz", "goes from 800MHz to 3700MHz"),
        ({"scaling_min_freq": None}, "cpu.min_freq", None, "cannot be limited here"),
        ({"disable": None}, "cpu.deepest_idle", None, "sees no idle states"),
        ({"cpu2__cpuidle__state3__name": None}, "cpu.deepest_idle", "C6", "cpu2 has only"),
        ({}, "cpu.idle.C10", None, "an idle state C10; there are POLL, C1, C1E, C6"),
        ({"msr": None}, "cpu.prefetchers", None, "modprobe msr"),
        ({"proc__cpuinfo": "vendor_id : AuthenticAMD\n"}, "cpu.prefetchers", None, "AuthenticAMD"),
        (
            {"proc__cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 87\n"},
            "cpu.prefetcher.l1", None, "is not known to Loadstone",
        ),
        ({"constraint_0_name": None}, "power.package_limit", None, "its power not limited"),
        ({"enabled": "0\n"}, "power.package_limit", None, "the cap is switched off"),
        (
            {"constraint_1_time_window_us": "2440\n"},
            "power.package_short_window", "10ms", "says 2440 us, which the kernel cannot write",
        ),
    ],
)  # fmt: skip
def test_what_the_server_has_not_is_told_with_the_reason(
    tmp_path: Path, change: dict[str, str | None], name: str, level: str | None, said: str
):
    machine = fake_server(tmp_path, **change)
    reason = host_setting(name, machine=machine).unavailable(level)
    assert reason is not None
    assert reason.startswith(("absent: ", "denied: "))
    assert said in reason


def test_a_virtual_machine_has_none_of_them(tmp_path: Path):
    machine = fake_machine(tmp_path)
    reasons = {name: host_setting(name, machine=machine).unavailable() or "" for name in CHANGES}
    assert all(reason.startswith("absent: ") for reason in reasons.values()), reasons
    assert "usual in a virtual machine" in reasons["power.package_limit"]


# -- what is taken -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "level", "choices"),
    [
        ("cpu.max_freq", 2400, "a frequency with its unit, from 100MHz to 10000MHz"),
        ("cpu.max_freq", "24GHz", "to 10000MHz"),
        ("cpu.min_freq", "fast", "such as 2400MHz"),
        ("cpu.energy_preference", "default", "performance, balance_performance"),
        ("cpu.pstate_mode", "off", "active, passive, guided"),
        ("cpu.deepest_idle", "C7", "one of POLL, C1, C1E, C6"),
        ("cpu.prefetchers", "l2", "one of on, off"),
        ("cpu.idle.C6", "deep", "one of on, off"),
        ("power.package_limit", 125, "power with its unit, from 1W to 2000W, such as 125W"),
        ("power.package_limit", True, "such as 125W"),
        ("power.package_window", "2ms", "from 0.004s to 120s"),
    ],
)
def test_a_wrong_level_names_what_is_taken(machine: Machine, name: str, level: Level, choices: str):
    with pytest.raises(WrongInputError) as caught:
        host_setting(name, machine=machine).check(level)
    assert caught.value.message.startswith(f"host.{name} takes ")
    assert choices in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["cpu.prefetcher.l3", "cpu.idle.", "cpu.idle.a/b", "power.limit"])
def test_a_setting_that_is_none_is_wrong(machine: Machine, name: str):
    with pytest.raises(WrongInputError, match=r"there is no host\."):
        host_setting(name, machine=machine)


@given(st.integers(CLOCK.least, CLOCK.most), st.sampled_from(["MHz", "GHz", "kHz"]))
def test_a_frequency_is_read_as_it_is_written(khz: int, unit: str):
    text = CLOCK.text(f"{khz / dict(CLOCK.units)[unit]:.6f}{unit}")
    assert CLOCK.count(text) == khz
    assert CLOCK.text(text) == text
    assert CLOCK.same(text, text)


# -- what goes together ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"cpu.min_freq": "3000MHz", "cpu.max_freq": "2000MHz"}, "must not be above"),
        ({"cpu.min_freq": "3800MHz"}, "above host.cpu.max_freq (3700MHz)"),
        ({"cpu.max_freq": "700MHz"}, "host.cpu.min_freq (800MHz) must not be above"),
        (
            {"cpu.governor": "performance", "cpu.energy_preference": "power"},
            "does not go with the governor performance",
        ),
        ({"cpu.deepest_idle": "C1", "cpu.idle.C6": "on"}, "exclude each other"),
        ({"cpu.prefetchers": "off", "cpu.prefetcher.l1": "on"}, "exclude each other"),
    ],
)
def test_settings_that_do_not_go_together_are_told(
    machine: Machine, wanted: dict[str, str], said: str
):
    messages = [message for _, message in cpu.problems(wanted, machine)]
    assert len(messages) == 1
    assert said in messages[0]


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"cpu.energy_preference": "power"},
        {"cpu.governor": "performance", "cpu.energy_preference": "performance"},
        {
            "cpu.pstate_mode": "passive",
            "cpu.governor": "performance",
            "cpu.energy_preference": "power",
        },
        {"cpu.min_freq": "2000MHz", "cpu.max_freq": "2000MHz"},
        {"cpu.idle.C6": "off", "cpu.idle.C1E": "off"},
        {"cpu.prefetcher.l1": "off", "cpu.prefetcher.l2": "off"},
    ],
)
def test_settings_that_go_together_are_fine(machine: Machine, wanted: dict[str, str]):
    assert list(cpu.problems(wanted, machine)) == []


def test_a_preference_that_the_present_governor_refuses_is_told(tmp_path: Path):
    machine = fake_server(tmp_path)
    for path in machine.at("/sys/devices/system/cpu/cpufreq").glob("*/scaling_governor"):
        path.write_text("performance\n")
    (found,) = cpu.problems({"cpu.energy_preference": "balance_power"}, machine)
    assert found[0] == "cpu.energy_preference"
    assert (
        list(cpu.problems({"cpu.energy_preference": "power", "cpu.governor": "powersave"}, machine))
        == []
    )


@pytest.mark.parametrize(
    ("factor", "fact", "told"),
    [
        ("host.cpu.max_freq", "cpu.max_freq", False),
        ("host.cpu.governor", "cpu.energy_preference", False),
        ("host.cpu.governor", "cpu.deepest_idle", True),
        ("host.cpu.idle.C6", "cpu.deepest_idle", False),
        ("host.cpu.prefetcher.l1", "cpu.prefetchers", False),
        ("host.cpu.prefetcher.l1", "cpu.prefetcher.l2", True),
        ("host.cpu.prefetchers", "cpu.prefetcher.l2", False),
        ("host.power.package_limit", "power.package_limit", False),
        ("host.power.package_limit", "power.package_window", True),
    ],
)
def test_a_comparison_tells_only_what_a_factor_does_not_move(factor: str, fact: str, told: bool):
    assert _is_declared(f"host.processor_settings.{fact}", {factor}) is not told
