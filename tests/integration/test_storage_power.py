"""The proof of the power loss: what was flushed survives it, what was not is gone, every time.

Writes are made with O_DIRECT, so that they have reached the device when they return: what is lost
is lost from the device's cache, and not from the page cache of the kernel.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from machine import apart, assert_as_before, listing, need

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.placements import tree
from loadstone.placements.account import Account
from loadstone.placements.device import Changes
from loadstone.placements.mounted import MountedPlace
from loadstone.placements.place import parse
from loadstone.placements.volatile import VolatileDevice
from loadstone.spec.target import StorageSpec
from loadstone.targets.local.places import Places

ROUNDS, MORE_ROUNDS = 3, 10
BLOCK = 4096
BLOCKS = 64
SIZE = 512 << 20


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as opened:
        yield opened


@pytest.fixture(autouse=True)
def before(open_folder: Path) -> Iterator[list[str]]:
    need("volatile:ext4")
    found = listing()
    yield found
    assert_as_before(found, open_folder)


@pytest.fixture
def rounds(pytestconfig: pytest.Config) -> int:
    """How often the power is lost."""
    return MORE_ROUNDS if pytestconfig.getoption("--long") else ROUNDS


def me() -> Account:
    return Account("me", os.getuid(), os.getgid(), switch=False)


def open_place(journal: Journal, folder: Path, text: str) -> MountedPlace:
    need(text)
    place = MountedPlace(journal, parse(text), me())
    work = folder / "work"
    work.mkdir()
    place.open(work, "pytest", SIZE)
    return place


def write(path: Path, content: int, *, blocks: range = range(BLOCKS), flush: bool) -> None:
    """Fills blocks of a file or device with one byte, past the page cache."""
    page = mmap.mmap(-1, BLOCK)
    page.write(bytes([content]) * BLOCK)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    try:
        for block in blocks:
            assert os.pwrite(descriptor, page, block * BLOCK) == BLOCK
        if flush:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
        page.close()


def contents(path: Path, blocks: range = range(BLOCKS)) -> set[int]:
    with path.open("rb") as file:
        found: set[int] = set()
        for block in blocks:
            file.seek(block * BLOCK)
            found |= set(file.read(BLOCK))
        return found


def new_device(journal: Journal, folder: Path, text: str) -> tuple[VolatileDevice, Changes]:
    changes, place = Changes(journal), parse(text)
    name = f"loadstone-test-{os.getpid()}"
    device = VolatileDevice(
        changes, folder, folder / "nbd.sock", name, place=place, size_bytes=64 << 20
    )
    return device, changes


def test_raw_writes_on_the_device(journal: Journal, open_folder: Path, rounds: int) -> None:
    device, changes = new_device(journal, open_folder, "volatile:ext4")
    block_device = device.make()
    flushed, unflushed = range(BLOCKS), range(BLOCKS, 2 * BLOCKS)
    lost = survived = 0
    write(block_device, 0, blocks=unflushed, flush=True)
    for number in range(1, rounds + 1):
        write(block_device, number, blocks=flushed, flush=True)
        write(block_device, 100 + number, blocks=unflushed, flush=False)
        assert contents(block_device, unflushed) == {100 + number}, "it was written, and is read"
        device.cut_power()
        block_device = device.restore_power()
        survived += contents(block_device, flushed) == {number}
        lost += contents(block_device, unflushed) == {0}
    assert (survived, lost) == (rounds, rounds)
    changes.undo()


@pytest.mark.parametrize("file_system", ["ext4", "xfs", "btrfs"])
def test_files_that_were_synced_survive_and_others_do_not(
    journal: Journal, open_folder: Path, rounds: int, file_system: str
) -> None:
    place = open_place(journal, open_folder, f"volatile:{file_system}")
    synced, overwritten = place.folder / "synced", place.folder / "overwritten"
    lost = survived = 0
    for number in range(1, rounds + 1):
        write(overwritten, 0, flush=True)
        write(synced, number, flush=True)
        write(overwritten, 100 + number, flush=False)
        (place.folder / f"never-synced-{number}").write_bytes(b"x")
        place.power_loss()
        with pytest.raises(OSError, match=r"."):
            write(synced, 255, flush=True)
        place.recover_mount()
        survived += contents(synced) == {number}
        lost += contents(overwritten) == {0}
    assert (survived, lost) == (rounds, rounds)
    place.close()


@pytest.mark.parametrize(
    "text", ["volatile:ext4,nobarrier", "volatile:btrfs,nobarrier", "volatile:xfs,async"]
)
def test_without_barriers_even_synced_writes_are_lost(
    journal: Journal, open_folder: Path, rounds: int, text: str
) -> None:
    place = open_place(journal, open_folder, text)
    synced = place.folder / "synced"
    write(synced, 0, flush=True)
    place.make_durable()
    lost = 0
    for number in range(1, rounds + 1):
        write(synced, number, flush=True)
        assert contents(synced) == {number}
        place.power_loss()
        place.recover_mount()
        lost += contents(synced) == {0}
    assert lost == rounds
    place.close()


def test_storage_that_writes_through_loses_nothing(
    journal: Journal, open_folder: Path, rounds: int
) -> None:
    device, changes = new_device(journal, open_folder, "volatile:ext4,sync")
    block_device = device.make()
    for number in range(1, rounds + 1):
        write(block_device, number, flush=False)
        device.cut_power()
        block_device = device.restore_power()
        assert contents(block_device) == {number}
    changes.undo()


def test_a_file_system_that_a_power_loss_broke(journal: Journal, open_folder: Path) -> None:
    """It is said, can be tried again, and is removed like any other."""
    before = psutil.Process().children()
    place = open_place(journal, open_folder, "volatile:ext4,size=64MB")
    place.power_loss()
    image = open_folder / "work" / "disk.img"
    kept = image.read_bytes()[: 1 << 20]
    with image.open("r+b") as file:
        file.write(bytes(1 << 20))
    for _ in range(2):
        with pytest.raises(TargetError, match="ext4 cannot be mounted"):
            place.recover_mount()
        assert place.powerless
    with image.open("r+b") as file:
        file.write(kept)
    place.recover_mount()
    assert (place.folder / "lost+found").is_dir()
    place.close()
    assert set(psutil.Process().children()) <= set(before)


def test_data_and_log_lose_their_power_together(journal: Journal, open_folder: Path) -> None:
    need("volatile:xfs")
    root, entry = tree.make(journal, open_folder, me(), "pytest")
    places = Places(journal, root, me(), "pytest")
    layout = places.use(StorageSpec(data="volatile:ext4,size=64MB", log="volatile:xfs,size=512MB"))
    assert layout.log is not None
    for folder in (layout.data, layout.log):
        write(folder / "synced", 1, flush=True)
        write(folder / "overwritten", 0, flush=True)
        write(folder / "overwritten", 2, flush=False)
    places.power_loss()
    for folder in (layout.data, layout.log):
        with pytest.raises(OSError, match=r"."):
            (folder / "synced").read_bytes()
            write(folder / "synced", 2, flush=True)
    places.recover()
    assert places.layout == layout
    for folder in (layout.data, layout.log):
        assert contents(folder / "synced") == {1}
        assert contents(folder / "overwritten") == {0}
    places.recover()
    places.close()
    journal.undo(entry)


def test_the_power_of_other_placements_cannot_be_cut(journal: Journal, open_folder: Path) -> None:
    need("tmpfs")
    root, _ = tree.make(journal, open_folder, me(), "pytest")
    places = Places(journal, root, me(), "pytest")
    for data, log in ((None, None), ("volatile:ext4,size=64MB", "tmpfs:size=8MB")):
        layout = places.use(StorageSpec(data=data, log=log))
        with pytest.raises(TargetError, match="cannot be cut"):
            places.power_loss()
        write(layout.data / "still-there", 1, flush=True)
    places.close()
