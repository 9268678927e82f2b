"""The catalogue of small files on a folder: made, worked with, checked; limits are named."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from machine import need

from loadstone.cli.main import run_command
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.results.folder import read_result
from loadstone.results.record import Status, TrialResult
from loadstone.spec.model import Experiment

HOMES = 300
OPERATIONS = ["create", "stat", "open-read", "list", "write-fsync-rename", "delete"]


LAYOUTS = {"kind": "compare", "factor": "workload.layout", "levels": ["hashed", "flat"]}


def experiment(data: Path, engine: str = "folder", **fields: Any) -> Experiment:
    """One trial, unless the fields say otherwise; those that are none are parameters."""
    parameters = {
        "profile": "catalogue",
        "homes": HOMES,
        "home_files": 3,
        "names": "numbered",
    } | fields
    design = parameters.pop("design", {"kind": "run"})
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "catalogue",
            "workload": {"name": "storage", "parameters": parameters},
            "target": {"engine": engine, **({"data": str(data)} if engine == "folder" else {})},
            "profile": {"users": 3, "threads": 2, "warm_up": "0.2s", "measure": "0.6s"},
            "design": design,
        }
    )


def results_of(given: Experiment, folder: Path) -> list[TrialResult]:
    made = conduct(given, RunOptions(results=folder, command="pytest"), Observer())
    return [read_result(each.parent) for each in made.glob("*/result.json")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialResult]:
    """A trial on each layout, by its name; named users."""
    data = tmp_path_factory.mktemp("data")
    given = experiment(data, names="given", design=LAYOUTS)
    found = results_of(given, tmp_path_factory.mktemp("results"))
    assert list(data.iterdir()) == [], "something was left"
    return {each.variant: each for each in found}


def figure(result: TrialResult, name: str) -> float:
    found = result.metric(name)
    assert found is not None, name
    return found.value


def test_every_operation_is_made_and_the_files_agree(results: dict[str, TrialResult]) -> None:
    assert len(results) == 2
    for result in results.values():
        assert result.status is not Status.FAILED, result.notices
        assert [each.name for each in result.operations] == OPERATIONS
        assert all(each.count > 0 and not each.errors for each in result.operations)
        assert [(each.name, each.passed) for each in result.checks] == [
            ("files are whole", True),
            ("no file is missing", True),
            ("files against the account", True),
        ]
        assert result.fingerprint is not None
        assert result.fingerprint.rows == {"homes": HOMES, "files": 3 * HOMES}
        assert {step.name for step in result.took} >= {"load the data", "checks"}


def test_the_fullest_folder_is_told(results: dict[str, TrialResult]) -> None:
    (hashed,) = [each for name, each in results.items() if "flat" not in name]
    (flat,) = [each for name, each in results.items() if "flat" in name]
    assert figure(flat, "fullest_folder") == figure(flat, "median_folder") == HOMES
    assert 1 <= figure(hashed, "median_folder") < figure(hashed, "fullest_folder") < HOMES / 4
    assert any("in the fullest" in notice.message for notice in hashed.notices)
    for result in results.values():
        assert figure(result, "operations_per_s") > figure(result, "mb_per_s") > 0
        assert figure(result, "operations_per_cpu_s") > 0
        assert 0 <= figure(result, "stat_misses_percent") <= 100


def test_a_target_without_folders_is_named(tmp_path: Path) -> None:
    (problem,) = check_experiment(experiment(tmp_path, engine="none"))
    assert "cannot run on none" in problem.message
    assert "folders (many files and folders can be made in it)" in problem.message


@contextlib.contextmanager
def ext4(folder: Path, megabytes: int, *options: str) -> Iterator[Path]:
    """A file system of one's own on a file, mounted."""
    need("loop:ext4")
    image, mount = folder / "disk.img", folder / "mount"
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    mount.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", *options, str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def message_of(data: Path, results: Path, **parameters: Any) -> str:
    """Why the trial failed; nothing of it is left."""
    before = sorted(data.iterdir())
    (result,) = results_of(experiment(data, **parameters), results)
    assert result.status is Status.FAILED
    assert sorted(data.iterdir()) == before
    return " ".join(notice.message for notice in result.notices)


def test_too_few_inodes_are_named_before_anything_is_made(tmp_path: Path) -> None:
    with ext4(tmp_path, 256, "-N", "1000") as data:
        said = message_of(data, tmp_path / "results")
    assert "1,202 files and folders need an inode each" in said
    assert "left of 1,0" in said


@pytest.mark.long
def test_too_many_folders_in_a_folder_are_named(tmp_path: Path) -> None:
    with ext4(tmp_path, 1024, "-O", "^dir_nlink", "-N", "200000") as data:
        said = message_of(data, tmp_path / "results", homes=70_000, home_files=1, layout="flat")
    assert "users has 64998 folders in it" in said
    assert "ext4 without dir_nlink ends at 64998" in said


@pytest.mark.long
def test_inodes_that_end_under_load_are_counted_and_named(tmp_path: Path) -> None:
    with ext4(tmp_path, 256, "-N", "1300") as data:
        (result,) = results_of(experiment(data, mix="create=1"), tmp_path / "results")
    assert result.status is Status.INVALID
    assert set(result.operations[0].errors) == {"no_inodes"}
    assert any("no inode" in notice.message for notice in result.notices), result.notices
    assert all(each.passed for each in result.checks)


def test_the_command_needs_a_name_only(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(["plan", "storage", "--param", "profile=catalogue"])
    said = capsys.readouterr().out
    assert code == 0
    assert "10,000 homes of 4 files, hashed" in said
