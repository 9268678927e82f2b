"""What the machine is made of beyond processor and disks: memory modules, firmware, its settings.

No serial number and no asset tag is read: a result may be given to others.
"""

from __future__ import annotations

import subprocess

from loadstone.host import cpu, power_limit
from loadstone.host.machine import THIS_MACHINE, Machine, read

_TOOL_LIMIT_S = 5.0
_MODULE = ("Size", "Type", "Configured Memory Speed", "Manufacturer", "Part Number")
"""What is told of a memory module, in this order."""
_UNSAID = frozenset({"", "unknown", "not specified", "none", "no module installed"})
_DMI = {"vendor": "bios_vendor", "version": "bios_version", "date": "bios_date"}
_PRODUCT = {"maker": "sys_vendor", "product": "product_name", "board": "board_name"}
_PLAIN = frozenset({"enumeration", "integer"})
"""Kinds of a firmware's settings that are read; a text may hold anything."""


def memory_modules() -> dict[str, str]:
    """Slot: what is in it, as `16 GB DDR4 2933 MT/s Samsung M393A2K43`; by dmidecode(8), as root.

    Raises:
        OSError: If dmidecode is not there, or may not read.
        ValueError: If it knows of no module.
    """
    command = ["dmidecode", "-q", "-t", "17"]
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, timeout=_TOOL_LIMIT_S, check=True
        )
    except subprocess.SubprocessError as error:
        raise OSError("dmidecode cannot read the table of the firmware") from error
    found = parse_modules(told.stdout)
    if not found:
        raise ValueError("dmidecode shows no memory module")
    return found


def parse_modules(text: str) -> dict[str, str]:
    """What `dmidecode -t 17` prints, as slot: module; empty slots are left out."""
    found: dict[str, str] = {}
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if "Memory Device" not in (line.strip() for line in lines):
            continue
        fields = dict(_field(line) for line in lines if ":" in line)
        if _unsaid(fields.get("Size", "")):
            continue
        slot = fields.get("Locator", "") or f"slot {len(found)}"
        while slot in found:  # boards name the slots of each processor alike
            slot = f"{slot}, {fields.get('Bank Locator', 'another')}"
        found[slot] = " ".join(
            fields[name] for name in _MODULE if not _unsaid(fields.get(name, ""))
        )
    return found


def firmware(machine: Machine = THIS_MACHINE) -> dict[str, str]:
    """Maker, product, and the firmware's vendor, version and date; what is not told is left out.

    Raises:
        ValueError: If nothing is told.
    """
    folder = machine.at("/sys/class/dmi/id")
    named = {name: read(folder / file) for name, file in (_PRODUCT | _DMI).items()}
    found = {name: text for name, text in named.items() if isinstance(text, str) and text}
    if not found:
        raise ValueError("the kernel shows no table of the firmware")
    return found


def firmware_settings(machine: Machine = THIS_MACHINE) -> dict[str, str]:
    """The settings of the firmware (BIOS) that the kernel shows: choices and numbers, no texts.

    Source: https://docs.kernel.org/admin-guide/abi-testing.html (firmware-attributes).

    Raises:
        ValueError: If the machine's maker has no driver for them.
    """
    found: dict[str, str] = {}
    folder = machine.at("/sys/class/firmware-attributes")
    for attribute in sorted(folder.glob("*/attributes/*")):
        value = read(attribute / "current_value")
        if read(attribute / "type") in _PLAIN and isinstance(value, str):
            found[attribute.name] = value
    if not found:
        raise ValueError("the kernel shows no settings of the firmware")
    return found


def processor_settings(machine: Machine = THIS_MACHINE) -> dict[str, str]:
    """The settings of speed and power that the machine has: `cpu.governor`, `power.package_limit`.

    Args:
        machine: In tests another.

    Returns:
        Name, as `loadstone list host` has it without `host.`: present value.
    """
    known = (*cpu.all_known(machine), *power_limit.all_known(machine))
    readings = {setting.name: setting.read() for setting in known}
    return {name: value for name, value in readings.items() if isinstance(value, str)}


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), " ".join(value.split())


def _unsaid(text: str) -> bool:
    return text.lower() in _UNSAID
