"""What stands beside watts: the lab's own cost, clocks and idle states, temperatures."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from loadstone.host.machine import Machine
from loadstone.probes.counted import Counted
from loadstone.probes.own import OwnProbe
from loadstone.probes.processor_states import ProcessorStatesProbe
from loadstone.probes.temperature import TemperatureProbe


def counted(*readings: tuple[float, float]) -> Counted:
    found = Counted()
    for t_s, value in readings:
        found.add(t_s, {"n": value})
    return found


def test_a_rate_is_interpolated_between_the_readings_around_an_end() -> None:
    found = counted((0.0, 0.0), (1.0, 10.0), (2.0, 30.0), (3.0, 30.0))
    assert found.rates(0.5, 2.5)["n"] == pytest.approx((30.0 - 5.0) / 2.0)
    assert found.last_rates() == {"n": 0.0}


@pytest.mark.parametrize(
    ("readings", "from_s", "to_s"),
    [
        ((), 0.0, 1.0),
        (((0.0, 1.0),), 0.0, 1.0),
        (((0.0, 1.0), (1.0, 2.0)), 0.5, 2.0),  # a third of it is known
        (((0.0, 1.0), (1.0, 2.0)), 5.0, 6.0),
        (((0.0, 1.0), (1.0, 2.0)), 1.0, 1.0),
        (((0.0, 9.0), (1.0, 2.0)), 0.0, 1.0),  # a counter that fell
    ],
)
def test_there_is_no_rate_where_little_is_known(
    readings: tuple[tuple[float, float], ...], from_s: float, to_s: float
) -> None:
    assert counted(*readings).rates(from_s, to_s) == {}


def test_the_rest_of_an_interval_goes_on_as_what_was_seen_of_it() -> None:
    assert counted((0.0, 0.0), (8.0, 16.0)).rates(0.0, 10.0) == {"n": pytest.approx(2.0)}


class _Usage:
    """What getrusage would say."""

    def __init__(self, cpu_s: float, wakeups: int) -> None:
        self.ru_utime, self.ru_stime, self.ru_nvcsw = cpu_s * 0.75, cpu_s * 0.25, wakeups


@pytest.mark.parametrize(
    ("starts_others", "cpu_share", "wakeups"), [(False, 0.03, 30.0), (True, 0.01, 20.0)]
)
def test_what_the_lab_takes_counts_programs_that_ended_if_they_are_its_own(
    monkeypatch: pytest.MonkeyPatch, starts_others: bool, cpu_share: float, wakeups: float
) -> None:
    now = {resource.RUSAGE_SELF: _Usage(1.0, 100), resource.RUSAGE_CHILDREN: _Usage(5.0, 50)}
    monkeypatch.setattr(resource, "getrusage", lambda who: now[who])
    probe = OwnProbe(starts_others=starts_others)
    probe.start()
    assert {each.metric for each in probe.sample(10.0)} == {"memory_bytes"}
    now = {resource.RUSAGE_SELF: _Usage(1.1, 300), resource.RUSAGE_CHILDREN: _Usage(5.2, 150)}
    metrics = {each.metric: each.value for each in probe.sample(20.0)}
    cost = probe.cost(10.0, 20.0)
    assert cost is not None
    assert cost.cpu_share == pytest.approx(cpu_share)
    assert cost.wakeups_per_s == pytest.approx(wakeups)
    assert metrics["cpu_percent"] == pytest.approx(100 * cpu_share)
    assert probe.cost(100.0, 110.0) is None


def test_a_helper_that_is_gone_is_passed_over() -> None:
    probe = OwnProbe(lambda: [2**22 + 1])
    probe.start()
    assert probe.sample(0.0)


def processors(root: Path, khz: int, c6_us: int) -> None:
    """Two processors; the second one has no clock of its own."""
    for cpu in (0, 1):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}"
        for depth, (name, us) in enumerate((("POLL", 10), ("C6", c6_us * (cpu + 1)))):
            state = folder / f"cpuidle/state{depth}"
            state.mkdir(parents=True, exist_ok=True)
            (state / "name").write_text(f"{name}\n")
            (state / "time").write_text(f"{us}\n")
    (root / "sys/devices/system/cpu/cpu0/cpufreq").mkdir(exist_ok=True)
    (root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").write_text(f"{khz}\n")


def test_clocks_and_idle_states_are_means_over_the_processors(tmp_path: Path) -> None:
    processors(tmp_path, 3_000_000, 0)
    probe = ProcessorStatesProbe(Machine(tmp_path))
    probe.start()
    probe.sample(0.0)
    processors(tmp_path, 1_000_000, 1_000_000)
    metrics = {each.metric: each.value for each in probe.sample(2.0)}
    assert metrics["frequency_mhz"] == 1000
    assert metrics["idle_C6_share"] == pytest.approx(0.75)  # 1 s and 2 s of 2 s
    states = probe.states(0.0, 2.0)
    assert states is not None
    assert states.frequency_mhz == 2000
    assert states.idle == {"POLL": 0.0, "C6": pytest.approx(0.75)}


def test_a_machine_that_tells_neither_has_no_states(tmp_path: Path) -> None:
    probe = ProcessorStatesProbe(Machine(tmp_path))
    probe.start()
    assert probe.sample(1.0) == []
    assert probe.states(0.0, 1.0) is None


def sensors(root: Path) -> None:
    files = {
        "hwmon/hwmon0/name": "coretemp",
        "hwmon/hwmon0/temp1_input": "51000",
        "hwmon/hwmon0/temp1_label": "Package id 0",
        "hwmon/hwmon0/temp2_input": "0",  # never says anything else
        "hwmon/hwmon1/name": "nvme",
        "hwmon/hwmon1/temp1_input": "-273150",
        "hwmon/hwmon1/temp2_input": "none",
        "hwmon/hwmon2/name": "nvme",
        "hwmon/hwmon2/temp1_input": "38850",
        "thermal/thermal_zone0/type": "x86_pkg_temp",
        "thermal/thermal_zone0/temp": "50000",
    }
    for path, text in files.items():
        file = root / "sys/class" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")


def test_each_sensor_of_temperature_has_a_name_and_sentinels_are_none(tmp_path: Path) -> None:
    sensors(tmp_path)
    probe = TemperatureProbe(Machine(tmp_path))
    probe.start()
    probe.sample(1.0)
    (tmp_path / "sys/class/hwmon/hwmon0/temp1_input").write_text("61000\n")
    told = {each.metric: each.value for each in probe.sample(2.0)}
    assert told["celsius:coretemp Package id 0"] == 61
    assert "celsius:nvme temp1" not in told
    found = {each.sensor: each for each in probe.over(0.0, 5.0)}
    assert set(found) == {"coretemp Package id 0", "nvme temp1 (2)", "zone x86_pkg_temp"}
    package = found["coretemp Package id 0"]
    assert (package.mean_celsius, package.most_celsius) == (56, 61)
    assert all(each.simulated for each in found.values())
    assert probe.over(7.0, 8.0) == []
