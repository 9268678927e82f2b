"""Figures of CrystalDiskMark and fio are read, and stand beside equal tests only."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sample_storage import alone, write_storage

from loadstone.errors import WrongInputError
from loadstone.fio.output import parse_output
from loadstone.report.document import build_document
from loadstone.report.terminal import print_report
from loadstone.results.references.crystaldiskmark import read_crystaldiskmark
from loadstone.results.references.fio_json import read_fio
from loadstone.results.references.foreign import decoded
from loadstone.results.references.imported import imported_references, keep_reference

RULE = "-" * 71
HEAD = "{rule}\nCrystalDiskMark {version} x64 (C) 2007-2021 hiyohiyo\n  Crystal Dew World : http://x\n{rule}\n"
UNITS = "* MB/s = 1,000,000 bytes/s [SATA/600]\n* KB = 1000 bytes, KiB = 1024 bytes\n\n"


def head(version: str) -> str:
    return HEAD.format(rule=RULE, version=version) + UNITS


VERSION_3 = (
    head("3.0.3")
    + """\
           Sequential Read :   522.318 MB/s
          Sequential Write :   505.201 MB/s
         Random Read 512KB :   465.183 MB/s
   Random Write 4KB (QD=1) :    88.403 MB/s [ 21582.8 IOPS]
   Random Read 4KB (QD=32) :   392.613 MB/s [ 95852.8 IOPS]

  Test : 1000 MB [C: 51.7% (115.3/223.2 GB)] (x5)
  Date : 2014/01/10 12:00:00
    OS : Windows 8.1 [6.3 Build 9600] (x64)
"""
)
VERSION_5 = (
    head("5.0.2")
    + """\
   Sequential Read (Q= 32,T= 1) :   547.361 MB/s
 Random Write 4KiB (Q= 32,T= 1) :   359.144 MB/s [ 87681.6 IOPS]
         Sequential Read (T= 1) :   522.318 MB/s
   Random Read 4KiB (Q= 1,T= 1) :    33.620 MB/s [  8208.0 IOPS]

  Test : 1024 MiB [C: 51.7% (115.3/223.2 GiB)] (x5)  [Interval=5 sec]
"""
)
VERSION_6 = (
    head("6.0.0")
    + """\
  Random Read 4KiB (Q=  8,T= 8) :     7.892 MB/s [   1926.8 IOPS]
"""
)
VERSION_7 = (
    head("7.0.0")
    + """\
[Read]
Sequential 1MiB (Q=  8, T= 1):   101.514 MB/s [     96.8 IOPS] < 81970.32 us>
    Random 4KiB (Q= 32, T=16):     0.851 MB/s [    207.8 IOPS] <635043.04 us>

[Write]
    Random 4KiB (Q=  1, T= 1):     0.664 MB/s [    162.1 IOPS] <  6152.49 us>

Profile: Default
   Test: 1 GiB (x5) [Interval: 5 sec] <DefaultAffinity=DISABLED>
"""
)
VERSION_8 = (
    head("8.0.4")
    + """\
[Read]
  SEQ    1MiB (Q=  8, T= 1):  7427.860 MB/s [   7083.7 IOPS] <   987.81 us>
  SEQ  128KiB (Q= 32, T= 1):  7429.732 MB/s [  56684.4 IOPS] <   546.67 us>
  RND    4KiB (Q= 32, T=16):     0.000 MB/s [      0.0 IOPS] <     0.00 us>

[Write]
  RND    4KiB (Q=  1, T= 1):   287.520 MB/s [  70195.3 IOPS] <    14.16 us>

[Mix] Read 70%/Write 30%
  RND    4KiB (Q=  1, T= 1):    70.461 MB/s [  17202.4 IOPS] <    58.03 us>

Profile: Real
   Test: 1 GiB (x5) [C: 4% (79/1862GiB)]
   Mode: [Admin] <0Fill>
   Time: Measure 5 sec / Interval 5 sec
   Date: 2024/01/06 5:41:48
     OS: Windows 11  [10.0 Build 22631] (x64)
Comment: after the update
  99.000 MB/s they said
"""
)


def facts(text: str) -> list[tuple[Any, ...]]:
    """Access, block, depth, threads and rate of each."""
    return [
        (
            *(each.facts[name] for name in ("access", "block_bytes", "depth", "threads")),
            each.mb_per_s,
        )
        for each in read_crystaldiskmark(text).figures
    ]


def test_labels_of_every_version_say_access_block_depth_and_threads() -> None:
    kib, mib = 1 << 10, 1 << 20
    assert facts(VERSION_3) == [
        ("read", mib, 1, 1, 522.318),
        ("write", mib, 1, 1, 505.201),
        ("randread", 512 * kib, 1, 1, 465.183),
        ("randwrite", 4 * kib, 1, 1, 88.403),
        ("randread", 4 * kib, 32, 1, 392.613),
    ]
    assert facts(VERSION_5) == [
        ("read", 128 * kib, 32, 1, 547.361),
        ("randwrite", 4 * kib, 32, 1, 359.144),
        ("read", mib, 1, 1, 522.318),
        ("randread", 4 * kib, 1, 1, 33.62),
    ]
    assert facts(VERSION_6) == [("randread", 4 * kib, 8, 8, 7.892)]
    assert facts(VERSION_7) == [
        ("read", mib, 8, 1, 101.514),
        ("randread", 4 * kib, 32, 16, 0.851),
        ("randwrite", 4 * kib, 1, 1, 0.664),
    ]
    assert facts(VERSION_8) == [
        ("read", mib, 8, 1, 7427.86),
        ("read", 128 * kib, 32, 1, 7429.732),
        ("randwrite", 4 * kib, 1, 1, 287.52),
        ("randrw", 4 * kib, 1, 1, 70.461),
    ]


def test_what_is_no_figure_is_told_with_its_reason() -> None:
    found = read_crystaldiskmark(VERSION_8)
    (idle,) = found.left_out
    assert idle.where == "line 11"
    assert idle.reason == "it was not run: 0.000 is what stands for that"
    assert found.figures[-1].facts["read_percent"] == 70
    assert found.date == "2024/01/06 5:41:48"
    assert found.load.startswith("Real, 1 GiB (x5)")
    assert any("<0Fill>" in remark for remark in found.remarks)
    strange = read_crystaldiskmark("SEQ 1MiB (Q=8, T=1): 10.5 MB/s\nRandom 5: 3 MB/s\nhello\n")
    assert [each.reason for each in strange.left_out] == [
        "no [Read] or [Write] stands above it",
        "a test of no known form",
        "no test, and no known fact",
    ]
    with pytest.raises(WrongInputError, match="no figure of a test"):
        strange.reference("x", "x.txt")


def test_each_encoding_and_a_quoted_paste_are_the_same_text() -> None:
    same = facts(VERSION_7)
    for raw in (
        VERSION_7.encode(),
        b"\xef\xbb\xbf" + VERSION_7.encode(),
        VERSION_7.replace("\n", "\r\n").encode("utf-16"),
        VERSION_7.encode("utf-16-le"),
        VERSION_7.replace(" ", "\xa0").encode(),
    ):
        assert facts(decoded(raw)) == same
    assert facts("\n".join(f"> {line}" for line in VERSION_7.splitlines())) == same


def test_two_results_in_one_text_and_an_older_version_are_refused() -> None:
    with pytest.raises(WrongInputError, match="2 results of CrystalDiskMark, from lines 2 and"):
        read_crystaldiskmark(VERSION_7 + VERSION_8)
    with pytest.raises(WrongInputError, match="versions 3 to 9"):
        read_crystaldiskmark(head("2.2.0"))


@given(st.text(max_size=300), st.integers(0, 400))
def test_any_text_is_read_or_refused(noise: str, at: int) -> None:
    try:
        found = read_crystaldiskmark(VERSION_8[:at] + noise + VERSION_8[at:])
    except WrongInputError:
        return
    assert all(each.mb_per_s > 0 for each in found.figures)


def job(name: str, version: int, **options: str) -> dict[str, Any]:
    """A job that read 1 GiB in 2 s with 50 us, as that version tells it."""
    moved = {"total_ios": 262144, "runtime": 2000, "bw": 524288, "iops": 131072.0}
    if version == 2:
        moved |= {"io_bytes": 1 << 20, "clat": {"mean": 50.0}}
    else:
        moved |= {"io_bytes": 1 << 30, "bw_bytes": 1 << 29, "clat_ns": {"mean": 50_000.0}}
    nothing = {"io_bytes": 0, "total_ios": 0, "runtime": 0}
    return {
        "jobname": name, "groupid": 0, "error": 0, "job options": {"rw": "randread", **options},
        "read": moved, "write": nothing,
    }  # fmt: skip


@pytest.mark.parametrize(("told", "version"), [("fio-2.16", 2), ("fio-3.33", 3)])
def test_units_of_fio_are_those_of_its_version(told: str, version: int) -> None:
    document = {
        "fio version": told,
        "jobs": [job("a", version, bs="4k", iodepth="8", ioengine="libaio")],
    }
    (figure,) = read_fio(document, []).figures
    assert figure.mb_per_s == pytest.approx((1 << 30) / 2 / 1e6)
    assert figure.ios_per_s == 131072
    assert figure.latency_us == pytest.approx(50.0)
    assert figure.facts == {"access": "randread", "block_bytes": 4096, "depth": 8, "threads": 1}
    assert not figure.apart


@pytest.mark.parametrize(
    ("written", "size_bytes"), [("4k", 4096), ("4kB", 4096), ("4Ki", 4096), ("4KiB", 4000)]
)
def test_a_block_is_as_large_as_fio_takes_it(written: str, size_bytes: int) -> None:
    (figure,) = read_fio({"fio version": "fio-3.33", "jobs": [job("a", 3, bs=written)]}, []).figures
    assert figure.facts["block_bytes"] == size_bytes


def test_notes_around_the_json_are_listed_and_jobs_of_one_name_are_one() -> None:
    document = {
        "fio version": "fio-3.33",
        "global options": {"direct": "1", "numjobs": "2"},
        "jobs": [job("a", 3, bs="4k"), job("a", 3, bs="4k")],
    }
    output = parse_output(f"note: both {{iodepth}} >= 1\n{json.dumps(document)}\nCPU mask\n")
    assert output.document is not None
    found = read_fio(output.document, output.notes)
    assert [each.text for each in found.left_out] == ["note: both {iodepth} >= 1", "CPU mask"]
    (figure,) = found.figures
    assert figure.mb_per_s == pytest.approx((1 << 30) / 1e6)
    assert figure.facts["threads"] == 2
    assert figure.facts["depth"] == 1, "psync has one request at a time"


def test_what_no_test_of_ours_is_equal_to_says_why() -> None:
    jobs = [
        job("mixed", 3, bs="4k", rw="randrw"),
        {**job("one", 3, bs="4k"), "groupid": 1},
        {**job("other", 3, bs="1m"), "groupid": 1},
        {**job("bare", 3), "groupid": 2, "job options": {}},
        {**job("spread", 3, bssplit="4k/50:8k/50"), "groupid": 3},
        {**job("paced", 3, bs="4k", rate_iops="100"), "groupid": 4},
        {**job("skipping", 3, bs="4k", rw="read:8"), "groupid": 5},
        {**job("broken", 3, bs="4k"), "groupid": 6, "error": 5},
        {**job("idle", 3), "groupid": 7, "read": job("", 3)["write"]},
        {**job("none", 3), "groupid": 8, "read": job("", 3)["read"] | {"io_bytes": None}},
    ]
    found = read_fio({"fio version": "fio-3.33", "jobs": jobs}, [])
    assert [each.apart for each in found.figures] == [
        "reads and writes were mixed, and this is one half",
        "1 other jobs ran at the same time",
        "1 other jobs ran at the same time",
        "the JSON does not tell the options of the job",
        "its blocks are not all of one size",
        "it was held to a rate",
        "its access skips",
    ]
    assert [each.reason for each in found.left_out] == [
        "it ended with error 5",
        "it moved nothing",
        "its 'io_bytes' is missing or no number",
    ]
    for wrong in (
        {"jobs": jobs},
        {"fio version": "fio-4.0", "jobs": jobs},
        {"fio version": "fio-3.1"},
    ):
        with pytest.raises(WrongInputError):
            read_fio(wrong, [])


def test_a_reference_stands_beside_equal_tests_only(tmp_path: Path) -> None:
    folder = write_storage(tmp_path, alone(repeats=3))
    keep_reference(
        tmp_path, read_crystaldiskmark(VERSION_8).reference("desk", "CDM.txt", "desk PC")
    )
    with pytest.raises(WrongInputError, match="there is a reference 'desk'"):
        keep_reference(tmp_path, read_crystaldiskmark(VERSION_8).reference("desk", "CDM.txt"))
    (tmp_path / "references" / "torn.json").write_text("{")
    assert len(imported_references(tmp_path)[0]) == 1
    document = build_document(folder)
    (beside,) = document.beside
    assert beside.hardware == "desk PC"
    equal = {row.label: row.metric for row in beside.rows}
    assert equal == {
        "SEQ1M Q8T1 read": "SEQ1M Q8T1 read score",
        "SEQ128K Q32T1 read": None,
        "RND4K Q1T1 write": "RND4K Q1T1 write score",
        "RND4K Q1T1 mix": None,
    }
    assert any("torn.json is damaged" in notice.message for notice in document.notices)
    text = StringIO()
    print_report(document, folder, Console(file=text, width=80, color_system=None))
    assert "Beside CrystalDiskMark 8.0.4, CDM.txt, MB/s" in text.getvalue()
    assert "One number of each test: nothing is known of its spread" in text.getvalue()
