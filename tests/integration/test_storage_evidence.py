"""What really happened below a file, on placements that earn each answer; the load is fio's own."""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lengths import long_but
from machine import apart, assert_as_before, listing, need
from packages import need_program

from loadstone.doctor.collect.host import host_facts
from loadstone.doctor.rules.base import Host
from loadstone.doctor.rules.host_flushes import flushes_dropped, flushes_not_sent
from loadstone.host.direct_writes import try_beside
from loadstone.journal import Journal
from loadstone.placements import tree
from loadstone.placements.account import own_account
from loadstone.placements.flushes import FlushAnswer, judge
from loadstone.spec.target import StorageSpec
from loadstone.targets.local.places import Places
from loadstone.workloads.storage import below
from loadstone.workloads.storage.below import Below
from loadstone.workloads.storage.direct import Way
from loadstone.workloads.storage.direct import judge as judge_way

MB = 1 << 20
SIZE = 8 * MB
SYNCS = 20


@pytest.fixture(scope="module", autouse=True)
def own_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    need_program("fio")
    with apart(tmp_path_factory.mktemp("apart")):
        yield


@pytest.fixture
def places(open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    need("tmpfs")
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    before = listing()
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        root, entry = tree.make(journal, open_folder, own_account(), "pytest")
        made = Places(journal, root, own_account(), "pytest", log_is_journal=True)
        yield made
        made.close()
        journal.undo(entry)
    assert_as_before(before, open_folder)
    assert list(open_folder.iterdir()) == []


def fio(folder: Path, *words: str) -> None:
    """Moves 8 MB of one file that is there in full, in direct I/O unless it is told otherwise."""
    command = ["fio", "--name=t", f"--directory={folder}", "--filename=file", f"--size={SIZE}"]
    command += ["--direct=1", "--thread", "--overwrite=1", "--output=/dev/null", *words]
    subprocess.run(command, check=True, cwd="/")


def seen(folder: Path, places: Places, *words: str) -> Below:
    """What happened below while fio ran."""
    file = folder / "file"
    if not file.exists():
        file.write_bytes(bytes(range(256)) * (SIZE // 256))
        subprocess.run(["sync", file], check=True)
    before = below.read(folder, places.flushes_counted())
    fio(folder, *words)
    found = below.between(before, below.read(folder, places.flushes_counted()))
    assert found is not None
    return found


def way(folder: Path, places: Places, access: str) -> Way:
    found = judge_way(
        SIZE, SIZE if access == "write" else 0, seen(folder, places, f"--rw={access}", "--bs=64k")
    )
    assert found is not None
    return found.way


def answer(folder: Path, places: Places) -> FlushAnswer:
    words = ("--rw=randwrite", "--bs=4k", "--fsync=1", f"--number_ios={SYNCS}")
    happened = seen(folder, places, *words)
    flushes = happened.nearest.flushes if happened.nearest else None
    found = judge(SYNCS, flushes, happened.server)
    assert found is not None
    return found.answer


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [("loop:ext4,size=64MB", Way.PAST), ("tmpfs:size=64MB", Way.MEMORY)],
)
def test_where_the_bytes_went(places: Places, text: str, access: str, expected: Way) -> None:
    need(text)
    assert way(places.use(StorageSpec(data=text)).data, places, access) is expected


BTRFS = [
    ("loop:btrfs,size=256MB", "", Way.THROUGH),
    ("loop:btrfs,size=256MB", "+C", Way.PAST),
    ("loop:btrfs,nodatasum,size=256MB", "", Way.PAST),
]


@pytest.mark.parametrize(("text", "flag", "expected"), long_but([BTRFS[0], BTRFS[1]], BTRFS))
def test_btrfs_writes_past_the_page_cache_only_what_has_no_checksums(
    places: Places, text: str, flag: str, expected: Way
) -> None:
    need(text)
    folder = places.use(StorageSpec(data=text)).data / "files"
    folder.mkdir()
    if flag:
        subprocess.run(["chattr", flag, folder], check=True)
    wrote = seen(folder, places, "--rw=write", "--bs=64k")
    assert wrote.nearest is not None
    assert wrote.nearest.write_bytes >= SIZE
    assert wrote.direct is not None
    if not flag and "nodatasum" not in text:
        expected = expected if wrote.direct.buffered else Way.PAST  # since 6.14, not for ever
    assert wrote.direct.no_cow == bool(flag)
    found = judge_way(SIZE, SIZE, wrote)
    assert found is not None
    assert found.way is expected, found.evidence
    if wrote.direct.buffered:
        assert f"btrfs of Linux {platform.release()}" in found.evidence
        assert "without the flag NOCOW" in found.evidence
    happened = seen(folder, places, "--rw=read", "--bs=64k")
    read = judge_way(SIZE, 0, happened, emptied=True, in_flight_bytes=64 << 10)
    assert read is not None
    assert read.way is Way.PAST, read.evidence


def test_a_file_is_judged_by_its_own_flag_and_not_by_its_folders(places: Places) -> None:
    need("loop:btrfs")
    folder = places.use(StorageSpec(data="loop:btrfs,size=256MB")).data
    (folder / "before").write_bytes(bytes(SIZE))
    subprocess.run(["chattr", "+C", folder], check=True)
    (folder / "after").write_bytes(bytes(SIZE))
    before, after = (try_beside(folder / name) for name in ("before", "after"))
    assert before is not None
    assert after is not None
    assert (before.no_cow, after.no_cow, after.buffered) == (False, True, False)
    assert {path.name for path in folder.iterdir()} == {"before", "after"}


def test_overlay_is_followed_to_the_disk_of_its_upper_folder(places: Places) -> None:
    need("loop:ext4")
    data = places.use(StorageSpec(data="loop:ext4,size=64MB")).data
    for name in ("lower", "upper", "work", "merged"):
        (data / name).mkdir()
    options = ",".join(f"{name}dir={data / name}" for name in ("lower", "upper", "work"))
    merged = data / "merged"
    mount = ["mount", "-t", "overlay", "overlay", "-o", options, merged]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this kernel mounts no overlay here")
    try:
        happened = seen(merged, places, "--rw=write", "--bs=64k")
    finally:
        subprocess.run(["umount", merged], check=True)
    assert happened.file_system == "overlay"
    found = judge_way(SIZE, SIZE, happened)
    assert found is not None
    assert found.way is Way.PAST


def test_a_file_shown_by_nbdfuse_has_no_device_below(open_folder: Path) -> None:
    need("nbd:ext4")
    shown = open_folder / "shown"
    shown.mkdir()
    disk = shown / "disk"
    script = f"nbdfuse --pidfile {open_folder}/ready {disk} --unix $unixsocket"
    command = ["nbdkit", "--unix", "-", "memory", "16M", "--run", script]
    with subprocess.Popen(command) as server:
        try:
            while not (open_folder / "ready").exists():
                assert server.poll() is None
                time.sleep(0.01)
            before = below.read(disk)
            words = [f"--filename={disk}", f"--size={SIZE}", "--rw=write", "--bs=64k"]
            words += ["--direct=1", "--thread", "--overwrite=1", "--output=/dev/null"]
            subprocess.run(["fio", "--name=t", *words], check=True, cwd="/")
            happened = below.between(before, below.read(disk))
        finally:
            subprocess.run(["umount", shown], check=False)
            server.terminate()
    (open_folder / "ready").unlink(missing_ok=True)
    shown.rmdir()
    assert happened is not None
    found = judge_way(SIZE, SIZE, happened)
    assert found is not None
    assert "no device below (fuse" in found.evidence
    assert found.way in (Way.UNKNOWN, Way.THROUGH)


ANSWERS = [
    ("loop:ext4,write-cache=through,size=64MB", FlushAnswer.NOT_SENT),
    ("loop:ext4,size=64MB", FlushAnswer.UNKNOWN),
    ("nbd:ext4,async,size=64MB", FlushAnswer.DROPPED),
    ("nbd:ext4,sync,size=64MB", FlushAnswer.UNKNOWN),
]
OVER_ISCSI = [
    ("iscsi:ext4,async,size=64MB", FlushAnswer.DROPPED),
    ("iscsi:ext4,size=64MB", FlushAnswer.UNKNOWN),
]


@pytest.mark.parametrize(("text", "expected"), long_but(ANSWERS, [*ANSWERS, *OVER_ISCSI]))
def test_each_answer_on_a_placement_that_earns_it(
    places: Places, text: str, expected: FlushAnswer
) -> None:
    need(text)
    assert answer(places.use(StorageSpec(data=text)).data, places) is expected


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("loop:ext4,write-cache=through,size=64MB", flushes_not_sent),
        ("nbd:ext4,async,size=64MB", flushes_dropped),
    ],
)
def test_the_doctor_finds_what_a_placement_does(places: Places, text: str, rule: Host) -> None:
    need(text)
    plain = host_facts(places.use(StorageSpec(data="loop:ext4,size=64MB")).data)
    assert rule(plain) is None
    assert rule(host_facts(places.use(StorageSpec(data=text)).data)) is not None


def test_a_library_that_swallows_fsync_is_seen_by_the_counter(places: Places) -> None:
    need("loop:ext4")
    need_program("eatmydata")
    data = places.use(StorageSpec(data="loop:ext4,size=64MB")).data
    assert answer(data, places) is FlushAnswer.UNKNOWN
    before = below.read(data)
    command = ["eatmydata", "fio", "--name=t", f"--filename={data / 'file'}", f"--size={SIZE}"]
    command += ["--rw=randwrite", "--fsync=1", "--number_ios=20", "--overwrite=1"]
    subprocess.run(command, check=True, capture_output=True)
    happened = below.between(before, below.read(data))
    assert happened is not None
    assert happened.nearest is not None
    found = judge(20, happened.nearest.flushes)
    assert found is not None
    assert found.answer is FlushAnswer.NOT_SENT


def test_a_journal_elsewhere_takes_the_data_first(places: Places) -> None:
    need("loop:ext4")
    spec = StorageSpec.model_validate(
        {"data": "loop:ext4,size=64MB,data=journal", "log": "loop:ext4,size=32MB"}
    )
    happened = seen(places.use(spec).data, places, "--rw=write", "--bs=64k", "--end_fsync=1")
    assert happened.journal is not None
    assert happened.journal.write_bytes >= SIZE
    assert [each.read_back for each in places.readings()] == [spec.named["log"], spec.named["data"]]

    ordered = StorageSpec.model_validate({**spec.named, "data": "loop:ext4,size=64MB"})
    happened = seen(places.use(ordered).data, places, "--rw=write", "--bs=64k", "--end_fsync=1")
    assert happened.journal is not None
    assert happened.journal.write_bytes < SIZE / 10

    assert places.use(StorageSpec(data="loop:ext4,size=64MB")).log is None
    assert [each.factor for each in places.readings()] == ["storage.data"]
