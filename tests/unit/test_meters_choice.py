from __future__ import annotations

import pytest
from meter_series import DRAM, PACKAGE

from loadstone.errors import WrongInputError
from loadstone.meters.base import Channel
from loadstone.meters.choice import Main, Offer, main_after, main_meter
from loadstone.spec.meters import EstimateSpec, HwmonSpec, MeterBase, PowercapSpec

PSYS = Channel("psys", "platform", "counter")
CORE = Channel("core", "package", "counter", parts_of="package-0")
TWIN = Channel("package-0@intel-rapl-mmio:0", "package", "counter", same_as="package-0")
SECOND = Channel("package-1", "package", "counter")
WALL = Channel("wall", "wall", "gauge")


def rapl(*channels: Channel, lacks: str = "", **fields: object) -> Offer:
    spec = PowercapSpec.model_validate(fields)
    return Offer(
        spec, channels, frozenset({"package", "dram"}), {"package": lacks} if lacks else {}
    )


def board(*channels: Channel, **fields: object) -> Offer:
    return Offer(HwmonSpec.model_validate(fields), channels)


def named(spec: MeterBase, *channels: Channel) -> Offer:
    return Offer(spec, channels)


def test_wall_comes_before_platform_before_package_with_dram() -> None:
    processor = rapl(PACKAGE, CORE, TWIN, DRAM)
    with_psys = rapl(PACKAGE, CORE, PSYS, TWIN, DRAM)
    plug = board(WALL, name="plug")

    assert main_meter([processor]) == Main("powercap", "package", ("package-0", "dram"))
    assert main_meter([with_psys]) == Main("powercap", "platform", ("psys",))
    assert main_meter([with_psys, plug]) == Main("plug", "wall", ("wall",))


def test_the_meter_that_is_named_wins() -> None:
    plug, processor = board(WALL, name="plug"), rapl(PACKAGE, DRAM, main=True)

    assert main_meter([plug, processor]) == Main("powercap", "package", ("package-0", "dram"))


def test_all_packages_of_the_machine_are_one_figure() -> None:
    assert main_meter([rapl(PACKAGE, SECOND, DRAM)]) == Main(
        "powercap", "package", ("package-0", "package-1", "dram")
    )


def test_half_of_the_sockets_is_no_figure_unless_they_are_named() -> None:
    why = "1 of 2 sockets have a zone"
    half = main_meter([rapl(PACKAGE, lacks=why)])
    stated = main_meter([rapl(PACKAGE, lacks=why, channels=["package-0"])])

    assert half == Main("powercap", "package", ("package-0",), why)
    assert stated == Main("powercap", "package", ("package-0",))


def test_a_measurement_comes_before_an_estimate() -> None:
    model = Channel("model", "wall", "gauge", estimated=True)
    estimate = named(EstimateSpec(idle_watts=100, full_watts=200), model)

    assert main_meter([estimate, rapl(PACKAGE)]) == Main("powercap", "package", ("package-0",))
    assert main_meter([estimate]) == Main("estimate", "wall", ("model",))


def test_a_board_alone_is_no_meter_of_the_experiment() -> None:
    rail = Channel("psu:pin", "board", "gauge")

    assert main_meter([board(rail)]) is None
    assert main_meter([board(rail, main=True)]) == Main("hwmon", "board", ("psu:pin",))
    assert main_meter([]) is None


def test_what_cannot_be_told_is_refused_in_one_line() -> None:
    with pytest.raises(WrongInputError, match="several meters are of the scope wall: a, b"):
        main_meter([board(WALL, name="a"), board(WALL, name="b")])
    other = Channel("other", "wall", "gauge")
    with pytest.raises(WrongInputError, match="several channels of the scope wall: wall, other"):
        main_meter([board(WALL, other)])
    stated = board(WALL, other, sum=["wall", "other"])
    assert main_meter([stated]) == Main("hwmon", "wall", ("wall", "other"))


def test_a_platform_that_stands_still_leaves_the_package() -> None:
    offer = rapl(PACKAGE, PSYS, CORE, DRAM)
    chosen = main_meter([offer])

    assert chosen is not None
    assert main_after(chosen, offer, {"psys"}, ()) == Main(
        "powercap", "package", ("package-0", "dram")
    )
    assert main_after(chosen, offer, {"psys", "dram"}, ()) == Main(
        "powercap", "package", ("package-0",)
    )
    assert main_after(chosen, offer, (), ()) == chosen


def test_a_package_that_stands_still_leaves_no_figure() -> None:
    offer = rapl(PACKAGE, SECOND)
    chosen = main_meter([offer])

    assert chosen is not None
    assert main_after(chosen, offer, {"package-1"}, ()).lacking == (
        "package-1 does not move: no meter"
    )


def test_dies_with_one_counter_are_one_part() -> None:
    dies = [Channel(f"package-0-die-{n}", "package", "counter", die_of="package-0") for n in (0, 1)]
    offer = rapl(*dies)
    chosen = main_meter([offer])

    assert chosen is not None
    assert main_after(chosen, offer, (), {"package-0-die-1"}).parts == ("package-0-die-0",)
