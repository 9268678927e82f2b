"""Whether I/O went past the page cache, judged by devices and pages; what a trial tells of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loadstone.host.below import Ground, ground_of
from loadstone.host.direct_writes import DirectWrites
from loadstone.host.machine import Machine
from loadstone.host.page_cache import Cached, cached, cached_below
from loadstone.placements.flushes import FlushAnswer, ServerFlushes
from loadstone.protocol.frames import Event
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.storage import below, told
from loadstone.workloads.storage.below import Below, Moved
from loadstone.workloads.storage.direct import Way, judge
from loadstone.workloads.storage.tests import Job, StorageTest, single

MB = 1 << 20
FILE = 64 * MB
WRITE = single("SEQ1M Q1T1", Job("write", MB))


def on_disk(seen_mb: float, resident_mb: float, before_mb: float = 0) -> Below:
    return Below(
        "ext4",
        (Moved(("loop0",), read_bytes=int(seen_mb * MB)),),
        cached=Cached(int(resident_mb * MB), FILE, 0),
        cached_before=Cached(int(before_mb * MB), FILE, 0),
    )


def btrfs(*, buffered: bool, resident_mb: float = 0) -> Below:
    tried = DirectWrites(buffered, no_cow=not buffered)
    return replace(on_disk(512, resident_mb), file_system="btrfs", direct=tried, kernel="6.18.4")


@pytest.mark.parametrize(
    ("written_mb", "seen", "way"),
    [
        (512, on_disk(512, 0), Way.PAST),
        (512, on_disk(480, 0), Way.PAST),
        (512, on_disk(1024, 0), Way.PAST),  # a mirror writes all twice
        (512, on_disk(60, 64), Way.THROUGH),
        (512, on_disk(512, 0.1), Way.THROUGH),
        (512, btrfs(buffered=True), Way.THROUGH),  # written in the page cache, then dropped
        (512, btrfs(buffered=False), Way.PAST),
        (0, btrfs(buffered=True), Way.PAST),  # reads are direct
        (0, on_disk(512, 0), Way.PAST),
        (0, on_disk(3, 64), Way.THROUGH),
        (0, on_disk(512, 64, 64), Way.PAST),  # whole in memory, and not used
        (0, on_disk(512, 6, 0), Way.THROUGH),
        (0, on_disk(512, 6, 6), Way.UNKNOWN),
    ],
)
def test_devices_and_pages_decide(written_mb: int, seen: Below, way: Way) -> None:
    found = judge(512 * MB, written_mb * MB, seen)
    assert found is not None
    assert found.way is way
    assert "512 MB moved" in found.evidence
    assert "loop0" in found.evidence


@pytest.mark.parametrize(
    ("written_mb", "seen", "way"),
    [
        (512, on_disk(512, 0, 64), Way.PAST),
        (512, on_disk(512, 6, 64), Way.THROUGH),  # written through the cache, with fsync
        (0, on_disk(512, 64, 64), Way.THROUGH),  # read once each, by readahead
    ],
)
def test_pages_of_files_that_the_load_took_out_of_memory_have_come_since(
    written_mb: int, seen: Below, way: Way
) -> None:
    found = judge(512 * MB, written_mb * MB, seen, emptied=True)
    assert found is not None
    assert found.way is way


@pytest.mark.parametrize(("in_flight_mb", "way"), [(8, Way.PAST), (1, Way.THROUGH)])
def test_btrfs_reads_into_each_new_buffer_through_the_page_cache(
    in_flight_mb: int, way: Way
) -> None:
    seen = btrfs(buffered=True, resident_mb=22)
    found = judge(212 * MB, 0, seen, emptied=True, in_flight_bytes=in_flight_mb * MB)
    assert found is not None
    assert found.way is way


def test_a_server_keeps_what_the_load_takes_out_of_its_own_memory() -> None:
    found = judge(512 * MB, 0, replace(on_disk(512, 64, 64), served=True), emptied=True)
    assert found is not None
    assert found.way is Way.PAST
    assert "in memory of the server" in found.evidence


@pytest.mark.parametrize(
    ("kind", "resident_mb", "way"),
    [("tmpfs", 64, Way.MEMORY), ("nfs4", 64, Way.THROUGH), ("fuse.nbdfuse", 0, Way.UNKNOWN)],
)
def test_without_a_device_pages_decide(kind: str, resident_mb: int, way: Way) -> None:
    found = judge(MB, MB, Below(kind, ends_on=kind, cached=Cached(resident_mb * MB, FILE)))
    assert found is not None
    assert found.way is way
    assert kind in found.evidence


def test_a_kernel_that_does_not_tell_of_pages_is_not_guessed() -> None:
    found = judge(MB, 0, Below("ext4", (Moved(("sda",), read_bytes=MB),)))
    assert found is not None
    assert found.way is Way.UNKNOWN


def test_nothing_moved_is_no_finding() -> None:
    assert judge(0, 0, on_disk(0, 0)) is None


def test_readings_survive_their_table() -> None:
    before = {"layer 0 loop0 read_bytes": 5.0, "layer 0 loop0 write_bytes": 10.0}
    before |= {"layer 0 loop0 flushes": 2.0, "layer 0 loop0 fua": 0.0, "on ext4": 1.0}
    after = before | {"layer 0 loop0 write_bytes": 110.0, "layer 0 loop0 flushes": 9.0}
    after |= {"file a b.test resident_bytes": 4096.0, "file a b.test size_bytes": 8192.0}
    after |= {"ends on fuse": 1.0}
    server = {"syncs": 8, "left_kernel": 8, "arrived": 9, "passed_on": 0}
    server |= {"writes": 8, "written_through": 0}
    after |= {f"server {name}": float(value) for name, value in server.items()}
    found = below.between(before, after)
    assert found == Below(
        "ext4",
        (Moved(("loop0",), 0, 100, 7),),
        ends_on="fuse",
        cached=Cached(4096, 8192),
        server=ServerFlushes(**server),
    )


def test_members_of_a_layer_are_added() -> None:
    before = {f"layer 0 loop{n} {what}": 0.0 for n in (1, 2) for what in ("read_bytes", "fua")}
    before |= {f"layer 0 loop{n} {what}": 0.0 for n in (1, 2) for what in ("flushes",)}
    before |= {f"layer 0 loop{n} write_bytes": 0.0 for n in (1, 2)} | {"on btrfs": 1.0}
    found = below.between(before, before | {f"layer 0 loop{n} write_bytes": 7.0 for n in (1, 2)})
    assert found is not None
    assert found.nearest == Moved(("loop1", "loop2"), 0, 14, 0)


def test_one_file_that_btrfs_writes_in_the_page_cache_is_enough() -> None:
    kernel = {"on btrfs": 1.0, "kernel 6.18.4": 1.0}
    log = {"direct log.test buffered": 0.0, "direct log.test no_cow": 1.0}
    pages = {"direct pages.test buffered": 1.0, "direct pages.test no_cow": 0.0}
    both = kernel | log | pages
    found = below.between(both, both, {"log.test", "pages.test"})
    assert found is not None
    assert (found.direct, found.kernel) == (DirectWrites(buffered=True, no_cow=False), "6.18.4")
    alone = below.between(both, both, {"log.test"})
    assert alone is not None
    assert alone.direct == DirectWrites(buffered=False, no_cow=True)


def test_nothing_read_is_nothing_below() -> None:
    assert below.between({}, {}) is None


def test_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(MB))
    figures = below.read(tmp_path)
    assert figures["file file size_bytes"] == MB
    assert figures["file file resident_bytes"] <= MB
    found = below.between(figures, below.read(tmp_path))
    assert found is not None
    assert found.layers or found.ends_on


def test_pages_of_a_file_that_was_just_written_are_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(3 * MB + 5))
    assert cached(file).resident_bytes == 3 * MB + 5
    assert cached_below(tmp_path)["file"].size_bytes == 3 * MB + 5


def test_a_loop_device_is_followed_to_the_disk(tmp_path: Path) -> None:
    machine, image = Machine(tmp_path), tmp_path / "images" / "disk.img"
    image.parent.mkdir()
    image.touch()
    for number, name in (("7:0", "loop0"), ("8:1", "sda1")):
        folder = tmp_path / "sys/class/block" / name
        folder.mkdir(parents=True)
        link = tmp_path / "sys/dev/block" / number
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
    (tmp_path / "sys/class/block/loop0/loop").mkdir()
    (tmp_path / "sys/class/block/loop0/loop/backing_file").write_text(f"{image}\n")
    task = tmp_path / "sys/fs/ext4/loop0/journal_task"
    task.parent.mkdir(parents=True)
    task.write_text("77\n")
    (tmp_path / "proc/77").mkdir(parents=True)
    (tmp_path / "proc/77/comm").write_text("jbd2/loop5\n")
    found = ground_of(
        Path("/data"),
        machine,
        device_of=lambda folder: "8:1" if folder == image.parent else "7:0",
        mounted=lambda _: {"file_system": "ext4"},
    )
    assert found == Ground("ext4", (("loop0",), ("sda1",)), journal="loop5")
    (tmp_path / "proc/77/comm").write_text("jbd2/loop0-8\n")
    inside = ground_of(Path("/data"), machine, lambda _: "7:0", lambda _: {"file_system": "ext4"})
    assert inside.journal is None


def measured(test: StorageTest, after: dict[str, float], **events: float) -> Measured:
    start = {key: 0.0 for key in after if key.startswith(("layer", "journal"))}
    return Measured(
        begin=Observation(0.0, start),
        end=Observation(1.0, after),
        duration_s=1.0,
        operations={},
        rolled_back={},
        retries=0,
        errors=0,
        driver_cpu_s=0.0,
        server_cpu_s=None,
        total_operations={},
        total_rolled_back={},
        total_errors=0,
        counters={"bytes": 10 * MB, "written_bytes": 10 * MB},
        events=(Event(1.0, "workload", name="pass", data={"test": test.operation, **events}),),
        phase=test.name,
    )


def figures(**values: float) -> dict[str, float]:
    usual = {"read_bytes": 0.0, "write_bytes": 10.0 * MB, "flushes": 0.0, "fua": 0.0}
    return {f"layer 0 loop0 {name}": value for name, value in (usual | values).items()} | {
        "on ext4": 1.0,
        "file pages.test resident_bytes": 0.0,
        "file pages.test size_bytes": float(FILE),
    }


def test_syncs_that_sent_no_flush_are_told_with_both_counts() -> None:
    found = told.seen(WRITE, measured(WRITE, figures(), syncs=10), "fsync")
    assert found is not None
    assert found.flushes is not None
    assert found.flushes.answer is FlushAnswer.NOT_SENT
    way, flushes = told.notices([found], direct=True)
    assert (way.severity, flushes.severity) == ("info", "warning")
    assert "10 syncs, 0 flushes sent to loop0" in flushes.message
    assert "only if nothing below has a write cache" in str(flushes.advice)  # as with protection
    values = {each.name: each.value for each in told.metrics(found)}
    assert values == {"below_percent": 100.0, "cached_mb": 0.0, "flushes_per_sync": 0.0}


@pytest.mark.parametrize(
    ("fua", "answer"), [(0.0, FlushAnswer.NOT_SENT), (1.0, FlushAnswer.UNKNOWN)]
)
def test_durable_writes_are_counted_by_their_bytes(fua: float, answer: FlushAnswer) -> None:
    found = told.seen(WRITE, measured(WRITE, figures(fua=fua)), "dsync")
    assert found is not None
    assert found.syncs == 10
    assert found.flushes is not None
    assert found.flushes.answer is answer


def test_a_file_that_other_tests_left_in_memory_is_not_this_tests() -> None:
    """A log that was warmed does not make the pages look cached, nor the pages the log."""
    log = {"file log.test resident_bytes": 1.0 * FILE, "file log.test size_bytes": 1.0 * FILE}
    of_both = measured(WRITE, figures() | log)
    pages = told.seen(WRITE, of_both, "none", {"pages.test"})
    both = told.seen(WRITE, of_both, "none", {"pages.test", "log.test"})
    assert pages is not None
    assert both is not None
    assert pages.way is not None
    assert both.way is not None
    assert pages.below.cached == Cached(0, FILE)
    assert (pages.way.way, both.way.way) == (Way.PAST, Way.THROUGH)


def test_flushes_at_an_address_cannot_be_judged_and_it_says_so() -> None:
    found = told.seen(WRITE, measured(WRITE, {}, syncs=10), "fsync")
    (notice,) = told.notices([found], direct=True)
    assert (notice.code, notice.severity) == ("flushes-unknown", "info")
    assert f"{FlushAnswer.UNKNOWN}" in notice.message
    assert "10 syncs" in notice.message
    assert told.metrics(found) == []


def test_without_a_sync_nothing_is_said_of_flushes() -> None:
    found = told.seen(WRITE, measured(WRITE, figures(flushes=3.0)), "none")
    assert found is not None
    assert [each.code for each in told.notices([found], direct=True)] == ["bytes-past"]


def test_what_reached_an_external_journal_is_told_and_where_nothing_can() -> None:
    journal = {f"journal 0 loop5 {name}": 0.0 for name in ("read_bytes", "flushes", "fua")}
    journal["journal 0 loop5 write_bytes"] = 11.0 * MB
    wrote = told.seen(WRITE, measured(WRITE, figures() | journal), "none")
    reading = single("SEQ1M Q1T1", Job("read", MB))
    read = told.seen(reading, measured(reading, figures()), "none")
    assert wrote is not None
    assert read is not None
    idle = told.Seen(
        "SEQ1M Q1T1 read", MB, 0, 0, False, True, Below("ext4", (), journal=Moved(("loop5",)))
    )
    told_of = next(n for n in told.notices([wrote, idle], direct=True) if n.code == "journal")
    assert "SEQ1M Q1T1 write 11 MB of 10 MB" in told_of.message
    assert "SEQ1M Q1T1 read write nothing" in told_of.message
