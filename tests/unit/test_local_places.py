"""The folder for what moves away from the data: where it lies, and when it is empty."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadstone.journal import Journal
from loadstone.placements import tree
from loadstone.placements.account import Account
from loadstone.spec.target import StorageSpec
from loadstone.targets.local.places import Places

ME = Account("me", os.geteuid(), os.getegid(), switch=False)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    """In a marked folder, with nothing left of it when the journal has ended."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    for name in ("root", "cheap", "fast"):
        (tmp_path / name).mkdir()
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        root, entry = tree.make(journal, tmp_path / "root", ME, "pytest")
        made = Places(journal, root, ME, "pytest")
        yield made
        made.close()
        journal.undo(entry)
    for name in ("root", "cheap", "fast"):
        assert list((tmp_path / name).iterdir()) == []


def fill(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "PG_18").mkdir()
    (folder / "PG_18" / "16384").write_text("a segment")


def test_by_default_it_lies_beside_the_data(places: Places, tmp_path: Path) -> None:
    plain = places.use(StorageSpec())
    assert places.make_archive() == plain.data.with_name("archive")
    placed = places.use(StorageSpec(data=f"folder:{tmp_path / 'fast'}"))
    assert placed.data.is_relative_to(tmp_path / "fast")
    assert places.make_archive().parent == placed.data.parent


def test_it_lies_on_its_placement(places: Places, tmp_path: Path) -> None:
    cheap = f"folder:{tmp_path / 'cheap'}"
    places.use(StorageSpec(archive=cheap))
    assert places.make_archive().is_relative_to(tmp_path / "cheap")
    assert [(each.factor, each.read_back) for each in places.readings()] == [
        ("storage.archive", cheap)
    ]
    assert list(places.inventory()) == ["archive"]


def test_every_use_removes_it_wherever_it_was(places: Places, tmp_path: Path) -> None:
    cheap, fast = (f"folder:{tmp_path / name}" for name in ("cheap", "fast"))
    specs = [
        StorageSpec(),
        StorageSpec(),
        StorageSpec(data=fast),
        StorageSpec(data=fast, archive=cheap),
        StorageSpec(data=fast, archive=cheap),
        StorageSpec(archive=cheap),
        StorageSpec(),
    ]
    for spec in specs:
        places.use(spec)
        assert list(tmp_path.glob("**/archive")) == []
        fill(places.make_archive())
