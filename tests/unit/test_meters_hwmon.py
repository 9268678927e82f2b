from __future__ import annotations

from pathlib import Path

import pytest
from power_tree import chip

from loadstone.errors import WrongInputError
from loadstone.host.machine import Denied
from loadstone.journal import Journal
from loadstone.meters.base import Channel, MeterError
from loadstone.meters.choice import Main, main_meter, offer_of
from loadstone.meters.hwmon import HwmonMeter, value_of
from loadstone.spec.meters import HwmonSpec


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    return Journal(tmp_path / "journal.jsonl", "loadstone run")


def opened(root: Path, journal: Journal, **fields: object) -> HwmonMeter:
    meter = HwmonMeter(HwmonSpec.model_validate(fields), root)
    meter.open(journal)
    return meter


def two_supplies(root: Path) -> None:
    for number, watts in ((0, 120), (1, 131)):
        folder = chip(
            *(root, number, "pmbus"),
            power1_input=f"{watts}000000",
            power1_label="pin",
            power2_input=f"{watts - 40}000000",
            power2_label="pout1",
            power3_input="30000000",
            power3_label="pout2",
        )
        device = root / f"sys/devices/i2c-1/1-005{number}"
        device.mkdir(parents=True)
        (folder / "device").symlink_to(device)


def test_sensors_are_read_in_microwatts(tmp_path: Path, journal: Journal) -> None:
    chip(tmp_path, 0, "power_meter", power1_average="319000000", power1_input="320500000")
    chip(tmp_path, 1, "amdgpu", power1_average="38000000", power1_label="slowPPT")
    chip(tmp_path, 2, "coretemp", temp1_input="45000")

    meter = opened(tmp_path, journal)

    assert {each.channel: each.value for each in meter.read()} == {
        "power_meter:power1": 320.5,
        "amdgpu:slowPPT": 38.0,
    }
    assert {each.name: each.scope for each in meter.channels()} == {
        "power_meter:power1": "board",
        "amdgpu:slowPPT": "gpu",
    }
    assert all(each.simulated for each in meter.channels())


def test_a_stated_scope_holds(tmp_path: Path, journal: Journal) -> None:
    chip(tmp_path, 0, "power_meter", power1_average="319000000", power1_average_interval="4000")

    (channel,) = opened(tmp_path, journal, scope="wall", accuracy="2%").channels()

    assert channel == Channel(
        *("power_meter:power1", "wall", "gauge"),
        mean_over_s=4.0,
        accuracy_percent=2.0,
        simulated=True,
    )


def test_the_input_of_a_supply_is_not_added_to_its_rails(tmp_path: Path, journal: Journal) -> None:
    two_supplies(tmp_path)
    meter = opened(tmp_path, journal, scope="wall")

    rails = {each.name: each.parts_of for each in meter.channels() if each.parts_of}

    assert rails == {
        f"pmbus-1-005{number}:pout{rail}": f"pmbus-1-005{number}:pin"
        for number in (0, 1)
        for rail in (1, 2)
    }
    with pytest.raises(WrongInputError, match="several channels of the scope wall"):
        main_meter([offer_of(meter)])


def test_two_supplies_are_added_where_the_experiment_says_so(
    tmp_path: Path, journal: Journal
) -> None:
    two_supplies(tmp_path)
    both = ["pmbus-1-0050:pin", "pmbus-1-0051:pin"]

    offer = offer_of(opened(tmp_path, journal, scope="wall", sum=both))

    assert main_meter([offer]) == Main("hwmon", "wall", tuple(both))


def test_a_sum_of_a_whole_and_its_part_is_refused(tmp_path: Path, journal: Journal) -> None:
    two_supplies(tmp_path)
    doubled = ["pmbus-1-0050:pin", "pmbus-1-0050:pout1"]

    with pytest.raises(WrongInputError, match="is a part of pmbus-1-0050:pin"):
        offer_of(opened(tmp_path, journal, scope="wall", sum=doubled))


def battery(root: Path, state: str) -> Path:
    """A battery as the kernel shows it among the sensors, with its own folder as the device."""
    folder = chip(root, 0, "BAT0", power1_input="15000000")
    device = root / "sys/devices/BAT0"
    device.mkdir(parents=True)
    (device / "type").write_text("Battery\n")
    (device / "status").write_text(f"{state}\n")
    (folder / "device").symlink_to(device)
    return device


def test_a_battery_is_a_meter_of_the_machine_while_it_gives(
    tmp_path: Path, journal: Journal
) -> None:
    """Case of nokyan/resources#313: plugged in, 80 W of charging were shown as the machine's."""
    device = battery(tmp_path, "Discharging")
    meter = opened(tmp_path, journal)

    assert [each.scope for each in meter.channels()] == ["platform"]
    assert [each.value for each in meter.read()] == [15.0]
    (device / "status").write_text("Charging\n")
    (reading,) = meter.read()
    assert reading.invalid.startswith("the battery is charging: it shows the power of the machine")


@pytest.mark.parametrize("state", ["Charging", "Full", "Not charging", "Unknown"])
def test_a_battery_that_does_not_give_is_none(tmp_path: Path, journal: Journal, state: str) -> None:
    battery(tmp_path, state)

    (found,) = HwmonMeter.found(tmp_path)
    assert found.missing.startswith(f"the battery is {state.lower()}: ")
    with pytest.raises(MeterError, match="the battery is"):
        opened(tmp_path, journal)


def test_no_sensors_is_told(tmp_path: Path, journal: Journal) -> None:
    chip(tmp_path, 0, "coretemp", temp1_input="45000")

    with pytest.raises(MeterError, match="has no sensor of power"):
        opened(tmp_path, journal)
    (found,) = HwmonMeter.found(tmp_path)
    assert "has no sensor of power" in found.missing


def test_an_unknown_sensor_is_refused(tmp_path: Path, journal: Journal) -> None:
    chip(tmp_path, 0, "power_meter", power1_average="319000000")

    with pytest.raises(WrongInputError, match="no channel 'psu:pin'"):
        opened(tmp_path, journal, channels=["psu:pin"])


def test_sensors_that_this_machine_has_are_listed(tmp_path: Path) -> None:
    chip(tmp_path, 0, "power_meter", power1_average="319000000")

    (found,) = HwmonMeter.found(tmp_path)

    assert (found.channel, found.scope, found.missing) == ("power_meter:power1", "board", "")
    assert found.what == "power of power1 of power_meter (power1_average)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4294967295000", "4294967295000 stands for no reading"),
        ("4294967295", "4294967295 stands for no reading"),
        ("-1", "-1 stands for no reading"),
        ("nan", "nan stands for no reading"),
        ("-27100000", "a negative power"),
        ("N/A", "no number"),
        ("319000000000", "more than 100 kW: the driver's unit may be wrong by 1000"),
    ],
)
def test_what_stands_for_no_reading_is_none(text: str, why: str) -> None:
    assert value_of(text) == (0.0, why)


def test_a_reading_that_repeats_is_one(tmp_path: Path, journal: Journal) -> None:
    chip(tmp_path, 0, "power_meter", power1_average="319000000")
    meter = opened(tmp_path, journal)

    readings = [*meter.read(), *meter.read()]

    assert [(each.value, each.invalid) for each in readings] == [(319.0, "")] * 2
    assert value_of(Denied("it may not be read")) == (0.0, "it may not be read")
