"""The factor storage, and what is said of a machine that cannot make a placement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loadstone.cli.main import run_command
from loadstone.errors import WrongInputError
from loadstone.factors.in_force import unsafe_in
from loadstone.factors.registry import FACTORS, apply_changes, examine
from loadstone.placements import programs, support
from loadstone.placements.place import parse
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change
from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.registry import TARGETS


def experiment(**target: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "postgresql", **target},
        }
    )


def data(level: Any) -> Change:
    return Change(factor="storage.data", level=level)


def test_a_placement_is_put_into_the_target_in_its_one_spelling():
    parts = apply_changes(experiment(), [data("loop:noatime,ext4")])
    assert parts.target.storage.data == "loop:ext4,noatime"
    assert parts.target.storage.named == {"data": "loop:ext4,noatime"}


def test_the_default_takes_it_out_again():
    base = experiment(storage={"data": "loop:ext4", "log": "loop:xfs"})
    parts = apply_changes(base, [data("default")])
    assert parts.target.storage.named == {"log": "loop:xfs"}


def test_unsafe_placements_carry_the_word():
    assert examine(experiment(), data("loop:ext4,nobarrier")).unsafe
    assert not examine(experiment(), data("loop:ext4,noatime")).unsafe
    parts = apply_changes(experiment(), [data("tmpfs")])
    assert unsafe_in(parts) == ["storage.data=tmpfs"]


def test_a_folder_in_memory_is_unsafe():
    if support.filesystem.of(Path("/dev/shm")).get("kind") != "tmpfs":
        pytest.skip("/dev/shm is not in memory here")
    assert examine(experiment(), data("folder:/dev/shm")).unsafe


@pytest.mark.parametrize("level", [1, True, "lop:ext4"])
def test_a_level_that_is_no_placement(level: Any):
    with pytest.raises(WrongInputError, match="is no placement"):
        examine(experiment(), data(level))


def test_a_factor_that_does_not_exist():
    with pytest.raises(WrongInputError, match="did you mean 'data'"):
        examine(experiment(), Change(factor="storage.dta", level="loop"))


def test_a_server_at_an_address_keeps_its_data():
    info = examine(experiment(server="postgresql://me@db/loadstone"), data("loop:ext4"))
    assert "did not start it" in str(info.refused)


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_says_what_can_lie_on_a_placement(name: str):
    roles = TARGETS[name].storage_roles
    for role in ("data", "log", "archive"):
        change = Change(factor=f"storage.{role}", level="loop:ext4")
        if role in roles:
            assert examine(experiment(engine=name), change).refused is None
        else:
            with pytest.raises(WrongInputError, match=f"target {name} has no"):
                examine(experiment(engine=name), change)


def test_an_archive_needs_a_target_that_can_move_tables():
    for name, target in TARGETS.items():
        assert ("archive" in target.storage_roles) == (SECOND_PLACE in target.capabilities), name


def test_not_root(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(support.os, "geteuid", lambda: 1000)
    assert str(support.unavailable(parse("loop:ext4"))).startswith("denied: only root")
    assert support.unavailable(parse("folder:/")) is None


def test_a_folder_that_does_not_exist():
    assert support.unavailable(parse("folder:/no/such")) == "absent: there is no folder /no/such"


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support.os, "geteuid", lambda: 0)
    monkeypatch.setattr(support, "_has_capability", lambda _number: True)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    ("text", "program", "package"),
    [
        ("loop:xfs", "mkfs.xfs", "xfsprogs"),
        ("loop:btrfs", "mkfs.btrfs", "btrfs-progs"),
        ("volatile:ext4", "nbdkit", "nbdkit"),
        ("nbd:sync,ext4", "nbdfuse", "libnbd-bin"),
    ],
)
def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, text: str, program: str, package: str
):
    def find(name: str) -> Path | None:
        return None if name == program else Path("/bin/true")

    monkeypatch.setattr(programs, "find", find)
    monkeypatch.setattr(support, "_kernel_file_system", lambda _name: None)
    monkeypatch.setattr(support.Path, "exists", lambda _path: True)
    said = str(support.unavailable(parse(text)))
    assert said == f"absent: {program} is missing: install the package {package}"


@pytest.mark.usefixtures("as_root")
def test_a_file_system_that_the_kernel_has_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(support, "_module_exists", lambda _name: False)
    monkeypatch.setattr(support.Path, "read_text", lambda _path: "nodev\tproc\n\text4\n")
    assert "no file system xfs" in str(support.unavailable(parse("loop:xfs")))


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("loop:ext4,loop:xfs", ["loop:ext4", "loop:xfs"]),
        (
            "default,loop:noatime,data=journal,tmpfs",
            ["default", "loop:noatime,data=journal", "tmpfs"],
        ),
        ("folder:/a,b,zram:xfs", ["folder:/a,b", "zram:xfs"]),
        ("nbd,volatile:ext4,nobarrier", ["nbd", "volatile:ext4,nobarrier"]),
    ],
)
def test_placements_in_one_word(text: str, levels: list[str]):
    assert FACTORS["storage"].split(text) == levels


def test_placements_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    rungs = [
        *("--rung", "ram:storage.data=loop:ext4,noatime,data=journal"),
        *("--rung", "storage.data=nbd:ext4,sync,storage.log=tmpfs", "--several"),
    ]
    assert run_command(["plan", "oltp", *rungs, "--as-file"]) == 0
    written = capsys.readouterr().out
    assert "storage.data: loop:ext4,noatime,data=journal" in written
    assert "storage.data: nbd:ext4,sync" in written
    assert "storage.log: tmpfs" in written
