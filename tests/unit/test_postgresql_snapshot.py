"""A restored folder equals the copy, byte for byte, whatever was done to it."""

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import TargetError
from loadstone.placements.account import Account
from loadstone.targets.postgresql import snapshot

ME = Account("me", os.geteuid(), os.getegid(), switch=False)
IN_USE = "000000010000000000000002"


def tree(top: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else None
        for path in sorted(top.rglob("*"))
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for name in ("base/1", "pg_wal", "pg_tblspc", "empty"):
        (folder / name).mkdir(parents=True)
    (folder / "base/1/16384").write_bytes(random.Random(1).randbytes(700_000))
    (folder / "base/1/16385").write_bytes(b"")
    (folder / "PG_VERSION").write_text("18\n")
    return folder


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["write", "grow", "cut", "remove", "litter"]), st.integers(0, 699_999)
    ),
    max_size=6,
)


@given(changes=CHANGES)
def test_restore_is_exact(tmp_path_factory: pytest.TempPathFactory, changes: list) -> None:
    top = tmp_path_factory.mktemp("case")
    folder, kept = top / "data", top / "kept"
    for name in ("base/1", "pg_wal", "pg_tblspc"):
        (folder / name).mkdir(parents=True)
    table = folder / "base/1/16384"
    table.write_bytes(random.Random(1).randbytes(700_000))
    before = tree(folder)
    snapshot.take(folder, kept, IN_USE)
    for what, where in changes:
        change(folder, table, what, where)
    restored = snapshot.restore(kept, folder, ME)
    assert tree(folder) == before == tree(kept)
    assert restored.files == 1
    assert snapshot.restore(kept, folder, ME).written_bytes == 0
    shutil.rmtree(top)


def change(folder: Path, table: Path, what: str, where: int) -> None:
    match what:
        case "remove":
            table.unlink(missing_ok=True)
        case "litter":
            (folder / f"base/{where}").mkdir(exist_ok=True)
            (folder / f"base/{where}/1").write_text("litter")
        case _ if not table.exists():
            table.write_bytes(b"new")
        case "write":
            with table.open("r+b") as file:
                file.seek(where)
                file.write(b"damage")
        case "grow":
            with table.open("ab") as file:
                file.write(bytes(where))
        case "cut":
            os.truncate(table, min(where, table.stat().st_size))


def test_tablespaces_that_were_made_since_are_out_of_it(data: Path, tmp_path: Path) -> None:
    before = tree(data)
    snapshot.take(data, tmp_path / "kept", IN_USE)
    (tmp_path / "archive/PG_18").mkdir(parents=True)
    (tmp_path / "archive/PG_18/16390").write_bytes(b"moved")
    (data / "pg_tblspc/16400").symlink_to(tmp_path / "archive")
    (data / "pg_tblspc/16401").symlink_to(tmp_path / "gone")
    snapshot.restore(tmp_path / "kept", data, ME)
    assert tree(data) == before
    assert (tmp_path / "archive/PG_18/16390").read_bytes() == b"moved"


def test_only_the_pieces_that_differ_are_written(data: Path, tmp_path: Path) -> None:
    snapshot.take(data, tmp_path / "kept", IN_USE)
    table = data / "base/1/16384"
    inode = table.stat().st_ino
    with table.open("r+b") as file:
        file.seek(300_000)
        file.write(b"x")
    restored = snapshot.restore(tmp_path / "kept", data, ME)
    assert 0 < restored.written_bytes < 700_000
    assert table.stat().st_ino == inode


def test_spare_wal_beyond_a_few_files_is_left_out(data: Path, tmp_path: Path) -> None:
    for number in range(1, 12):
        with (data / f"pg_wal/{number:024X}").open("wb") as file:
            file.truncate(16 * 1024**2)
    in_use = f"{2:024X}"
    snapshot.take(data, tmp_path / "kept", in_use)
    kept = sorted(each.name for each in (tmp_path / "kept/pg_wal").iterdir())
    assert kept == [f"{number:024X}" for number in range(1, 8)]


def test_refuses_a_running_server_and_tablespaces(data: Path, tmp_path: Path) -> None:
    (data / "postmaster.pid").touch()
    with pytest.raises(TargetError, match="in use"):
        snapshot.take(data, tmp_path / "kept", IN_USE)
    with pytest.raises(TargetError, match="in use"):
        snapshot.restore(tmp_path / "kept", data, ME)
    (data / "postmaster.pid").unlink()
    (data / "pg_tblspc/16400").symlink_to(tmp_path)
    with pytest.raises(TargetError, match="tablespaces"):
        snapshot.take(data, tmp_path / "kept", IN_USE)
