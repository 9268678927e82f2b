"""Meters of a file, of a model and of graphics boards; and numbers that are none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from loadstone.host.proc import CpuTimes
from loadstone.journal import Journal
from loadstone.meters import nvml
from loadstone.meters.base import MeterError
from loadstone.meters.estimate import EstimateMeter, busy_share
from loadstone.meters.figure import read_figure
from loadstone.meters.file import FileMeter
from loadstone.meters.nvml import NvmlMeter
from loadstone.spec.meters import EstimateSpec, FileSpec, NvmlSpec


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    with Journal(tmp_path / "journal.jsonl", "test") as found:
        yield found


# -- numbers -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "value", "invalid"),
    [
        ("231.5", 231.5, ""),
        (" 231.5 W\n", 231.5, ""),
        ("1.2e2watts", 120.0, ""),
        ("0", 0.0, ""),
        ("3 J", 0.0, "it says J, and W was stated"),
        ("", 0.0, "it is empty"),
        ("N/A", 0.0, "'N/A' is not a number"),
        ("[Not Supported]", 0.0, "'[Not Supported]' is not a number"),
        ("1,5", 0.0, "'1,5' is not a number"),
        ("-1", -1.0, "-1 is negative"),
        ("4294967.295", 4294967.295, "4.29497e+06 W is no power of a system"),
    ],
)
def test_a_line_that_should_be_a_number(text: str, value: float, invalid: str):
    assert read_figure(text, "W") == (value, invalid)


def test_no_number_is_no_figure():
    assert read_figure("nan", "W")[1] == read_figure("inf", "J")[1] == "not a number"
    assert read_figure("5e9 joules", "J") == (5e9, "")


# -- a file ------------------------------------------------------------------------------------
def test_a_file_is_read_again(tmp_path: Path, journal: Journal):
    path = tmp_path / "watts"
    path.write_text("# of the rack\n100\n")
    meter = FileMeter(FileSpec(path=str(path), scope="wall"))
    meter.open(journal)
    assert [each.value for each in meter.read()] == [100.0]
    path.write_text("nothing")
    assert "is not a number" in meter.read()[0].invalid
    path.unlink()
    assert "cannot be read" in meter.read()[0].invalid
    path.write_text("120")
    (reading,) = meter.read()
    assert (reading.value, reading.invalid) == (120.0, "")
    (channel,) = meter.channels()
    assert (channel.scope, channel.form, channel.simulated) == ("wall", "gauge", False)
    meter.close()


def test_a_file_without_a_figure_is_refused(tmp_path: Path, journal: Journal):
    path = tmp_path / "watts"
    with pytest.raises(MeterError, match="No such file"):
        FileMeter(FileSpec(path=str(path), scope="wall")).open(journal)
    path.write_text("none")
    with pytest.raises(MeterError, match="holds no figure"):
        FileMeter(FileSpec(path=str(path), scope="wall", unit="J")).open(journal)


# -- a model -----------------------------------------------------------------------------------
def times(busy: int, idle: int, steal: int = 0) -> CpuTimes:
    return CpuTimes(user=busy // 2, system=busy - busy // 2, idle=idle, iowait=0, steal=steal)


def test_the_share_that_is_busy():
    assert busy_share(times(0, 0), times(50, 50)) == 0.5
    assert busy_share(times(0, 0), times(50, 25, steal=25)) == 0.5
    assert busy_share(times(10, 10), times(10, 10)) is None
    assert busy_share(times(10, 10), times(5, 40)) == 0.0


def test_an_estimate_lies_on_its_line(tmp_path: Path, journal: Journal):
    stat = tmp_path / "proc/stat"
    stat.parent.mkdir()
    stat.write_text("cpu 100 0 0 900 0 0 0 0\n")
    meter = EstimateMeter(EstimateSpec(idle_watts=100, full_watts=300), tmp_path)
    meter.open(journal)
    assert meter.read() == []
    stat.write_text("cpu 150 0 0 1050 0 0 0 0\n")
    assert [each.value for each in meter.read()] == [150.0]
    (channel,) = meter.channels()
    assert (channel.estimated, channel.simulated, channel.mean_over_s) == (True, True, 1.0)
    stat.write_text("intr 5\n")
    assert "cannot be read" in meter.read()[0].invalid
    meter.close()
    with pytest.raises(MeterError, match="cannot be read"):
        EstimateMeter(EstimateSpec(idle_watts=1, full_watts=3), tmp_path / "no").open(journal)


# -- graphics boards ---------------------------------------------------------------------------
class NoAnswerError(Exception):
    """As the library raises."""


class Boards(ModuleType):
    """The driver's library with boards of one's own: their answers by function."""

    NVMLError = NoAnswerError

    def __init__(self, *boards: dict[str, Any]) -> None:
        super().__init__("pynvml")
        self.boards = boards
        self.open = 0

    def nvmlInit(self) -> None:  # noqa: N802
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.boards)

    def nvmlDeviceGetHandleByIndex(self, place: int) -> dict[str, Any]:  # noqa: N802
        return self.boards[place]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvmlDeviceGet"):
            raise AttributeError(name)

        def question(board: dict[str, Any]) -> Any:
            what = name.removeprefix("nvmlDeviceGet")
            if what not in board:
                raise NoAnswerError("Not Supported")
            return board[what]

        return question


def installed(monkeypatch: pytest.MonkeyPatch, *boards: dict[str, Any]) -> Boards:
    library = Boards(*boards)
    monkeypatch.setitem(__import__("sys").modules, "pynvml", library)
    return library


def test_boards_tell_energy_power_or_nothing(monkeypatch: pytest.MonkeyPatch, journal: Journal):
    new = {
        "Name": "A100",
        "TotalEnergyConsumption": 5000,
        "EnforcedPowerLimit": 400_000,
        "MigMode": [1, 1],
    }
    old = {"Name": b"P4", "PowerUsage": 23_500}
    library = installed(monkeypatch, new, old, {"Name": "K20"})
    found = NvmlMeter.found(Path("/"))
    assert [(each.channel, bool(each.missing)) for each in found] == [
        ("gpu0", False),
        ("gpu1", False),
        ("gpu2", True),
    ]
    assert found[0].what == "A100, the whole board"
    meter = NvmlMeter(NvmlSpec())
    meter.open(journal)
    energy, watts = meter.channels()
    assert (energy.form, energy.most_w, energy.scope) == ("counter", 400.0, "gpu")
    assert (watts.form, watts.most_w) == ("gauge", None)
    assert [each.value for each in meter.read()] == [5.0, 23.5]
    assert {notice.code for notice in meter.notices()} == {"meter-sliced"}
    old["PowerUsage"] = 0xFFFF_FFFF
    assert [bool(each.invalid) for each in meter.read()] == [False, True]
    del new["TotalEnergyConsumption"]
    for _ in range(2):
        assert all(each.invalid for each in meter.read())
    with pytest.raises(MeterError, match="has died"):
        meter.read()
    meter.close()
    assert library.open == 0


def test_a_machine_without_boards_says_why(monkeypatch: pytest.MonkeyPatch, journal: Journal):
    library = installed(monkeypatch)
    assert NvmlMeter.found(Path("/"))[0].missing == "the driver knows no board"

    def refuse() -> None:
        raise NoAnswerError("Driver Not Loaded")

    monkeypatch.setattr(library, "nvmlInit", refuse)
    (found,) = NvmlMeter.found(Path("/"))
    assert "Driver Not Loaded" in found.missing
    with pytest.raises(MeterError, match="no driver of NVIDIA"):
        NvmlMeter(NvmlSpec()).open(journal)
    assert nvml.SCOPE == "gpu"
