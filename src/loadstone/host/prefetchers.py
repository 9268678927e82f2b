"""Hardware prefetchers of Intel's processors: four bits of a model-specific register.

Bits that are set switch a prefetcher off. The other bits are reserved and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.host.levels import OneOf
from loadstone.host.machine import THIS_MACHINE, Absent, Machine, Reading
from loadstone.host.registers import read_register, register_of, write_register
from loadstone.host.settings import EARLY, HostSetting, one

ALL = "cpu.prefetchers"
REGISTER = 0x1A4
_BITS = {
    "l2": (0x1, "streams of lines into the second cache"),
    "l2_adjacent": (0x2, "the other line of a pair into the second cache"),
    "l1": (0x4, "the next line into the first data cache"),
    "l1_ip": (0x8, "by the addresses that an instruction loaded before, into the first data cache"),
}
"""Prefetcher: its bit, and what it fetches."""
ONE = "cpu.prefetcher"
EACH = tuple(f"{ONE}.{name}" for name in _BITS)
SOURCE = (
    "https://www.intel.com/content/www/us/en/developer/articles/technical/"
    "disclosure-of-hw-prefetcher-control-on-some-intel-processors.html"
)
_FIELD = re.compile(r"^(vendor_id|cpu family|model)\s*:\s*(\S+)\s*$", re.MULTILINE)
_XEON_PHI = ("87", "133")
"""Models (of family 6) in which the bits mean something else."""
_FAMILY = "6"


@dataclass(frozen=True)
class Prefetchers(HostSetting):
    """One prefetcher, or all four, on every processor."""

    mask: int = 0
    machine: Machine = THIS_MACHINE

    @property
    def register(self) -> int:
        """The one that holds the bits."""
        return REGISTER

    def files(self) -> list[Path] | Absent:
        """The device of each processor that is online."""
        if reason := _unknown(self.machine):
            return Absent(reason)
        return [
            self.machine.at(f"/dev/cpu/{cpu}/msr")
            for cpu in sorted(self.machine.cpus("online") or {0})
        ]

    def read(self) -> Reading:
        """`on`, `off`, or which of the four are off."""
        found = self.files()
        if isinstance(found, Absent):
            return found
        seen = []
        for path in found:
            value = read_register(path, self.register)
            if not isinstance(value, str):
                return value
            seen.append((path, self.shown(value)))
        return one(seen)

    def shown(self, value: str) -> str:
        """What the bits say."""
        bits = int(value, 16) & self.mask
        if bits in (0, self.mask):
            return "off" if bits else "on"
        return "off: " + ", ".join(name for name, (bit, _) in _BITS.items() if bits & bit)

    def set(self, text: str) -> None:
        """Changes the bits and leaves the rest of the register."""
        for path in self._written_files():
            try:
                rest = register_of(path, self.register) & ~self.mask
                write_register(path, self.register, rest | (self.mask if text == "off" else 0))
            except OSError as error:
                raise TargetError(
                    f"host.{self.name} cannot be set to {text!r}: {path}: {error.strerror}",
                    advice="a hypervisor, or a kernel in lockdown, refuses registers",
                ) from error

    def probed(self, path: Path) -> bool:
        """A device takes no text."""
        return False


def known(machine: Machine) -> dict[str, HostSetting]:
    """All four together, and each of them."""
    on_off = OneOf(("on", "off"))
    every = sum(bit for bit, _ in _BITS.values())
    found: dict[str, HostSetting] = {
        ALL: Prefetchers(
            ALL, "all four prefetchers", on_off, SOURCE, EARLY + 6, mask=every, machine=machine
        )
    }
    for name, (bit, fetches) in _BITS.items():
        full, about = f"{ONE}.{name}", f"prefetcher: {fetches}"
        found[full] = Prefetchers(full, about, on_off, SOURCE, EARLY + 7, mask=bit, machine=machine)
    return found


def problems(wanted: dict[str, str]) -> Iterator[tuple[str, str]]:
    """One prefetcher beside all of them."""
    for name in wanted:
        if ALL in wanted and name in EACH:
            yield name, f"host.{name} and host.{ALL} exclude each other: name one of them"


def _unknown(machine: Machine) -> str:
    """Why the register of this processor is not known; empty if it is."""
    try:
        text = machine.at("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return f"{machine.at('/proc/cpuinfo')} cannot be read, so the processor is not known"
    first = text.partition("\n\n")[0]
    said = dict(_FIELD.findall(first))
    if said.get("vendor_id") != "GenuineIntel":
        vendor = said.get("vendor_id", "unknown")
        return f"the prefetchers of this maker's processors ({vendor}) are not known to Loadstone"
    if said.get("cpu family") != _FAMILY or said.get("model") in _XEON_PHI:
        return "the register of this processor's prefetchers is not known to Loadstone"
    if machine.at("/sys/devices/cpu_atom").exists():
        return "the processor has cores of two kinds, whose registers differ"
    return ""
