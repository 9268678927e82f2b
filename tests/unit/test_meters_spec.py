"""Meters as an experiment file names them, and the kinds there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError

from loadstone.errors import WrongInputError
from loadstone.meters.base import Meter
from loadstone.meters.registry import METERS, found_here, meter_for
from loadstone.spec.base import Spec
from loadstone.spec.meters import (
    OWN_KINDS,
    HwmonSpec,
    MeterBase,
    Meters,
    OutsideMeterSpec,
    PowercapSpec,
)


class File(Spec):
    """As much of an experiment file."""

    meters: Meters


def read(*meters: dict[str, object]) -> Sequence[MeterBase]:
    return File.model_validate({"meters": list(meters)}).meters


def test_a_meter_has_the_name_of_its_kind() -> None:
    one, other = read({"kind": "powercap"}, {"kind": "hwmon", "name": "psu", "every": "500ms"})

    assert (one, one.name) == (PowercapSpec(), "powercap")
    assert (other.name, other.every) == ("psu", 0.5)
    assert isinstance(other, HwmonSpec)
    assert other.scope == "board"


@pytest.mark.parametrize(
    ("meters", "why"),
    [
        ([{"kind": "hwmon"}, {"kind": "hwmon"}], "two meters are called 'hwmon'"),
        (
            [{"kind": "hwmon", "main": True}, {"kind": "powercap", "main": True}],
            "two meters say main",
        ),
        ([{"kind": "powercap", "sum": ["a"]}], "a sum has two channels or more"),
        ([{"kind": "powercap", "sum": ["a", "a"]}], "'a' stands there twice"),
        ([{"kind": "powercap", "channels": ["a"], "sum": ["a", "b"]}], "sum names 'b'"),
        ([{"kind": "powercap", "every": "1ms"}], "greater than or equal to 0.01"),
        ([{"kind": "powercap", "accuracy": "0%"}], "greater than 0"),
        ([{"kind": "command", "command": ["watts"]}], "scope"),
        ([{"kind": "file", "path": "/run/watts"}], "scope"),
        ([{"kind": "estimate", "idle_watts": 200, "full_watts": 100}], "more than idle_watts"),
        ([{"kind": "redfish", "address": "https://u:p@bmc"}], "address"),
        ([{"kind": "ipmi", "password": "hidden"}], "a password is a reference"),
        ([{}], "kind"),
    ],
)
def test_what_cannot_be_is_refused(meters: list[dict[str, object]], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        read(*meters)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as refused:
        read({"kind": "ipmi", "password": "hidden"})

    assert "hidden" not in str(refused.value)


def test_every_kind_has_a_meter_and_every_meter_a_kind() -> None:
    assert set(OWN_KINDS) == set(METERS)
    for kind, meter in METERS.items():
        assert issubclass(meter, Meter)
        assert meter.kind == kind


def test_a_kind_of_another_package_is_read_and_looked_up() -> None:
    (spec,) = read({"kind": "shunt", "scope": "board", "parameters": {"bus": 1}})

    assert spec == OutsideMeterSpec(kind="shunt", scope="board", parameters={"bus": 1})
    with pytest.raises(WrongInputError, match="there is no meter 'shunt'"):
        meter_for(spec)


def test_each_kind_says_what_a_machine_has_of_it_or_why_not(tmp_path: Path) -> None:
    found = found_here(tmp_path)

    assert {each.kind for each in found} == set(METERS)
    assert all(each.missing or each.channel or each.what for each in found)
    assert all(each.missing for each in found if each.kind in ("powercap", "hwmon"))


def test_a_meter_below_another_root_is_simulated(tmp_path: Path) -> None:
    assert meter_for(PowercapSpec(), tmp_path).simulated
    assert not meter_for(PowercapSpec()).simulated
