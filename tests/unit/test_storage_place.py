"""Placements as text: read, written in one spelling, refused with one clear line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import WrongInputError
from loadstone.placements import options, place
from loadstone.placements.mounted import size_for
from loadstone.placements.place import Place, parse, parse_size, size_text
from loadstone.placements.raid import create_words

GB = 1 << 30
VALUES = {
    "data": "journal",
    "errors": "continue",
    "barrier": "1",
    "logbufs": "4",
    "logbsize": "64k",
    "allocsize": "64m",
    "discard": "async",
    "compress": "zstd:1",
    "compress-force": "lzo",
    "huge": "always",
}


def one_option(file_system: str) -> st.SearchStrategy[str]:
    texts = [
        option.name if option.values is None else f"{option.name}={VALUES.get(option.name, '8')}"
        for option in options.OPTIONS[file_system]
    ]
    return st.sampled_from(texts)


@st.composite
def places(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(sorted(set(place.KINDS) - {"folder"})))
    file_system = "tmpfs" if kind == "tmpfs" else draw(st.sampled_from(options.FILE_SYSTEMS))
    items = [] if kind == "tmpfs" else [file_system]
    if draw(st.booleans()):
        items.append(f"size={draw(st.integers(1, 4000))}GB")
    if kind == "zram" and draw(st.booleans()):
        items.append("algorithm=" + draw(st.sampled_from(place.ALGORITHMS)))
    if kind in ("nbd", "volatile"):
        items += draw(st.sampled_from([[], ["sync"], ["async"], ["write-delay=3ms"]]))
    if kind == "loop" and draw(st.booleans()):
        items.append("full")
    if kind in ("loop", "nbd"):
        items += draw(st.sampled_from([[], ["write-cache=through"], ["write-cache=back"]]))
        items += draw(st.sampled_from([[], ["raid1"], ["raid0", "members=3"], ["raid10"]]))
    if kind == "nbd":
        items += draw(st.sampled_from([[], ["read-delay=2ms", "rate=100MB"]]))
    option = draw(one_option(file_system))
    if not (option == "sync" and kind in ("nbd", "volatile") and "async" in items):
        items.append(option)
    return f"{kind}:{','.join(draw(st.permutations(items)))}"


@given(places())
def test_the_written_form_means_the_same_and_is_the_only_one(text: str):
    found = parse(text)
    assert parse(found.text) == found
    assert parse(found.text).text == found.text


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str):
    for attempt in (text, f"loop:{text}", f"nbd:ext4,{text}"):
        try:
            parse(attempt)
        except WrongInputError as error:
            assert "\n" not in error.message.replace(repr(attempt), "")


@given(st.integers(1, 1 << 32))
def test_sizes_are_written_as_they_are_read(kb: int):
    assert parse_size(size_text(kb * 1024)) == kb * 1024


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("loop", "loop:ext4"),
        ("loop:noatime,size=4096MB,ext4", "loop:ext4,size=4GB,noatime"),
        ("loop:ext4,barrier=0", "loop:ext4,nobarrier"),
        ("loop:ext4,noatime,noatime", "loop:ext4,noatime"),
        ("nbd:sync,ext4", "nbd:ext4,sync"),
        ("nbd:write-delay=2ms,ext4", "nbd:ext4,write-delay=2ms"),
        ("zram:algorithm=lz4,ext4,size=4GB", "zram:ext4,size=4GB,algorithm=lz4"),
        ("tmpfs:", "tmpfs"),
        ("tmpfs:huge=always,size=1GB", "tmpfs:size=1GB,huge=always"),
        ("folder:/srv//data/", "folder:/srv/data"),
        ("loop:ext4,sync", "loop:ext4,sync"),
    ],
)
def test_one_spelling(text: str, written: str):
    assert parse(text).text == written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lop:ext4", "did you mean 'loop'"),
        ("disk", "choose one of folder, iscsi, loop, nbd, nfs, tmpfs, volatile, zram"),
        ("loop:ext4,noatme", "did you mean 'noatime'"),
        ("nbd:asnyc", "did you mean 'async'"),
        ("loop:xfs,nobarrier", "no such option since Linux 4.19"),
        ("loop:ext4,ro", "the server must write"),
        ("loop:ext4,noload", "leaves the journal unread"),
        ("loop:ext4,xfs", "two file systems"),
        ("loop:size=1GB,size=2GB", "two sizes"),
        ("nbd:sync,async", "contradict"),
        ("loop:ext4,noatime,relatime", "contradict"),
        ("loop:ext4,nobarrier,barrier=1", "contradict"),
        ("loop:ext4,data=journal,data=ordered", "contradict"),
        ("loop:btrfs,ssd,nossd", "contradict"),
        ("loop:ext4,data=fast", "journal|ordered|writeback"),
        ("loop:ext4,noatime=1", "takes no value"),
        ("loop:ext4,,noatime", "missing between two commas"),
        ("loop:ext4,size=much", "is not a size"),
        ("loop:ext4,size=0GB", "is not a size"),
        ("loop:xfs,size=100MB", "xfs needs 300MB"),
        ("zram:algorithm=gzip", "zram has no algorithm"),
        ("nbd:write-delay=fast", "write-delay=2ms"),
        ("folder:data", "named from the root"),
        ("loop:algorithm=lz4", "no mount option 'algorithm'"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str):
    with pytest.raises(WrongInputError, match=r".") as caught:
        parse(text)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("tmpfs", "memory"),
        ("zram", "memory"),
        ("loop:ext4,nobarrier", "nobarrier"),
        ("loop:ext4,barrier=0", "nobarrier"),
        ("loop:btrfs,nobarrier", "nobarrier"),
        ("nbd:async", "async"),
        ("volatile:async", "async"),
    ],
)
def test_unsafe_placements_say_why(text: str, word: str):
    assert word in str(parse(text).unsafe)


@pytest.mark.parametrize(
    "text",
    ["loop", "loop:ext4,data=writeback", "nbd", "nbd:sync", "volatile", "folder:/srv", "loop:xfs"],
)
def test_safe_placements(text: str):
    assert parse(text).unsafe is None


def test_the_volatile_form_keeps_file_system_and_options():
    assert parse("loop:xfs,logbufs=8,size=2GB,full").volatile().text == (
        "volatile:xfs,size=2GB,logbufs=8"
    )
    assert parse("nbd:async,ext4,nobarrier").volatile().text == "volatile:ext4,async,nobarrier"
    assert parse("volatile:btrfs").volatile() == parse("volatile:btrfs")


@pytest.mark.parametrize("text", ["tmpfs", "zram:xfs", "folder:/srv"])
def test_what_has_no_volatile_form_says_why(text: str):
    with pytest.raises(WrongInputError, match="power"):
        parse(text).volatile()


@pytest.mark.parametrize(
    ("file_system", "option", "shown", "there"),
    [
        ("ext4", "noatime", "rw,noatime", True),
        ("ext4", "noatime", "rw,relatime", False),
        ("ext4", "nobarrier", "rw,nobarrier", True),
        ("ext4", "barrier", "rw,relatime", True),
        ("ext4", "barrier", "rw,nobarrier", False),
        ("ext4", "strictatime", "rw", True),
        ("ext4", "strictatime", "rw,relatime", False),
        ("ext4", "data=journal", "rw,data=ordered", False),
        ("ext4", "commit=5", "rw,commit=5", True),
        ("xfs", "allocsize=64m", "rw,allocsize=65536k", True),
        ("xfs", "logbsize=262144", "rw,logbsize=256k", True),
        ("xfs", "logbsize=256k", "rw,logbsize=32k", False),
        ("btrfs", "compress=zstd", "rw,compress=zstd:3", True),
        ("btrfs", "compress=no", "rw", True),
        ("btrfs", "compress=no", "rw,compress=zstd:3", False),
        ("btrfs", "discard=sync", "rw,discard", True),
        ("btrfs", "nodiscard", "rw,discard=async", False),
    ],
)
def test_what_the_kernel_shows_decides(file_system: str, option: str, shown: str, there: bool):
    assert options.in_force(file_system, option, shown.split(",")) is there


def test_a_size_that_nobody_named():
    assert size_for(0) == 16 * GB
    assert size_for(10 * GB) == 42 * GB
    assert size_for(10 * GB + 1) == 43 * GB


def test_a_placement_without_kind_options_is_plain():
    assert parse("loop:ext4") == Place("loop", file_system="ext4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("loop:btrfs,raid5", "btrfs loses data with raid5"),
        ("loop:ext4,members=3", "members=3 needs a level: raid0, raid1, raid10, raid5"),
        ("loop:ext4,raid5,members=2", "raid5 has 3 to 16 members; given 2"),
        ("loop:ext4,raid5,members=many", "'many' is no number of members"),
        ("loop:raid1,raid0", "two levels: the second is 'raid0'"),
        ("loop:write-cache=off", "write-cache has no 'off'"),
        ("tmpfs:write-cache=back", "tmpfs has no mount option 'write-cache'"),
        ("volatile:ext4,raid1", "ext4 has no mount option 'raid1'"),
    ],
)
def test_levels_and_caches_that_cannot_be_are_refused(text: str, said: str) -> None:
    with pytest.raises(WrongInputError, match=re.escape(said)):
        parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("loop:btrfs,raid1", "loop:btrfs,raid1,members=2"),
        ("nbd:raid10,xfs,rate=10MB", "nbd:xfs,raid10,members=4,rate=10MB"),
        ("loop:ext4,raid5", "loop:ext4,raid5,members=3"),
    ],
)
def test_a_level_has_as_many_members_as_it_needs(text: str, written: str) -> None:
    assert parse(text).text == written


def test_members_without_a_speed_of_their_own_show_the_overhead_only() -> None:
    assert parse("loop:btrfs,raid0").overhead_only
    assert parse("nbd:btrfs,raid0").overhead_only
    assert not parse("nbd:btrfs,raid0,write-delay=1ms").overhead_only
    assert not parse("nbd:btrfs,raid0,rate=50MB").overhead_only
    assert not parse("loop:btrfs").overhead_only


def test_a_cache_that_is_said_to_write_through_is_unsafe() -> None:
    assert "sends no flushes" in str(parse("loop:ext4,write-cache=through").unsafe)
    assert parse("loop:ext4,write-cache=back").unsafe is None


def test_several_devices_do_not_lose_their_power_together() -> None:
    with pytest.raises(WrongInputError, match="several devices"):
        parse("loop:btrfs,raid1").volatile()
    assert parse("loop:ext4,write-cache=through").volatile().text == "volatile:ext4"


def test_md_makes_its_members_ready_at_once() -> None:
    words = create_words("x", "raid5", [Path("/dev/loop0"), Path("/dev/loop1"), Path("/dev/loop2")])
    assert [str(word) for word in words] == [
        *("--create", "/dev/md/x", "--run", "--metadata=1.2", "--homehost=any", "--name=x"),
        *("--level=5", "--assume-clean", "--bitmap=none", "--raid-devices=3"),
        *("/dev/loop0", "/dev/loop1", "/dev/loop2"),
    ]
    assert "--assume-clean" not in create_words("x", "raid0", [Path("/dev/loop0")])
