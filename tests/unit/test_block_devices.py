"""What a device is called, from the kernel's files of disks that this machine has not."""

from __future__ import annotations

from pathlib import Path

from loadstone.host.block import BlockIdentity, identify
from loadstone.host.block_users import users_of
from loadstone.host.machine import Machine


def disk(root: Path) -> Path:
    """An NVMe disk with two partitions, of which a volume is made of the second."""
    whole = root / "sys/devices/pci0/nvme0n1"
    for name, number, text in (("nvme0n1p1", 1, "2048"), ("nvme0n1p2", 2, "4096")):
        (whole / name / "holders").mkdir(parents=True)
        (whole / name / "partition").write_text(f"{number}\n")
        (whole / name / "start").write_text(f"{text}\n")
        (whole / name / "size").write_text("2048\n")
    (whole / "nvme0n1p2/holders/dm-0").mkdir()
    (whole / "device").mkdir()
    (whole / "device/serial").write_text("S3Z8NB0K   \n")
    (whole / "diskseq").write_text("9\n")
    (whole / "size").write_text("1000\n")
    numbers = root / "sys/dev/block"
    numbers.mkdir(parents=True)
    for minor, path in enumerate((whole, whole / "nvme0n1p1", whole / "nvme0n1p2")):
        (numbers / f"259:{minor}").symlink_to(path)
    for folder in ("proc", "sys/block"):
        (root / folder).mkdir()
    return whole


def test_a_partition_has_the_serial_number_of_its_disk_and_a_place_on_it(tmp_path: Path) -> None:
    disk(tmp_path)
    found = identify("259:2", Machine(tmp_path))
    assert found == BlockIdentity(
        name="nvme0n1p2",
        number="259:2",
        size_bytes=2048 * 512,
        serial="S3Z8NB0K",
        partition="2 at 4096",
        disk_sequence="9",
    )
    assert found.lasting() == "S3Z8NB0K 2 at 4096 1048576"
    assert found.text() == "nvme0n1p2, serial number S3Z8NB0K, 1048576 bytes"


def test_what_uses_a_disk_and_its_partitions(tmp_path: Path) -> None:
    disk(tmp_path)
    machine = Machine(tmp_path)
    whole, first, second = (identify(f"259:{minor}", machine) for minor in range(3))
    assert users_of(whole, machine) == ["it has partitions: nvme0n1p1, nvme0n1p2"]
    assert users_of(first, machine) == []
    assert users_of(second, machine) == ["dm-0 is made of it"]


def test_a_mount_is_known_by_its_number_in_another_table(tmp_path: Path) -> None:
    disk(tmp_path)
    for pid, line in ((7, ""), (8, "20 1 259:1 / /data rw - ext4 /dev/gone rw\n")):
        process = tmp_path / f"proc/{pid}"
        process.mkdir()
        (process / "mountinfo").write_text(line)
        (process / "comm").write_text("sleep\n")
    machine = Machine(tmp_path)
    assert users_of(identify("259:1", machine), machine) == ["it is mounted at /data"]
    assert users_of(identify("259:2", machine), machine) == ["dm-0 is made of it"]
