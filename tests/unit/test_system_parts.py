"""A system of several parts: what is said of each, and what every target says of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pieces import House, Rows

from loadstone.errors import WrongInputError
from loadstone.host.locality import data_folder
from loadstone.host.machine import Absent
from loadstone.spec.target import PartSpec, ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.blame import Chosen
from loadstone.targets.registry import TARGETS, target_class
from loadstone.targets.walk import each_in, owner_of, part_in

pytestmark = pytest.mark.usefixtures("house_known")


def test_what_a_system_says_holds_for_its_parts_unless_they_say_it_themselves() -> None:
    spec = TargetSpec(
        engine="house",
        data="/srv",
        process=ProcessSpec(cpus="0", nofile=512),
        settings={"back.colour": "red", "back.auto.wash": "on", "rows": 4, "seats": 3},
        parts={
            "back": PartSpec(settings={"colour": "blue"}, process=ProcessSpec(quota=0.5)),
            "door": PartSpec(server="postgresql://me@elsewhere/db", data="/mnt"),
        },
    )
    back, door = House.part_spec(spec, "back"), House.part_spec(spec, "door")
    assert back.settings == {"colour": "red", "auto.wash": "on", "name": "back"}
    assert back.process == ProcessSpec(cpus="0", nofile=512, quota=0.5)
    assert (back.data, door.data) == ("/srv", "/mnt")
    assert door.process == ProcessSpec()  # nobody starts it here
    assert House.part_spec(spec, "rows").settings == {"count": 4}


def test_a_level_that_loadstone_chose_stays_one_in_the_part() -> None:
    spec = TargetSpec(engine="house").with_settings({"back.colour": Chosen(3)})
    assert isinstance(House.part_spec(spec, "back").settings["colour"], Chosen)


def test_a_system_delegates_by_the_name_of_the_part() -> None:
    spec = TargetSpec(engine="house", settings={"back.colour": "red"})
    assert House.setting(spec, "back.auto.wash", "on").name == "back.auto.wash"
    assert House.setting(spec, "rows.colour", "see-through").unsafe
    assert House.layout(spec) == {"back.colour": "red"}
    assert House.for_sessions(spec, 9) == {"door.seats": 9}
    with pytest.raises(WrongInputError, match="no setting 'colour'"):
        House.setting(spec, "colour", "red")
    assert owner_of(spec, "rows.colour")[0].kind is Rows
    assert owner_of(spec, "rows.1.colour")[0].name == "rows.1"


def test_the_description_names_each_part_and_refuses_what_only_parts_have() -> None:
    assert House.describe(TargetSpec(engine="house"))["rows.1.engine"] == "piece"
    with pytest.raises(WrongInputError, match="has its data in its parts"):
        House.describe(TargetSpec(engine="house", storage=StorageSpec(data="tmpfs")))
    with pytest.raises(WrongInputError, match="has a server for each part"):
        House.describe(TargetSpec(engine="house", server="http://a"))


def test_places_of_parts_make_another_system_and_their_settings_do_not() -> None:
    plain = TargetSpec(engine="house")
    other = TargetSpec(engine="house", parts={"back": PartSpec(engine="duckdb")})
    same = TargetSpec(engine="house", parts={"back": PartSpec(settings={"colour": "red"})})
    assert plain.site == same.site != other.site


@pytest.mark.parametrize("engine", sorted(TARGETS))
def test_every_target_knows_its_parts_or_says_that_it_has_none(engine: str) -> None:
    kind, spec = target_class(engine), TargetSpec(engine=engine)
    if not kind.part_names:
        assert [each.name for each in each_in(spec)] == [""]
        with pytest.raises(WrongInputError, match="has no parts"):
            kind.part_spec(spec, "a")
        with pytest.raises(WrongInputError, match="no part 'a'"):
            part_in(spec, "a")
        return
    names = [each.name for each in each_in(spec)]
    assert len(set(names)) == len(names)
    for name in kind.part_names:
        part = part_in(spec, name)
        assert issubclass(part.kind, Target)
        assert part.spec.engine
        with pytest.raises(WrongInputError):
            kind.setting(spec, f"{name}.no_such_setting", 1)


def test_the_disk_of_a_system_is_that_of_the_part_that_says_one() -> None:
    parts = {"back": PartSpec(), "door": PartSpec(data="/mnt/door")}
    assert data_folder(TargetSpec(engine="house", parts=parts)) == Path("/mnt/door")
    assert data_folder(TargetSpec(engine="house", parts=parts, data="/srv")) == Path("/srv")
    parts["back"] = PartSpec(storage=StorageSpec(data="tmpfs"))
    assert isinstance(data_folder(TargetSpec(engine="house", parts=parts)), Absent)
