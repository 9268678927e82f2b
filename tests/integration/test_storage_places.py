"""Every kind of placement: made, written to, read back, removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from alone import zram_to_itself
from machine import apart, assert_as_before, listing, need

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.placements import mounts, options, tree
from loadstone.placements.account import Account, server_account
from loadstone.placements.device import Changes, LoopDevice
from loadstone.placements.mounted import MountedPlace
from loadstone.placements.place import parse
from loadstone.spec.target import StorageSpec
from loadstone.targets.local.places import Places

GB = 1 << 30
KINDS = [
    "loop:ext4,noatime,data=journal,size=1GB",
    "loop:ext4,size=64MB,full",
    "loop:xfs,logbsize=256k,size=1GB",
    "loop:btrfs,compress=zstd:1,size=1GB",
    "loop:ext4,write-cache=through,size=64MB",
    "loop:btrfs,raid1,size=256MB",
    "tmpfs:size=64MB,huge=within_size",
    "zram:ext4,algorithm=lz4,size=256MB",
    "zram:xfs,size=1GB",
    "nbd:ext4,size=1GB",
    "nbd:ext4,sync,size=1GB",
    "nbd:xfs,async,size=1GB",
    "nbd:ext4,write-delay=1ms,size=256MB",
    "nbd:btrfs,raid0,read-delay=1ms,rate=100MB,size=256MB",
    "nfs:ext4,size=64MB",
    "iscsi:ext4,sync,size=64MB",
    "volatile:ext4,size=1GB",
    "volatile:xfs,sync,size=1GB",
    "volatile:btrfs,async,size=1GB",
    "volatile:ext4,write-delay=1ms,nobarrier,size=256MB",
]
VALUES = {
    "data": "writeback",
    "errors": "remount-ro",
    "barrier": "0",
    "logbufs": "4",
    "logbsize": "64k",
    "allocsize": "64m",
    "discard": "async",
    "compress": "zstd:1",
    "compress-force": "lzo",
    "huge": "always",
    "mb_optimize_scan": "0",
}


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as opened:
        yield opened


@pytest.fixture
def before(open_folder: Path) -> Iterator[list[str]]:
    need("tmpfs")
    found = listing()
    yield found
    assert_as_before(found, open_folder)


def me() -> Account:
    return Account("me", os.getuid(), os.getgid(), switch=False)


def open_place(journal: Journal, folder: Path, text: str) -> MountedPlace:
    place = MountedPlace(journal, parse(text), me())
    work = folder / "work"
    work.mkdir()
    place.open(work, "pytest", GB)
    return place


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("text", KINDS)
def test_a_placement_is_what_it_says(journal: Journal, open_folder: Path, text: str) -> None:
    need(text)
    with zram_to_itself() if text.startswith("zram") else nullcontext():
        make_use_and_remove(journal, open_folder, text)


def make_use_and_remove(journal: Journal, open_folder: Path, text: str) -> None:
    place = open_place(journal, open_folder, text)
    content = os.urandom(1 << 20)
    (place.folder / "file").write_bytes(content)
    assert (place.folder / "file").read_bytes() == content
    reading = place.reading("storage.data")
    assert reading.read_back == reading.requested == parse(text).text
    shown = place.inventory()
    assert shown["mount"]["file_system"] == (parse(text).file_system)
    assert shown["mount"]["folder"] == str(place.folder)
    place.close()
    assert list(open_folder.iterdir()) == []
    assert journal._open == {}


def cases() -> list[tuple[str, str]]:
    return [
        (file_system, option.name if option.values is None else f"{option.name}={value}")
        for file_system, known in options.OPTIONS.items()
        for option in known
        for value in [VALUES.get(option.name, "8")]
    ]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One device of each file system, for all mount options."""
    folder = tmp_path_factory.mktemp("images")
    with Journal(folder / "journal.jsonl", "pytest") as journal:
        changes, sources = Changes(journal), {"tmpfs": "loadstone-test"}
        for name in options.FILE_SYSTEMS:
            need(f"loop:{name}")
            work = folder / name
            work.mkdir()
            place = parse(f"loop:{name}")
            device = LoopDevice(changes, work, f"loadstone-{name}-{os.getpid()}", place, GB)
            sources[name] = str(device.make())
        yield sources
        changes.undo()


@pytest.fixture(scope="module")
def shown_by_default(
    images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """What the kernel shows of each file system that is mounted without options."""
    folder = tmp_path_factory.mktemp("plain")
    return {name: shown_with(images[name], folder, name, []) for name in images}


def shown_with(source: str, folder: Path, file_system: str, chosen: list[str]) -> list[str]:
    """Mounts it, asks the kernel what is in force, and unmounts it."""
    mounts.mount(source, folder, file_system, chosen)
    try:
        return mounts.shown_options(folder)
    finally:
        mounts.unmount({"folder": str(folder)})


@pytest.mark.parametrize(("file_system", "option"), cases())
def test_every_mount_option_is_taken_and_shown(
    images: dict[str, str],
    shown_by_default: dict[str, list[str]],
    tmp_path: Path,
    file_system: str,
    option: str,
) -> None:
    options.check(file_system, [option])
    shown = shown_with(images[file_system], tmp_path, file_system, [option])
    assert options.in_force(file_system, option, shown)
    by_default = options.in_force(file_system, option, shown_by_default[file_system])
    known = next(
        each for each in options.OPTIONS[file_system] if each.name == option.partition("=")[0]
    )
    if by_default and not known.hidden_unless:
        assert options.plain_spelling(file_system, option).partition("=")[0] in (
            *("relatime", "inode64", "noquota", "logbsize", "barrier", "ssd", "discard"),
            *("errors", "huge"),
        ), "an option that is in force anyway and whose absence is never seen proves nothing"


@pytest.mark.usefixtures("before")
def test_places_are_kept_while_they_are_the_same(journal: Journal, open_folder: Path) -> None:
    need("loop:ext4", "tmpfs")
    account = server_account()
    root, entry = tree.make(journal, open_folder, account, "pytest")
    places = Places(journal, root, account, "pytest")
    plain = places.use(StorageSpec())
    assert plain.data.is_dir()
    assert plain.log is None
    (plain.data / "kept").touch()
    assert places.use(StorageSpec()) == plain
    assert (plain.data / "kept").exists()

    first = places.use(StorageSpec(data="loop:ext4,size=64MB", log="tmpfs:size=8MB"))
    assert not plain.data.exists()
    assert first.log is not None
    for folder in (first.data, first.log):
        (folder / "kept").touch()
        assert account.can_enter(folder)
        assert folder.stat().st_uid == account.uid
    second = places.use(StorageSpec(data="loop:ext4,size=64MB", log="tmpfs:size=16MB"))
    assert second.data == first.data
    assert (second.data / "kept").exists()
    assert second.log is not None
    assert list(second.log.iterdir()) == []
    assert [each.read_back for each in places.readings()] == [
        "loop:ext4,size=64MB",
        "tmpfs:size=16MB",
    ]
    with pytest.raises(TargetError, match="power of loop:ext4"):
        places.power_loss()
    places.close()
    journal.undo(entry)
    assert list(open_folder.iterdir()) == []


@pytest.mark.usefixtures("before")
def test_a_folder_somewhere_else(journal: Journal, open_folder: Path) -> None:
    account = me()
    root, entry = tree.make(journal, open_folder, account, "pytest")
    elsewhere = open_folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    places = Places(journal, root, account, "pytest")
    layout = places.use(StorageSpec(data=f"folder:{elsewhere}"))
    assert layout.data.is_relative_to(elsewhere)
    places.close()
    journal.undo(entry)
    assert [each.name for each in elsewhere.iterdir()] == ["precious"]


def test_an_option_that_the_kernel_does_not_take(journal: Journal, open_folder: Path) -> None:
    need("loop:ext4")
    before = listing()
    place = MountedPlace(journal, parse("loop:ext4,stripe=8,size=64MB"), me())
    work = open_folder / "work"
    work.mkdir()
    object.__setattr__(place.place, "mount_options", ("no_such_option",))
    with pytest.raises(TargetError, match="cannot be mounted with no_such_option"):
        place.open(work, "pytest", GB)
    place.close()
    assert_as_before(before, open_folder)


@pytest.mark.usefixtures("before")
def test_a_path_too_long_for_a_socket(journal: Journal, open_folder: Path) -> None:
    need("nbd:ext4")
    folder = open_folder / ("long" * 25)
    folder.mkdir()
    place = open_place(journal, folder, "nbd:ext4,size=64MB")
    (place.folder / "file").touch()
    place.close()


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    need("tmpfs")
    folder = open_folder / "small"
    folder.mkdir()
    mounts.mount("loadstone-small", folder, "tmpfs", ["size=450M"])
    yield folder
    mounts.unmount({"folder": str(folder)})


def test_a_size_that_does_not_fit_is_refused(
    journal: Journal, open_folder: Path, small_disk: Path
) -> None:
    before = listing()
    place = MountedPlace(journal, parse("loop:ext4,size=1GB"), me())
    work = small_disk / "work"
    work.mkdir()
    with pytest.raises(TargetError, match="needs 1 GB"):
        place.open(work, "pytest", GB)
    place.close()
    assert_as_before(before, open_folder)


@pytest.mark.parametrize("text", ["loop:ext4", "nbd:ext4", "volatile:xfs"])
def test_the_disk_below_an_image_fills_up(
    journal: Journal, open_folder: Path, small_disk: Path, text: str
) -> None:
    """The file system sees errors; what made it can say why, and everything can be removed."""
    need(text)
    before = listing()
    root, _ = tree.make(journal, small_disk, me(), "pytest")
    places = Places(journal, root, me(), "pytest")
    layout = places.use(StorageSpec(data=text))
    assert places.disk_full() is None
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(1 << 20))
    content = os.urandom(1 << 20)
    with (layout.data / "file").open("wb") as file, pytest.raises(OSError, match=r"error|space"):
        for _ in range(400):
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    assert "is full" in str(places.disk_full())
    places.close()
    assert_as_before(before, open_folder)
