"""The life of a system of several parts: the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pieces import BROKEN, EVENTS, House

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.walk import all_parts, part_of

pytestmark = pytest.mark.usefixtures("house_known")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        spec = TargetSpec(engine="house", settings={"rows": 2})
        yield House(spec, TargetContext(journal=journal, owner="pytest"))


def test_parts_are_opened_in_order_and_closed_in_reverse(house: House) -> None:
    house.open()
    house.close()
    pieces = ["back", "rows.1", "rows.2", "door"]
    assert [
        *(f"{name}.open" for name in pieces),
        *(f"{name}.close" for name in reversed(pieces)),
    ] == EVENTS


def test_all_parts_are_closed_though_some_fail_and_others_were_never_opened(house: House) -> None:
    BROKEN.update({"rows.1.open", "rows.2.close", "back.close"})
    with pytest.raises(TargetError, match=r"rows\.1\.open fails"):
        house.open()
    with pytest.raises(ExceptionGroup) as caught:
        house.close()
    assert [str(each) for each in caught.value.exceptions] == [
        "rows.2.close fails",
        "back.close fails",
    ]
    assert EVENTS[-4:] == ["door.close", "rows.2.close", "rows.1.close", "back.close"]


def test_what_stands_on_the_first_part_is_stopped_while_that_is_restored(house: House) -> None:
    house.open()
    EVENTS.clear()
    readings = house.restore("k", house.spec)
    assert [
        *("door.stop", "rows.2.stop", "rows.1.stop", "back.restore"),
        *("rows.2.stop", "rows.1.restore", "rows.2.restore", "door.restore"),
    ] == EVENTS
    assert [(each.factor, each.read_back) for each in readings] == [("target.rows", 2)]


def test_a_snapshot_is_of_one_part_after_the_other(house: House) -> None:
    house.open()
    EVENTS.clear()
    house.snapshot("k")
    assert EVENTS[:5] == ["door.stop", "rows.2.stop", "rows.1.stop", "back.start", "back.snapshot"]
    assert EVENTS[-2:] == ["door.start", "door.snapshot"]


def test_only_a_cold_start_stops_what_runs(house: House) -> None:
    house.open()
    EVENTS.clear()
    house.settle("warm")
    assert {each.partition(".")[2].rpartition(".")[2] for each in EVENTS} == {"settle"}
    house.settle("cold")
    assert "door.stop" in EVENTS
    assert EVENTS[-2:] == ["door.start", "door.settle"]


def test_the_number_of_members_follows_the_trial(house: House) -> None:
    house.open()
    assert list(all_parts(house)) == ["back", "rows", "rows.1", "rows.2", "door"]
    EVENTS.clear()
    house.restore("k", house.spec.with_settings({"rows": 3}))
    assert EVENTS.index("rows.3.open") < EVENTS.index("rows.1.restore")
    assert list(part_of(house, "rows").parts()) == ["1", "2", "3"]
    house.restore("k", house.spec.with_settings({"rows": 1}))
    assert list(part_of(house, "rows").parts()) == ["1"]
    assert EVENTS.index("rows.3.close") < EVENTS.index("rows.2.close")
    with pytest.raises(TargetError, match="no part '2' now"):
        part_of(house, "rows.2")


def test_an_outage_of_all_ends_in_the_order_of_the_start(house: House) -> None:
    with house.outage("kill"):
        pass
    pieces = ["back", "rows.1", "rows.2", "door"]
    assert [
        *(f"{name}.kill" for name in reversed(pieces)),
        *(f"{name}.back" for name in pieces),
    ] == EVENTS
    with pytest.raises(TargetError, match="no disk of its own"), house.outage("full-disk"):
        pass
