"""The files of a catalogue: the same bytes as the driver's, and every kind of damage is seen."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.placements import limits
from loadstone.spec.model import WorkloadSpec
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.file_tree import LocalTree
from loadstone.workloads.registry import workload_of
from loadstone.workloads.storage.catalogue_checks import ACCOUNT, THERE, WHOLE, checked
from loadstone.workloads.storage.catalogue_files import Contents, Found, Homes, read_back
from loadstone.workloads.storage.names import GIVEN_NAMES, read_names
from loadstone.workloads.storage.parameters import StorageParameters

CONTENTS = Contents(42)
HOMES = Homes(count=6, files=3, layout="hashed", hash_characters=2, names=("ann", "steve", "x"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A catalogue with a replaced file and a created one."""
    for home in range(HOMES.count):
        path = tmp_path / HOMES.path(home)
        path.mkdir(parents=True)
        for file in range(HOMES.files):
            (path / f"f{file:05}").write_bytes(CONTENTS.bytes_of(home, file, 0))
    (tmp_path / HOMES.path(1) / "f00002").write_bytes(CONTENTS.bytes_of(1, 2, 5))
    (tmp_path / HOMES.path(4) / "f00003").write_bytes(CONTENTS.bytes_of(4, 3, 0))
    return tmp_path


OPERATIONS = {"create": 3, "delete": 2, "write-fsync-rename": 5, "stat": 9}


def failed(folder: Path, errors: int = 0) -> set[str]:
    results = checked(read_back(LocalTree(folder), HOMES, CONTENTS), HOMES, OPERATIONS, errors)
    return {each.name for each in results if not each.passed}


def test_the_driver_writes_the_same_bytes() -> None:
    """`driver/src/catalogue/content.rs` has the same figures."""
    content = CONTENTS.bytes_of(3, 1, 2)
    assert (len(content), sum(content)) == (7319, 939_901)
    assert CONTENTS.version(3, 1, content) == 2


def test_a_catalogue_that_is_right_passes(folder: Path) -> None:
    assert failed(folder) == set()
    assert HOMES.path(4) == "users/st/steve2"
    assert HOMES.parents() == {"users/an": 2, "users/st": 2, "users/x": 1, "users/x2": 1}


def test_each_damage_is_seen_by_its_check(folder: Path) -> None:
    file = folder / HOMES.path(0) / "f00001"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert failed(folder) == {WHOLE.name}
    file.write_bytes(bytes([*whole[:-1], whole[-1] ^ 1]))
    assert failed(folder) == {WHOLE.name}
    file.write_bytes(CONTENTS.bytes_of(0, 2, 0))
    assert failed(folder) == {WHOLE.name}
    file.write_bytes(CONTENTS.bytes_of(0, 1, 1))
    assert failed(folder) == {ACCOUNT.name}
    assert failed(folder, errors=1) == set()
    file.unlink()
    assert failed(folder) == {THERE.name}
    file.write_bytes(whole)
    (file.parent / "f00001.new").write_bytes(whole[:100])
    assert failed(folder) == {WHOLE.name}
    (file.parent / "f00001.new").unlink()
    (file.parent / "f00009").write_bytes(CONTENTS.bytes_of(0, 9, 0))
    assert failed(folder) == {ACCOUNT.name}


def test_what_a_failed_operation_leaves_is_no_damage_and_more_than_that_is(folder: Path) -> None:
    home = folder / HOMES.path(0)
    (home / "f00001.new").write_bytes(b"half")
    (home / f"f{HOMES.files + 90:05}").write_bytes(b"")
    assert "files are whole" in failed(folder)
    assert "files are whole" in failed(folder, errors=1)
    assert "files are whole" not in failed(folder, errors=2)
    (home / "f00000").write_bytes(b"half")
    assert "files are whole" in failed(folder, errors=9), "a first file is only ever replaced"


def test_a_home_that_is_gone_is_missing(folder: Path) -> None:
    home = folder / HOMES.path(2)
    for file in home.iterdir():
        file.unlink()
    home.rmdir()
    found: Found = read_back(LocalTree(folder), HOMES, CONTENTS)
    assert len(found.missing) == HOMES.files


def test_names_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "names"
    path.write_text("steve\n\nann-marie\n")
    assert read_names(path) == ("steve", "ann-marie")
    for text in ("steve2\n", "../x\n", "steve\nsteve\n", "\n", "Steve\n"):
        path.write_text(text)
        with pytest.raises(WrongInputError, match="names"):
            read_names(path)
    assert len(set(GIVEN_NAMES)) == len(GIVEN_NAMES) > 150


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"homes": 5}, "homes is of profile catalogue"),
        ({"profile": "catalogue", "passes": 3}, "passes is not of profile catalogue"),
        ({"profile": "catalogue", "mix": "delete=1"}, "only created files"),
        ({"profile": "catalogue", "mix": "fly=1"}, "no operation 'fly'"),
        ({"profile": "catalogue", "mix": "stat"}, "is no mix"),
        ({"profile": "catalogue", "mix": "stat=0"}, "above 0"),
    ],
)
def test_parameters_that_do_nothing_here_are_refused(given: dict[str, object], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        StorageParameters.model_validate(given)


def test_more_users_than_homes_are_refused() -> None:
    spec = WorkloadSpec(name="storage", parameters={"profile": "catalogue", "homes": 3})
    workload = workload_of(spec)
    assert workload.sessions(ProfileSpec(users=3)) == 3
    with pytest.raises(WrongInputError, match="3 homes are fewer than the 4 users"):
        workload.sessions(ProfileSpec(users=4))


def test_limits_are_named(tmp_path: Path) -> None:
    links = OSError(errno.EMLINK, "Too many links", str(tmp_path / "users" / "x"))
    (tmp_path / "users").mkdir()
    assert "has 0 folders in it" in limits.said(links, tmp_path)
    assert "dir_nlink" in limits.said(links, tmp_path)
    assert limits.said(OSError(errno.EIO, "Input/output error"), tmp_path) == "Input/output error"
    assert limits.missing_inodes("/d", 10, 4, 4) is None
    assert limits.missing_inodes("/d", 0, 0, 4) is None
    assert "/d has 3 left of 10" in str(limits.missing_inodes("/d", 10, 3, 4))
