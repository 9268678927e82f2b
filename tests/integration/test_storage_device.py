"""A device as a target: what is refused before it is touched, and how it is held. Loop devices."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loadstone.errors import LoadstoneError, RefusedError, WrongInputError
from loadstone.experiments.preflight.check import check_experiment
from loadstone.host.block import number_of
from loadstone.journal import Journal
from loadstone.placements import loop
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.device import Device
from loadstone.targets.device.target import device_of
from loadstone.targets.registry import target_for

SIZE = 64 << 20
HOLD = "import sys; f = open(sys.argv[1], 'rb'); print('open', flush=True); sys.stdin.read()"


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """An empty one."""
    if os.getuid() != 0:
        pytest.skip("loop devices are made by root only")
    image, name = tmp_path / "disk.img", f"loadstone-test-{os.getpid()}"
    with image.open("wb") as file:
        file.truncate(SIZE)
    yield loop.attach(image, name)
    loop.detach({"name": name, "file": str(image)})


def named_twice(device: Path) -> TargetSpec:
    return TargetSpec(engine="device", data=str(device), settings={"erase": str(device)})


def refusal(device: Path) -> str:
    """What `plan` says of it."""
    spec = named_twice(device)
    with pytest.raises(LoadstoneError) as caught:
        target_for(spec).describe(spec)
    return caught.value.message


def run(*command: str | Path) -> None:
    subprocess.run([str(each) for each in command], check=True, capture_output=True)


@contextlib.contextmanager
def opened(spec: TargetSpec, folder: Path) -> Iterator[Device]:
    with Journal(folder / "journal.jsonl", "test") as journal:
        target = target_for(spec)(spec, TargetContext(journal, "test"))
        assert isinstance(target, Device)
        target.open()
        try:
            yield target
        finally:
            target.close()


def test_an_empty_one_is_described_and_left_as_it_is(device: Path) -> None:
    spec = named_twice(device)
    said = target_for(spec).describe(spec)["device"]
    assert device.name in said
    assert f"{SIZE} bytes" in said
    assert device.read_bytes() == bytes(SIZE)


def mbr(device: Path) -> None:
    """A partition table, as fdisk writes one: its first entry is Linux's, from sector 2048."""
    entry = struct.pack("<B3sB3sII", 0, b"", 0x83, b"", 2048, 1000)
    with device.open("r+b") as file:
        file.seek(446)
        file.write(entry.ljust(64, b"\0") + b"\x55\xaa")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda device: run("mkfs.ext4", "-q", device), "ext4"),
        (lambda device: run("mkswap", device), "swap"),
        (mbr, "dos"),
    ],
    ids=["file system", "swap space", "partition table"],
)
def test_one_that_holds_something_is_refused(
    device: Path, make: Callable[[Path], None], kind: str
) -> None:
    make(device)
    content = device.read_bytes()
    assert refusal(device).startswith(f"{device} is not empty: it holds {kind}")
    assert device.read_bytes() == content


def test_one_that_is_only_read_may_hold_something(device: Path) -> None:
    run("mkfs.ext4", "-q", device)
    spec = TargetSpec(engine="device", data=str(device))
    assert target_for(spec).describe(spec)["device"].startswith(device.name)


def test_a_mounted_one_is_refused_in_whatever_mount_table_it_is(
    device: Path, tmp_path: Path
) -> None:
    run("mkfs.ext4", "-q", device)
    folder = tmp_path / "mounted"
    folder.mkdir()
    script = f"mount {device} {folder} && echo mounted && read line"
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"mounted\n"
        said = refusal(device)
        other.communicate(b"\n")
    assert f"is in use: it is mounted at {folder} in the mount table of process" in said


def test_swap_space_is_refused(device: Path) -> None:
    run("mkswap", device)
    if subprocess.run(["swapon", device], capture_output=True, check=False).returncode:
        pytest.skip("this machine takes no swap space here")
    try:
        assert "it is swap space" in refusal(device)
    finally:
        run("swapoff", device)


def test_one_that_a_program_has_open_is_refused(device: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        said = refusal(device)
        other.communicate(b"")
    assert f"process {other.pid} (python" in said


def test_a_loop_device_on_it_is_seen(device: Path) -> None:
    name = f"loadstone-test-above-{os.getpid()}"
    above = loop.attach(device, name)
    try:
        assert f"{above.name} is a loop device on it" in refusal(device)
    finally:
        loop.detach({"name": name, "file": str(device)})


def test_a_link_leads_to_the_device(device: Path, tmp_path: Path) -> None:
    run("mkfs.ext4", "-q", device)
    link = tmp_path / "by-id"
    link.symlink_to(device)
    assert refusal(link) == f"{link} is not empty: it holds ext4"


def test_while_it_is_ours_nobody_mounts_it(device: Path, tmp_path: Path) -> None:
    with opened(named_twice(device), tmp_path) as target:
        assert target.connection().plan() == {"protocol": "device", "path": str(device)}
        kept = target.inventory()["device"]
        assert kept["number"] == number_of(device)
        assert kept["backing_file"] == str(tmp_path / "disk.img")
        with pytest.raises(OSError, match="busy"):
            os.open(device, os.O_RDWR | os.O_EXCL)
    os.close(os.open(device, os.O_RDWR | os.O_EXCL))


def test_what_another_wrote_between_two_looks_is_seen(device: Path, tmp_path: Path) -> None:
    """Who mounts it holds it, though the look before found nothing."""
    held = os.open(device, os.O_RDWR | os.O_EXCL)
    try:
        with (
            pytest.raises(RefusedError, match="is in use: the kernel holds it"),
            opened(named_twice(device), tmp_path),
        ):
            pass
    finally:
        os.close(held)


def test_a_name_that_leads_elsewhere_meanwhile_stops_the_load(device: Path, tmp_path: Path) -> None:
    link = tmp_path / "disk"
    link.symlink_to(device)
    with opened(named_twice(link), tmp_path) as target:
        link.unlink()
        link.symlink_to("/dev/null")
        with pytest.raises(RefusedError, match="is another device now"):
            target.connection()


def test_writes_need_the_second_name_and_reads_do_not(device: Path) -> None:
    data = {"name": "storage", "parameters": {"file_size": "16MB"}}

    def problems(**target: object) -> list[str]:
        fields = {"engine": "device", "data": str(device), **target}
        found = check_experiment(
            Experiment.model_validate({"name": "x", "workload": data, "target": fields})
        )
        return [each.message for each in found]

    (once,) = problems()
    assert "a device is named twice" in once
    (other,) = problems(settings={"erase": "/dev/other"})
    assert "in the same words" in other
    assert problems(settings={"erase": str(device)}) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [("none", "there is no device"), ("file", "is no block device")],
)
def test_what_is_no_device(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").touch()
    spec = named_twice(tmp_path / name)
    with pytest.raises(WrongInputError, match=said):
        target_for(spec).describe(spec)
    with pytest.raises(WrongInputError, match="needs a device"):
        device_of(TargetSpec(engine="device"))
