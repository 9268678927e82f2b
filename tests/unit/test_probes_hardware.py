"""Memory modules, firmware and settings of processors, as they enter the inventory of a trial."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_machine import fake_machine
from fake_power import fake_server

from loadstone.host.machine import Machine
from loadstone.probes import hardware

DMIDECODE = """\
Memory Device
\tArray Handle: 0x1000
\tSize: 16 GB
\tForm Factor: DIMM
\tLocator: DIMM_A1
\tBank Locator: NODE 0
\tType: DDR4
\tSpeed: 3200 MT/s
\tManufacturer: Maker
\tSerial Number: 4711-SECRET
\tAsset Tag: OWNER
\tPart Number: M393A2K43DB3-CWE
\tConfigured Memory Speed: 2933 MT/s

Memory Device
\tSize: No Module Installed
\tLocator: DIMM_A2
\tBank Locator: NODE 0

Memory Device
\tSize: 16 GB
\tLocator: DIMM_A1
\tBank Locator: NODE 1
\tType: Unknown
\tManufacturer: Not Specified

Memory Device Mapped Address
\tSize: 16 GB
"""


def test_modules_are_told_by_slot_without_numbers_of_their_owner():
    assert hardware.parse_modules(DMIDECODE) == {
        "DIMM_A1": "16 GB DDR4 2933 MT/s Maker M393A2K43DB3-CWE",
        "DIMM_A1, NODE 1": "16 GB",
    }


@pytest.mark.parametrize(
    ("script", "error"), [("exit 1", OSError), ("echo nothing", ValueError), (None, OSError)]
)
def test_a_machine_without_modules_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, error: type[Exception]
):
    if script is not None:
        tool = tmp_path / "dmidecode"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}" if script else str(tmp_path)
    monkeypatch.setenv("PATH", path)
    with pytest.raises(error, match="dmidecode"):
        hardware.memory_modules()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    attributes = "/sys/class/firmware-attributes/maker/attributes"
    return fake_machine(
        tmp_path,
        {
            "/sys/class/dmi/id/sys_vendor": "Maker\n",
            "/sys/class/dmi/id/product_serial": "4711-SECRET\n",
            "/sys/class/dmi/id/bios_version": "1.2\n",
            f"{attributes}/Prefetch/type": "enumeration\n",
            f"{attributes}/Prefetch/current_value": "Enabled\n",
            f"{attributes}/Fans/type": "integer\n",
            f"{attributes}/Fans/current_value": "7\n",
            f"{attributes}/AssetTag/type": "string\n",
            f"{attributes}/AssetTag/current_value": "OWNER\n",
        },
    )


def test_firmware_is_told_without_serial_numbers(machine: Machine):
    assert hardware.firmware(machine) == {"maker": "Maker", "version": "1.2"}
    assert hardware.firmware_settings(machine) == {"Prefetch": "Enabled", "Fans": "7"}


def test_a_machine_without_tables_of_firmware_says_so(tmp_path: Path):
    machine = Machine(tmp_path)
    with pytest.raises(ValueError, match="no table"):
        hardware.firmware(machine)
    with pytest.raises(ValueError, match="no settings"):
        hardware.firmware_settings(machine)


def test_settings_of_speed_and_power_that_the_machine_has_are_told(tmp_path: Path):
    found = hardware.processor_settings(fake_server(tmp_path / "server"))
    assert found["cpu.deepest_idle"] == "C6"
    assert found["cpu.prefetchers"] == "on"
    assert found["power.package_limit"] == "205W"
    guest = hardware.processor_settings(fake_machine(tmp_path / "guest"))
    assert set(guest) == {"cpu.governor", "cpu.smt", "cpu.turbo", "cpu.online"}
