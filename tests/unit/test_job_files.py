"""Job files of fio: what harmless ones mean, and that others are refused before fio sees them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from loadstone.cli.main import run_command
from loadstone.errors import WrongInputError
from loadstone.experiments.file import load_experiment
from loadstone.fio.ground import Ground, ground_of
from loadstone.fio.job_file import job_file
from loadstone.fio.plan import StorageParameters as PlanParameters
from loadstone.runner.plan import RefusalError
from loadstone.workloads.storage.jobs.reading import JobFile, read_job_file
from loadstone.workloads.storage.jobs.resolving import in_full, resolved
from loadstone.workloads.storage.jobs.tests import tests_of_file as profile_in
from loadstone.workloads.storage.parameters import StorageParameters
from loadstone.workloads.storage.profiles import StorageProfile
from loadstone.workloads.storage.wanted import whole_s

MB = 1 << 20
GROUPS = """; pages, then a log
[global]
include common.inc
blocksize=4k
description=what it is # no option --rw=write

[random reads]
readwrite=randread
iodepth = 4
numjobs=2
group_reporting

[log]
stonewall
rw=write
bs=8k
fdatasync=1
[pages] # beside the log
rw=randrw
rwmixread=70
size=32m
runtime=3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "common.inc").write_text("size=${SIZE}\nruntime=2s\nioengine=libaio\ndirect=1\n")
    monkeypatch.setenv("SIZE", "64m")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "jobs.fio"
    path.write_text(text)
    return path


def profile_of_text(folder: Path, text: str, pass_s: float | None = None) -> StorageProfile:
    return profile_in(str(written(folder, text)), pass_s)


def test_includes_globals_and_variables_are_resolved(folder: Path) -> None:
    jobs = {each.name: dict(each.options) for each in resolved(_read(folder, GROUPS))}
    assert list(jobs) == ["random reads", "log", "pages"]
    assert jobs["random reads"]["size"] == "64m"
    assert jobs["random reads"]["rw"] == "randread"
    assert (jobs["log"]["bs"], jobs["log"]["runtime"]) == ("8k", "2s")
    assert (jobs["pages"]["size"], jobs["pages"]["runtime"]) == ("32m", "3")


def _read(folder: Path, text: str) -> JobFile:
    return read_job_file(written(folder, text))


def test_a_file_is_kept_as_one_text_that_needs_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(folder, GROUPS)
    before, text = profile_in(str(path), None), in_full(path)
    assert "include" not in text
    assert "$" not in text
    monkeypatch.delenv("SIZE")
    path.unlink()
    assert profile_in(text, None) == before
    harmful = text + "exec_prerun=touch /tmp/owned\n"
    with pytest.raises(WrongInputError, match=r"exec_prerun=touch .* in section \[pages\]"):
        profile_in(harmful, None)


def test_an_experiment_holds_the_text(folder: Path) -> None:
    path = written(folder, GROUPS)
    file = folder / "x.yaml"
    file.write_text(
        f"version: 1\nname: x\nworkload: {{name: storage, parameters: {{fio: {path}}}}}\n"
        "target: {engine: folder}\n"
    )
    said = load_experiment(file).experiment.workload.parameters["fio"]
    assert said == in_full(path)


def test_a_job_file_is_no_level(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder, GROUPS)
    words = ["compare", "storage", "--factor", "workload.fio", "--levels", f"{path},{path}"]
    assert run_command(words) == 2
    assert "a job file is no level of a factor" in capsys.readouterr().err


def test_groups_become_tests_with_jobs_apart(folder: Path) -> None:
    reads, both = profile_of_text(folder, GROUPS).tests
    assert (reads.name, both.name) == ("random reads read", "log, pages mix")
    assert reads.operations == ("random-reads-read",)
    assert both.operations == ("log-pages-mix-log", "log-pages-mix-pages")
    assert [job.file for job in reads.jobs] == ["job-random-reads-0", "job-random-reads-1"]
    assert [job.file_bytes for job in both.jobs] == [64 * MB, 32 * MB]
    assert [job.sync for job in both.jobs] == ["fdatasync", "none"]
    assert both.jobs[1].read_percent == 70
    assert (reads.pass_s, both.pass_s) == (2.0, 3.0)


def test_bytes_and_seconds_are_known_before_the_start(folder: Path) -> None:
    path = written(folder, GROUPS)
    assert whole_s(StorageParameters(fio=str(path), passes=2)) == 2 * (2 + 3)
    endless = profile_of_text(folder, "[a]\nrw=read\nsize=1m\noffset=4k\n", pass_s=7.0).tests[0]
    assert endless.pass_s == 7.0
    assert endless.jobs[0].options["runtime"] == "7000ms"
    assert endless.jobs[0].file_bytes == MB + 4096
    with pytest.raises(WrongInputError, match=r"job \[a\] has no size"):
        profile_of_text(folder, "[a]\nrw=read\n")


def test_a_file_that_is_named_is_shared(folder: Path) -> None:
    (one,) = profile_of_text(folder, "[a]\nfilename=data.1\nnumjobs=3\nsize=1m\n").tests
    assert [(job.file, job.threads) for job in one.jobs] == [("file-data-1", 3)]
    with pytest.raises(WrongInputError, match="choose names that differ"):
        profile_of_text(folder, "[a]\nfilename=x.1\nsize=1m\n[b]\nfilename=x-1\nsize=1m\n")


def test_fio_is_told_what_the_file_says_and_where(folder: Path) -> None:
    (test,) = profile_of_text(folder, "[a]\nfilename=x\nrw=randread\nsize=1m\nruntime=1\n").tests
    plan = PlanParameters.model_validate(
        {
            "tests": json.loads(json.dumps([test.plan()])),
            "passes": 1,
            "pass_s": 5.0,
            "file_bytes": MB,
            "folder": "/trial",
        }
    )
    text = job_file(plan.tests[0], plan, Ground("files", "/there"), "io_uring", 1)
    assert set(text.splitlines()) - {"", "[global]", "[job0]"} == {
        "write_hist_log=times",
        "log_hist_msec=1000",
        "rw=randread",
        "size=1m",
        "runtime=1",
        "ioengine=psync",
        "filename=/there/file-x-0.test",
        "numjobs=1",
    }


OWNED = "/tmp/owned-by-a-job-file"
DANGEROUS = {
    "a section called like a device": "[/dev/sda]\nrw=write\nsize=1m\n",
    "a section that climbs": "[../../x]\nrw=write\nsize=1m\n",
    "a device as file": "[a]\nfilename=/dev/sda\nrw=write\nsize=1m\n",
    "a device in a list": "[a]\nfilename=ok:/dev/sda\nrw=write\nsize=1m\n",
    "an unset variable": "[a]\nfilename=${NOT_SET}\nrw=write\nsize=1m\n",
    "a variable with a path": "[a]\nfilename=${DEVICE}\nrw=write\nsize=1m\n",
    "a folder above": "[a]\ndirectory=../..\nrw=write\nsize=1m\n",
    "a program": f"[a]\nexec_prerun=touch {OWNED}\nrw=read\nsize=1m\n",
    "a log somewhere": "[a]\nwrite_bw_log=/etc/x\nrw=read\nsize=1m\n",
    "an engine from a file": "[a]\nioengine=external:./x.so\nrw=read\nsize=1m\n",
    "an engine by its path": "[a]\nioengine=./x.so\nrw=read\nsize=1m\n",
    "a replay": "[a]\nread_iolog=x\nrw=read\nsize=1m\n",
    "a replay without a name": "[a]\nread_iolog=\nrw=read\nsize=1m\n",
    "a setting of the machine": "[a]\nioscheduler=\nrw=read\nsize=1m\n",
    "a file that is removed": "[a]\nunlink=1\nfilename=mine\nrw=read\nsize=1m\n",
    "arithmetic in a shell": f"[a]\nsize=8*$mb_memory'; touch {OWNED}; '\nrw=read\n",
    "a trim": "[a]\nrw=randtrim\nsize=1m\n",
    "a pattern from a file": "[a]\nbuffer_pattern='/etc/shadow'\nsize=1m\n",
    "memory from a file": "[a]\niomem=mmaphuge:/etc/x\nsize=1m\n",
    "a device that is included": "[a]\ninclude /dev/zero\nsize=1m\n",
    "an option behind a carriage return": f"[a]\nsize=1m\rexec_prerun=touch {OWNED}\n",
    "an option behind a form feed": f"[a]\nsize=1m\fexec_prerun=touch {OWNED}\n",
    "an option in a section line": f"[a]exec_prerun=touch {OWNED}\nsize=1m\n",
    "an option in a long line": "[a]\nsize=1m;" + "x" * 9000 + f"\nexec_prerun=touch {OWNED}\n",
    "an option before all sections": f"exec_prerun=touch {OWNED}\n[a]\nsize=1m\n",
    "an option that is cut from a name": f"[a]\n--exec_prerun=touch {OWNED}\nsize=1m\n",
    "an option in a global": f"[globalx]\nexec_prerun=touch {OWNED}\n[a]\nsize=1m\n",
}


@pytest.fixture
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there when fio was asked to parse anything."""
    seen = folder / "fio-was-called"
    stand_in = folder / "bin" / "fio"
    stand_in.parent.mkdir()
    real = shutil.which("fio") or "/bin/false"
    stand_in.write_text(
        f'#!/bin/sh\ncase "$1" in --version|--enghelp) exec {real} "$@";; esac\ntouch {seen}\n'
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in.parent), prepend=":")
    monkeypatch.setenv("DEVICE", "/dev/sda")
    return seen


@pytest.mark.parametrize("what", DANGEROUS)
def test_what_could_do_harm_is_refused_before_fio_sees_it(
    what: str, folder: Path, watched: Path
) -> None:
    with pytest.raises(WrongInputError) as caught:
        profile_of_text(folder, DANGEROUS[what])
    assert str(folder / "jobs.fio") in caught.value.message
    assert not watched.exists()
    assert not Path(OWNED).exists()


@pytest.mark.parametrize("verb", ["plan", "run"])
@pytest.mark.parametrize("what", ["a section called like a device", "a program"])
def test_a_command_ends_before_anything_is_opened(
    verb: str, what: str, folder: Path, watched: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder / "place"
    place.mkdir()
    path = written(folder, DANGEROUS[what])
    results = str(folder / "results")
    words = [verb, "storage", "--param", f"fio={path}", "--on", str(place)]
    assert run_command(words + (["--results", results] if verb == "run" else [])) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert f"{path}:" in said
    assert not watched.exists()
    assert not list(place.iterdir())
    assert not Path(results).exists()


def test_an_option_is_named_with_its_section_and_the_file_of_the_include(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.inc").write_text("bs=4k\nfilename=/dev/sda\n")
    (folder / "first.inc").write_text("include sub/deep.inc\n")
    with pytest.raises(WrongInputError) as caught:
        profile_of_text(folder, "[a]\nsize=1m\ninclude first.inc\n")
    said = caught.value.message
    assert f"{folder / 'sub' / 'deep.inc'}:2: filename=/dev/sda in section [a]" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no job"),
        ("[global]\nsize=1m\n", "has no job"),
        ("[a]\nsize=1m\nsize=2m\n", "too: keep one"),
        ("[a]\nsize=1m\nblocksize=4k\nbs=8k\n", "too: keep one"),
        ("[a]\nsize=1m\nbs=4k, 8k\n", "its value must be"),
        ("[a]\nsize=1m\ninclude nowhere.inc\n", "no such file"),
        ("[a]\ninclude loop.inc\n", "cannot be followed"),
        ("[a]\nsize=1m\niodepth=99999999999999999999999\n", "fio does not take"),
        ("[a]\nsize=1m\n[a]\nstonewall\nsize=1m\n", "called 'a read'"),
        ("[a]\nnumjobs=999\nsize=1m\n", "999 threads together"),
        ("[a]\nsize=1m\nruntime=1000h\ntime_based\n", "run for 1000h: a pass of a day"),
        ("[a]\nsize=1m\nbs=256\n", "a block of 256 bytes"),
        ("[a]\nsize=1m\nbs=2m\n", "size of 1048576 bytes holds no block of 2097152"),
        ("[a]\nsize=1m\niodepth=9999\n", "iodepth=9999 is none of 1 to 4096"),
        ("[a]\nsize=1m\nzero=1\n", "no option that Loadstone knows"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, text: str, said: str) -> None:
    (folder / "loop.inc").write_text("include loop.inc\n")
    with pytest.raises(WrongInputError, match=said):
        profile_of_text(folder, text)


def test_a_password_in_a_variable_is_not_quoted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "S3cret/9x")
    with pytest.raises(WrongInputError) as caught:
        profile_of_text(folder, "[a]\nsize=${SECRET}\n")
    assert "S3cret" not in str(caught.value)


@pytest.mark.parametrize("there", ["link", "file", "folder", "job"])
def test_what_is_there_is_not_opened(there: str, folder: Path, tmp_path: Path) -> None:
    place, target = tmp_path / "place", tmp_path / "precious"
    place.mkdir()
    target.write_text("precious")
    if there == "link":
        (place / "x").symlink_to(target)
    elif there == "file":
        (place / "x").write_text("precious")
    else:
        (place / "x").mkdir()
    name = "[x]\n" if there == "job" else "[a]\nfilename=x\n"
    path = written(folder, f"{name}rw=write\nsize=1m\n")
    words = ["storage", "--param", f"fio={path}", "--on", str(place)]
    assert run_command(["plan", *words]) == 2
    assert target.read_text() == "precious"
    assert [each.name for each in place.iterdir()] == ["x"]


def test_a_hundred_jobs_of_ten_gigabytes_are_too_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder / "place"
    place.mkdir()
    path = written(folder, "[a]\nrw=write\nnumjobs=100\nsize=10000g\n")
    assert run_command(["plan", "storage", "--param", f"fio={path}", "--on", str(place)]) == 2
    assert "the files of the job file take 977 TB" in capsys.readouterr().err
    assert not list(place.iterdir())


@pytest.mark.parametrize("name", ["a${HOME}b", "a$ncpus", "$mb_memory';x", "a\nb"])
def test_a_folder_in_whose_name_fio_reads_a_variable_is_refused(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder / name
    place.mkdir()
    assert run_command(["plan", "storage", "--on", str(place)]) == 2
    assert "which fio would not keep" in capsys.readouterr().err
    with pytest.raises(RefusalError, match="which fio would not keep"):
        ground_of({"protocol": "files", "folder": str(place)})


@pytest.mark.parametrize("name", ["a b", "a:b", "a,b", "ü-日本", 'a"b', "c$", "#a;b"])
def test_other_folders_can_be_told(name: str, folder: Path) -> None:
    place = folder / name
    place.mkdir()
    assert run_command(["plan", "storage", "--on", str(place)]) == 0
    assert ground_of({"protocol": "files", "folder": str(place)}).place == str(place)
