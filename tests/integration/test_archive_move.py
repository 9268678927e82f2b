"""Closed segments in the second place, on every engine that has one."""

from collections.abc import Iterator
from pathlib import Path

import event_archive
import order_entry
import pytest

from loadstone.targets.capabilities import SECOND_PLACE
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS
from loadstone.workloads.archive.checks import check_history
from loadstone.workloads.archive.parameters import ArchiveParameters
from loadstone.workloads.archive.tables import index_name, segment_name

ENGINES = [name for name, cls in TARGETS.items() if SECOND_PLACE in cls.capabilities]
PARAMETERS = ArchiveParameters(elements=event_archive.ELEMENTS, move=True)
MOVED = "closed segments have moved"
CLOSED = segment_name(1)
MOVE = {
    "postgresql": (
        f"ALTER TABLE {CLOSED} SET TABLESPACE {{place}};"
        f"ALTER INDEX {index_name(CLOSED)} SET TABLESPACE {{place}};"
    )
}
"""What the driver's closer runs."""
THERE, BACK = "loadstone_archive", "pg_default"


@pytest.fixture(params=ENGINES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """An archive whose closed segment has moved."""
    with order_entry.opened(request.param, tmp_path_factory.mktemp("archive")) as target:
        event_archive.make(target, PARAMETERS)
        move(target, THERE)
        yield target


def move(target: Database, place: str) -> None:
    target.execute(MOVE[target.engine].format(place=place))


def failed(target: Database) -> set[str]:
    checks, _ = check_history(target, PARAMETERS)
    assert MOVED in {each.name for each in checks}
    return {each.name for each in checks if not each.passed}


def test_a_moved_archive_passes(target: Database) -> None:
    assert target.moved(CLOSED) == {CLOSED, index_name(CLOSED)}
    assert target.moved(segment_name(2)) == set()
    assert failed(target) == set()


@pytest.mark.parametrize("what", [f"TABLE {CLOSED}", f"INDEX {index_name(CLOSED)}"])
def test_a_segment_or_an_index_that_was_left_behind_is_found(target: Database, what: str) -> None:
    target.execute(f"ALTER {what} SET TABLESPACE {BACK}")
    assert failed(target) == {MOVED}


def test_what_has_moved_counts_as_part_of_the_database(target: Database) -> None:
    target.execute(
        f"INSERT INTO {CLOSED} SELECT e.* FROM {CLOSED} e, generate_series(1, 300); CHECKPOINT;"
    )
    (segment_bytes,) = target.query(f"SELECT pg_total_relation_size('{CLOSED}')")[0]
    there = target.size_bytes()
    move(target, BACK)
    assert target.size_bytes() == pytest.approx(there, abs=segment_bytes / 10)
    assert segment_bytes > 1_000_000


def test_the_next_trial_finds_neither_files_nor_links(target: Database) -> None:
    data = Path(target.inventory()["data_folder"])
    (link,) = (data / "pg_tblspc").iterdir()
    folder = link.readlink()
    assert folder == data.with_name("archive")
    assert [each for each in folder.rglob("*") if each.is_file()]

    target.empty(target.spec)
    assert list((data / "pg_tblspc").iterdir()) == []
    assert not folder.exists()
    event_archive.make(target, PARAMETERS)
    assert failed(target) == {MOVED}
    move(target, THERE)
    assert failed(target) == set()


def test_it_survives_a_crash(target: Database) -> None:
    target.crash("kill")
    target.start()
    assert failed(target) == set()
