"""The profiles of storage: what people know of them, how long they take, and their depths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from pydantic import ValidationError

from loadstone.cli.main import run_command
from loadstone.errors import TargetError, WrongInputError
from loadstone.load.profiles import phases_of
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.base import Target
from loadstone.workloads.storage.curves import at_depths, depths_of
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import PROFILES
from loadstone.workloads.storage.tests import Job, StorageTest, single
from loadstone.workloads.storage.wanted import passes_of, profile_of, wanted_depths, whole_s
from loadstone.workloads.storage.workload import Storage

KB, MB = 1 << 10, 1 << 20
RND4K, RND4K_Q32 = ("randread", 4 * KB, 1, 1), ("randread", 4 * KB, 32, 1)
SEQ1M, SEQ128K_Q32 = ("read", MB, 1, 1), ("read", 128 * KB, 32, 1)
CRYSTAL = {
    "cdm3": [SEQ1M, ("randread", 512 * KB, 1, 1), RND4K, RND4K_Q32],
    "cdm5": [SEQ128K_Q32, RND4K_Q32, SEQ1M, RND4K],
    "cdm6": [SEQ128K_Q32, ("randread", 4 * KB, 8, 8), RND4K_Q32, RND4K],
    "cdm8": [("read", MB, 8, 1), SEQ1M, RND4K_Q32, RND4K],
    "cdm8-nvme": [("read", MB, 8, 1), SEQ128K_Q32, ("randread", 4 * KB, 32, 16), RND4K],
}
CRYSTAL["cdm9"] = CRYSTAL["cdm8"]


def shape(test: StorageTest) -> tuple[str, int, int, int]:
    (job,) = test.jobs
    return job.access, job.block_bytes, job.depth, job.threads


@pytest.mark.parametrize("name", CRYSTAL)
def test_crystaldiskmark_reads_and_then_writes_the_same(name: str) -> None:
    profile = PROFILES[name]
    reads = [shape(each) for each in profile.tests[:4]]
    writes = [shape(each) for each in profile.tests[4:]]
    assert reads == CRYSTAL[name]
    assert writes == [(what.replace("read", "write"), *rest) for what, *rest in CRYSTAL[name]]
    assert (profile.discarded, profile.pass_s, profile.pause_s) == (1, 5.0, 5.0)
    assert profile.passes == (3 if name == "cdm9" else 5)
    assert profile.score == "maximum"


def test_the_familiar_time_has_all_passes_and_the_pauses() -> None:
    assert whole_s(StorageParameters()) == 8 * (1 + 5) * 5 + 7 * 5
    assert whole_s(StorageParameters(profile="cdm9")) == 8 * (1 + 3) * 5 + 7 * 5
    short = StorageParameters(passes=2, pass_length="0.5s", pause="0s")  # type: ignore[arg-type]
    assert whole_s(short) == 8 * 3 * 0.5


@pytest.mark.parametrize("name", PROFILES)
def test_each_test_is_a_phase_with_names_of_its_own(name: str) -> None:
    workload = Storage(StorageParameters(profile=name))
    tests = workload.profile.tests
    phases = phases_of(workload.loaded(ProfileSpec()))
    assert [each["name"] for each in phases] == [each.name for each in tests]
    assert {each["kind"] for each in phases} == {"measure"}
    operations = [each for test in tests for each in test.operations]
    assert len(operations) == len(set(operations))


def test_a_database_has_pages_a_log_and_both_together() -> None:
    pages8, pages16, log, both8, both16 = PROFILES["database"].tests
    assert [each.jobs[0].block_bytes for each in (pages8, pages16)] == [8 * KB, 16 * KB]
    assert {each.jobs[0].access for each in (pages8, pages16)} == {"randrw"}
    assert (log.jobs[0].access, log.jobs[0].sync) == ("write", "fdatasync")
    for both, pages in ((both8, pages8), (both16, pages16)):
        assert [replace(job, name="") for job in both.jobs] == [*pages.jobs, *log.jobs]
        assert len(set(both.operations)) == 2
        assert len({job.file for job in both.jobs}) == 2


@pytest.mark.parametrize(
    ("text", "depths"),
    [
        ("1..64", (1, 2, 4, 8, 16, 32, 64)),
        ("1..48", (1, 2, 4, 8, 16, 32, 48)),
        ("3 .. 4", (3, 4)),
        ("1, 5,9", (1, 5, 9)),
        ("7", (7,)),
    ],
)
def test_depths_double_or_are_named(text: str, depths: tuple[int, ...]) -> None:
    assert depths_of(text) == depths


@pytest.mark.parametrize("text", ["", "0..4", "4..2", "4..4", "1,1", "2,1", "1..9999", "a", "-1"])
def test_depths_that_do_not_rise_are_refused(text: str) -> None:
    with pytest.raises(WrongInputError, match="depths"):
        depths_of(text)


def test_a_curve_is_one_test_that_differs_in_depth_alone() -> None:
    curve = profile_of(StorageParameters(profile="curve")).tests
    assert [each.jobs[0].depth for each in curve] == [1, 2, 4, 8, 16, 32, 64]
    assert [each.name for each in curve][:2] == ["RND4K Q1T1 read", "RND4K Q2T1 read"]
    assert len({replace(each.jobs[0], depth=1) for each in curve}) == 1
    own = StorageParameters(profile="cdm6", test="4kib q8t8 write", depths="2,4")
    assert [each.name for each in profile_of(own).tests] == ["RND4K Q2T8 write", "RND4K Q4T8 write"]


def test_depths_need_one_test_of_one_job() -> None:
    with pytest.raises(WrongInputError, match="measured with one test"):
        profile_of(StorageParameters(depths="1..4"))
    both = StorageTest("two", "two", (Job("read", KB), Job("write", KB)))
    with pytest.raises(WrongInputError, match="several jobs"):
        at_depths([both], [1, 2])
    with pytest.raises(WrongInputError, match="did you mean 'SEQ1M Q"):
        profile_of(StorageParameters(test="SEQ1M Q1 read"))
    assert at_depths([single("x", Job("read", 3 * KB, 1, 2))], [8])[0].name == "SEQ3K Q8T2 read"


def test_the_list_shows_tests_passes_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list", "storage", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["storage"]}
    assert rows.keys() == {*PROFILES, "catalogue"}
    assert rows["cdm8"]["time"] == "4min 35s"
    assert rows["cdm8"]["passes"] == 5
    assert rows["cdm8"]["tests"][0] == "SEQ1M Q8T1 read"


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert run_command(["plan", "storage", *words, "--json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def test_a_plan_says_the_familiar_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["plan", "storage", "--profile", "cdm8", "--on", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "cdm8: 8 tests of 5 passes, 4min 35s" in said
    assert "to the database" not in said
    seconds = planned(capsys, "--profile", "cdm8", "--on", str(tmp_path))["duration_s"]
    assert isinstance(seconds, float)
    assert 275 <= seconds <= 290


def test_a_place_says_itself_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = planned(capsys, "--on", str(tmp_path))["experiment"]
    assert isinstance(experiment, dict)
    assert experiment["target"]["engine"] == "folder"
    assert experiment["target"]["data"] == str(tmp_path)
    assert run_command(["plan", "storage", "--on", "ftp://host/x"]) == 2
    assert "there is no target 'ftp'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["storage", "--profile", "cdm7"], "there is no profile 'cdm7'; did you mean"),
        (["storage", "--on", "/nowhere/at/all"], "there is no folder /nowhere/at/all"),
        (["storage", "--on", "/tmp", "--data", "/tmp"], "can be set once"),
        (["storage", "--on", "/tmp", "--target", "folder"], "can be set once"),
        (["oltp", "--profile", "cdm8"], "there is no such field"),
        (["storage", "--param", "fio=x.fio", "--profile", "cdm5"], "profile would have no effect"),
        (["storage", "--param", "fio=x.fio"], "there is no file"),
    ],
)
def test_what_cannot_be_is_said_once(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["plan", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("loadstone: ") == 1
    assert "Traceback" not in error


class OneDisk:
    """A target whose test files are all the one disk."""

    engine = "device"

    def __init__(self, disk: Path, size_bytes: int | None = None) -> None:
        self._disk = disk
        self._size_bytes = size_bytes

    def disk_bytes(self) -> int | None:
        return self._size_bytes

    def laying_out(self, names: Sequence[str]) -> AbstractContextManager[Sequence[Path]]:
        return nullcontext([self._disk])


@pytest.mark.parametrize("sizes", [("1m", "4m"), ("4m", "1m")])
def test_a_disk_holds_the_largest_of_its_test_files(tmp_path: Path, sizes: tuple[str, str]) -> None:
    path = tmp_path / "two.fio"
    path.write_text("".join(f"[{size}]\nsize={size}\nrw=write\nstonewall\n" for size in sizes))
    disk = tmp_path / "disk"
    Storage(StorageParameters(fio=str(path))).prepare(cast("Target", OneDisk(disk)))
    assert disk.stat().st_size == 4 * MB


def test_one_depth_and_a_size_without_a_unit_are_taken_as_text() -> None:
    said = {"profile": "curve", "depths": 4}
    assert wanted_depths(StorageParameters.model_validate(said)) == (4,)
    with pytest.raises(ValidationError, match="'64' is not a size: write for example 8GB"):
        StorageParameters.model_validate({"file_size": 64})


def test_a_file_that_holds_no_block_is_refused() -> None:
    own = StorageParameters(profile="cdm6", file_size="64kB")
    with pytest.raises(WrongInputError, match="64kB is too small for SEQ128K Q32T1"):
        passes_of(own, profile_of(own))
    own = StorageParameters(profile="cdm8", file_size="1MiB")
    assert passes_of(own, profile_of(own)).file_bytes == 1 << 20


def test_a_disk_that_is_smaller_than_a_test_file_is_refused(tmp_path: Path) -> None:
    """fio would measure what there is, and not say so."""
    workload = Storage(StorageParameters(file_size="2MB"))
    with pytest.raises(TargetError, match="the tests take 2 MB, and the disk has 1 MB"):
        workload.prepare(cast("Target", OneDisk(tmp_path / "disk", MB)))
    assert not (tmp_path / "disk").exists()
