"""A tree of files that stands for a machine with counters and sensors of power."""

from __future__ import annotations

from pathlib import Path

NESTED = "sys/devices/virtual/powercap"
FLAT = "sys/class/powercap"
HWMON = "sys/class/hwmon"
PACKAGE_RANGE_UJ = 262_143_328_850


def zone(
    root: Path, path: str, name: str, *, range_uj: int | None = PACKAGE_RANGE_UJ, uj: int = 0
) -> Path:
    """Adds a zone of powercap: nested folder and flat link, as the kernel has both.

    Args:
        root: Of the tree.
        path: `intel-rapl/intel-rapl:0/intel-rapl:0:0`.
        name: `package-0`.
        range_uj: Where its counter begins again; None: there is no such file.
        uj: Its counter.
    """
    folder = root / NESTED / path
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{uj}\n")
    (folder / "enabled").write_text("0\n")
    if range_uj is not None:
        (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    (root / FLAT).mkdir(parents=True, exist_ok=True)
    (root / FLAT / folder.name).symlink_to(folder)
    return folder


def chip(root: Path, number: int, driver: str, **files: str) -> Path:
    """Adds a chip of hwmon.

    Args:
        root: Of the tree.
        number: Of its folder.
        driver: Its name.
        **files: Name: text, as `power1_input="12000000"`.
    """
    folder = root / HWMON / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{driver}\n")
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")
    return folder


def sockets(root: Path, *packages: int) -> None:
    """Says of each processor, in order, which socket it is in."""
    for cpu, package in enumerate(packages):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")


def seven_zones(root: Path) -> dict[str, Path]:
    """The zones of one processor of a laptop: name of the channel, and its folder."""
    rapl, mmio = "intel-rapl/intel-rapl:0", "intel-rapl-mmio/intel-rapl-mmio:0"
    return {
        "package-0": zone(root, rapl, "package-0"),
        "core": zone(root, f"{rapl}/intel-rapl:0:0", "core"),
        "uncore": zone(root, f"{rapl}/intel-rapl:0:1", "uncore"),
        "psys": zone(root, "intel-rapl/intel-rapl:1", "psys"),
        "package-0@intel-rapl-mmio:0": zone(root, mmio, "package-0"),
    }
