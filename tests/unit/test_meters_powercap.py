from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from meter_series import series
from power_tree import FLAT, PACKAGE_RANGE_UJ, seven_zones, sockets, zone

from loadstone.errors import WrongInputError
from loadstone.journal import Journal
from loadstone.meters.base import Channel, MeterError
from loadstone.meters.choice import main_meter, offer_of
from loadstone.meters.powercap import PowercapMeter
from loadstone.meters.records import MeterRun, power_records
from loadstone.results.power import PowerRecord
from loadstone.spec.meters import PowercapSpec

WATTS = {
    "package-0": 3.93,
    "core": 0.84,
    "uncore": 0.21,
    "psys": 9.61,
    "package-0@intel-rapl-mmio:0": 3.78,
}


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    return Journal(tmp_path / "journal.jsonl", "loadstone run")


def opened(root: Path, journal: Journal, **fields: object) -> PowercapMeter:
    meter = PowercapMeter(PowercapSpec.model_validate(fields), root)
    meter.open(journal)
    return meter


def count(folders: Mapping[str, Path], watts: Mapping[str, float]) -> None:
    """Lets each counter count one second."""
    for name, folder in folders.items():
        file = folder / "energy_uj"
        file.write_text(f"{int(file.read_text()) + round(watts[name] * 1e6)}\n")


def measured(
    meter: PowercapMeter, folders: Mapping[str, Path], watts: Mapping[str, float]
) -> dict[str, PowerRecord]:
    """Records of ten seconds, by channel; the clock is not that of this machine."""
    points: dict[str, list[tuple[float, float | str]]] = {
        each.name: [] for each in meter.channels()
    }
    for second in range(11):
        for reading in meter.read():
            points[reading.channel].append((float(second), reading.invalid or reading.value))
        count(folders, watts)
    of = {each.name: series(each, points[each.name]) for each in meter.channels()}
    offer = offer_of(meter)
    found = power_records([MeterRun(offer, of)], main_meter([offer]), [(0.0, 10.0)])
    return {each.channel: each for each in found}


def test_seven_zones_of_one_processor(tmp_path: Path, journal: Journal) -> None:
    folders = seven_zones(tmp_path)

    found = measured(opened(tmp_path, journal), folders, WATTS)

    assert {name: each.watts for name, each in found.items()} == {
        "psys": pytest.approx(9.61),
        "package-0": pytest.approx(3.93),
        "core": pytest.approx(0.84),
        "uncore": pytest.approx(0.21),
    }
    assert found["psys"].main
    assert all(each.simulated for each in found.values())


def test_a_psys_that_never_moves_is_no_meter(tmp_path: Path, journal: Journal) -> None:
    folders = seven_zones(tmp_path)

    found = measured(opened(tmp_path, journal), folders, WATTS | {"psys": 0.0})

    assert (found["psys"].watts, found["psys"].reason) == (None, "psys does not move: no meter")
    assert found["package-0"].watts == pytest.approx(3.93)
    assert found["package-0"].main


def test_channels_tell_scopes_parts_and_twins(tmp_path: Path, journal: Journal) -> None:
    seven_zones(tmp_path)
    twin = "package-0@intel-rapl-mmio:0"

    channels = {each.name: each for each in opened(tmp_path, journal).channels()}

    assert {name: each.scope for name, each in channels.items()} == {
        "package-0": "package",
        "core": "package",
        "uncore": "package",
        "psys": "platform",
        twin: "package",
    }
    assert (channels["core"].parts_of, channels["uncore"].parts_of) == ("package-0", "package-0")
    assert channels[twin].same_as == "package-0"
    assert channels["package-0"].range_j == pytest.approx(PACKAGE_RANGE_UJ / 1e6)


def test_zones_are_read_by_their_flat_links_where_there_is_no_nested_tree(
    tmp_path: Path, journal: Journal
) -> None:
    folder = tmp_path / FLAT / "intel-rapl:0"
    folder.mkdir(parents=True)
    (folder / "name").write_text("package-1\n")
    (folder / "energy_uj").write_text("5000000\n")

    meter = opened(tmp_path, journal)

    assert [(each.channel, each.value) for each in meter.read()] == [("package-1", 5.0)]


def test_a_link_that_leaves_the_tree_is_not_followed(tmp_path: Path) -> None:
    outside = zone(tmp_path / "machine", "intel-rapl/intel-rapl:0", "package-0")
    root = tmp_path / "tree"
    (root / FLAT).mkdir(parents=True)
    (root / FLAT / "intel-rapl:0").symlink_to(outside)

    (found,) = PowercapMeter.found(root)

    assert "has no zone with energy_uj" in found.missing


def test_two_sockets_are_added_with_their_memory(tmp_path: Path, journal: Journal) -> None:
    """The number of a folder is not that of its socket, and memory of both has one name."""
    folders = {
        "package-1": zone(tmp_path, "intel-rapl/intel-rapl:0", "package-1"),
        "package-1/dram": zone(tmp_path, "intel-rapl/intel-rapl:0/intel-rapl:0:0", "dram"),
        "package-0": zone(tmp_path, "intel-rapl/intel-rapl:1", "package-0"),
        "package-0/dram": zone(tmp_path, "intel-rapl/intel-rapl:1/intel-rapl:1:0", "dram"),
    }
    watts = {"package-1": 80.0, "package-1/dram": 9.0, "package-0": 70.0, "package-0/dram": 8.0}
    sockets(tmp_path, 0, 1)

    found = measured(opened(tmp_path, journal), folders, watts)

    (main,) = [each for each in found.values() if each.main]
    assert main.watts == pytest.approx(167)
    assert sorted(main.parts) == sorted(folders)
    assert main.scope == "package"


def test_one_zone_of_two_sockets_is_no_figure(tmp_path: Path, journal: Journal) -> None:
    folders = {"package-0": zone(tmp_path, "intel-rapl/intel-rapl:0", "package-0")}
    sockets(tmp_path, 0, 1)

    found = measured(opened(tmp_path, journal), folders, {"package-0": 70.0})

    assert found["package-0"].watts is None
    assert found["package-0"].reason.startswith("1 of 2 sockets have a zone")


def test_no_zones_is_told(tmp_path: Path, journal: Journal) -> None:
    with pytest.raises(MeterError, match="has no zone with energy_uj: a virtual machine"):
        opened(tmp_path, journal)


def test_a_counter_of_root_is_told(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = seven_zones(tmp_path)
    secret = folders["package-0"] / "energy_uj"
    real = Path.read_text

    def denied(self: Path, *args: str, **kwargs: str) -> str:
        if self == secret:
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", denied)
    monkeypatch.setattr("os.access", lambda *_: False)

    found = {each.channel: each.missing for each in PowercapMeter.found(tmp_path)}
    assert found["package-0"] == "energy_uj is readable by root only"
    assert found["psys"] == ""
    with pytest.raises(MeterError, match="package-0: energy_uj is readable by root only"):
        opened(tmp_path, journal)
    assert [each.name for each in opened(tmp_path, journal, channels=["psys"]).channels()] == [
        "psys"
    ]


def test_an_unknown_channel_is_refused(tmp_path: Path, journal: Journal) -> None:
    seven_zones(tmp_path)

    with pytest.raises(WrongInputError, match="no channel 'package-7'"):
        opened(tmp_path, journal, channels=["package-7"])


def test_a_counter_without_range_and_one_with_limits(tmp_path: Path, journal: Journal) -> None:
    bare = zone(tmp_path, "intel-rapl/intel-rapl:0", "package-0", range_uj=None)
    (bare / "constraint_0_power_limit_uw").write_text("15000000\n")
    (bare / "constraint_1_power_limit_uw").write_text("44000000\n")
    (bare / "constraint_0_max_power_uw").write_text("0\n")

    (channel,) = opened(tmp_path, journal).channels()

    assert channel == Channel(*("package-0", "package", "counter"), most_w=44.0, simulated=True)


def test_a_counter_that_goes_away_is_no_reading(tmp_path: Path, journal: Journal) -> None:
    folders = seven_zones(tmp_path)
    meter = opened(tmp_path, journal, channels=["package-0", "psys"])
    (folders["psys"] / "energy_uj").write_text("\n")

    readings = {each.channel: each for each in meter.read()}

    assert readings["psys"].invalid == "energy_uj of psys is no number"
    assert not readings["package-0"].invalid


def test_what_a_machine_has_is_listed(tmp_path: Path) -> None:
    seven_zones(tmp_path)

    found = PowercapMeter.found(tmp_path)

    assert [each.channel for each in found if not each.twin_of] == [
        *("package-0", "core", "uncore", "psys")
    ]
    (twin,) = [each for each in found if each.twin_of]
    assert twin.twin_of == "package-0"
    assert twin.what == "energy of package-0, by memory-mapped registers (intel-rapl-mmio:0)"
