"""The log of a power meter, read and joined to a result after its run."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import right, wrong
from sample_results import Sample, compare, experiment, write_results

from loadstone.errors import WrongInputError
from loadstone.experiments.joining import JoinedMeter, joined_result
from loadstone.meters.log_file import LogForm, PowerLog, read_log
from loadstone.results.graduated import GraduatedLevel, GraduatedRecord
from loadstone.results.power import PowerRecord
from loadstone.results.record import MeasuredPhaseRecord, PhaseTiming
from loadstone.results.trial_files import (
    PLAN_FILE,
    read_plan,
    read_result,
    write_model,
    write_result,
)
from loadstone.spec.design import RunDesign
from loadstone.spec.graduated import GraduatedLoad
from loadstone.spec.profile import ProfileSpec

pytestmark = pytest.mark.usefixtures("own_places")

BEGAN = 1.79e9
"""Unix time of the trials' clocks at 0: `sample_results` says it."""
MEASURED = (5.25, 25.25)


def stamp(t_s: float) -> str:
    return datetime.fromtimestamp(BEGAN + t_s, UTC).isoformat()


def table(path: Path, *rows: str, header: str = "Timestamp,Power (W)") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def steady(path: Path, watts: float = 200.0, until_s: int = 40) -> Path:
    """100 W in all but the measured phase."""
    inside = range(int(MEASURED[0]) + 1, int(MEASURED[1]) + 1)
    rows = [f"{stamp(t)},{watts if t in inside else 100}" for t in range(until_s)]
    return table(path, *rows)


# -- a log -------------------------------------------------------------------------------------
def values(log: PowerLog, channel: str) -> list[float]:
    return [each.value for each in log.readings[channel] if not each.invalid]


@pytest.mark.parametrize(
    ("header", "row", "form"),
    [
        ("Timestamp,Power (W)", "2026-11-27T10:00:{s}Z,231.5", LogForm()),
        ("time;Power [kW];Power Factor", "2026-11-27 10:00:{s};0,2315;1", LogForm(time_zone="UTC")),
        ("Date\tTime\tWatts", "2026-11-27\t12:00:{s}\t231.5", LogForm(time_zone="+02:00")),
        ("epoch time,power_mW", "17961984{s},231500", LogForm()),
        ("at,a,b", "27.11.2026 11:00:{s},231.5,9", LogForm(
            time="at", values=("a",), unit="W", time_format="%d.%m.%Y %H:%M:%S",
            time_zone="Europe/Berlin")),
    ],
)  # fmt: skip
def test_columns_units_and_time_zones(header: str, row: str, form: LogForm, tmp_path: Path):
    rows = [row.format(s=f"{second:02}") for second in (1, 2, 4)]
    log = read_log(table(tmp_path / "pdu.csv", *rows, header=header), form)
    (channel,) = log.channels
    assert channel.form == "gauge"
    assert values(log, channel.name) == pytest.approx([231.5] * 3)
    first, last = log.span
    assert last - first == 3.0
    if "17961984" not in row:
        assert first == datetime(2026, 11, 27, 10, 0, 1, tzinfo=UTC).timestamp()


def test_energy_and_several_outlets(tmp_path: Path):
    path = table(
        tmp_path / "pdu.csv",
        *(f"{stamp(t)},{t},{t / 2},x" for t in (3, 1, 2)),
        header="time,Outlet 1 (Wh),Outlet 2 (Wh),Name",
    )
    form = LogForm(values=("Outlet 1 (Wh)", "Outlet 2 (Wh)"), accuracy_percent=1.0, offset_s=1.5)
    log = read_log(path, form)
    assert [each.form for each in log.channels] == ["counter", "counter"]
    assert values(log, "Outlet 2 (Wh)") == [1800.0, 3600.0, 5400.0]
    assert log.span[0] == BEGAN + 2.5


def test_what_is_no_figure_is_invalid(tmp_path: Path):
    rows = [f"{stamp(t)},{watts}" for t, watts in enumerate(["1.5", "", "-1", "N/A", "nan", "2"])]
    log = read_log(table(tmp_path / "pdu.csv", *rows, "", ","), LogForm())
    assert values(log, "Power (W)") == [1.5, 2.0]
    assert len(log.readings["Power (W)"]) == 6


@pytest.mark.parametrize(
    ("header", "row", "form", "why"),
    [
        ("Timestamp", "1", LogForm(), "is no table"),
        ("a,b", "1,2", LogForm(), "has no column of time"),
        ("time,b", "1,2", LogForm(), "no column that may be of power"),
        ("time,Power,Power 2", "1,2,3", LogForm(), "2 columns that may be of power"),
        ("time,Power", "1,2", LogForm(), "does not say the unit"),
        ("time,Power (W)", "1,2", LogForm(time="at"), "has no column 'at'"),
        ("time,Power (W)", "1,2", LogForm(), "line 2: the stamp cannot be read"),
        ("time,Power (W)", "2026-11-27 10:00:00,2", LogForm(), "does not say its time zone"),
        ("time,Power (W)", "1796198401,2", LogForm(), "fewer than two readings"),
        ("time,Power (W)", "1,2", LogForm(time_zone="Mars/Olympus"), "is no time zone"),
    ],
)
def test_what_must_be_stated_is_told(
    header: str, row: str, form: LogForm, why: str, tmp_path: Path
):
    path = table(tmp_path / "pdu.csv", row, header=header)
    with pytest.raises(WrongInputError, match=why):
        read_log(path, form)


# -- joined ------------------------------------------------------------------------------------
@pytest.fixture
def result(tmp_path: Path) -> Path:
    return write_results(tmp_path / "results", compare(repeats=1), Sample(tick_s=5.0))


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in folder.rglob("*")}


def test_a_log_is_joined_as_a_new_result(result: Path, tmp_path: Path):
    before = everything(result)
    log = steady(tmp_path / "pdu.csv")
    document = json.loads(right("join-power", result.name, str(log), "--accuracy", "1%", "--json"))
    assert everything(result) == before
    new = tmp_path / "results/shared-buffers-power"
    assert document["name"] == new.name
    trial = sorted(path.parent for path in new.glob("*/plan.json"))[0]
    found = read_result(trial)
    old = read_result(result / trial.name)
    (power,) = found.power
    assert (power.meter, power.kind, power.scope, power.main) == ("pdu", "log", "wall", True)
    assert power.watts == pytest.approx(200.0, rel=0.005)
    assert (power.accuracy_percent, power.covered) == (1.0, 1.0)
    figures = {each.name: each.value for each in found.metrics}
    assert figures["watts"] == power.watts
    per_s = figures["new_orders_per_min"] / 60
    assert figures["operations_per_s_per_watt"] == pytest.approx(per_s / power.watts)
    assert figures["users_per_watt"] == pytest.approx(8 / power.watts)
    assert {each.name for each in old.metrics} <= figures.keys()
    (notice,) = [each for each in found.notices if each.code == "power-joined"]
    assert "pdu.csv" in notice.message
    assert result.name in notice.message
    assert found.experiment == new.name
    assert json.loads((trial / "plan.json").read_text())["experiment"] == new.name
    assert "has a meter 'pdu' already" in wrong("join-power", new.name, str(log))
    right("join-power", new.name, str(log), "--meter", "ups", "--name", "both")
    again = read_result(tmp_path / "results/both" / trial.name)
    assert [(each.meter, each.main) for each in again.power] == [("pdu", True), ("ups", False)]


def test_a_clock_that_is_behind_is_put_right(result: Path, tmp_path: Path):
    late = tmp_path / "late.csv"
    late.write_text(steady(tmp_path / "pdu.csv").read_text())
    words = ["join-power", result.name, str(late), "--name", "moved", "--offset", "-1h"]
    assert "has no watts of any trial" in wrong(*words)
    rows = [f"{stamp(t - 3600)},{t}" for t in range(40)]
    table(late, *rows)
    right("join-power", result.name, str(late), "--name", "moved", "--offset", "1h")
    assert not (tmp_path / "results/moved-2").exists()


def test_a_log_that_has_a_gap_has_no_watts(result: Path, tmp_path: Path):
    log = steady(tmp_path / "pdu.csv", until_s=15)
    said = wrong("join-power", result.name, str(log))
    assert "was measured, less than 95%" in said
    assert [path.name for path in (tmp_path / "results").iterdir() if path.is_dir()] == [
        result.name
    ]
    assert "--meter is no name" in wrong("join-power", result.name, str(log), "--meter", "My PDU")
    assert "--offset" in wrong("join-power", result.name, str(log), "--offset", "soon")


# -- levels, and a meter that is there -----------------------------------------------------------
def graduated(folder: Path, *, with_meter: bool) -> Path:
    """A trial of three levels of 10 s, whose power is 300, 200 and 100 W."""
    trial = sorted(path.parent for path in folder.glob("*/plan.json"))[0]
    shares = {"100 %": 1.0, "50 %": 0.5, "active idle": 0.0}
    begins = dict(zip(shares, (5.0, 20.0, 35.0), strict=True))
    own = [power_of(50.0)] if with_meter else []
    levels: list[GraduatedLevel] = [
        GraduatedLevel(
            name=name, share=share, target_per_s=100 * share, due_per_s=100 * share,
            achieved_per_s=100 * share, holds=True, from_s=begins[name], duration_s=10.0,
        )
        for name, share in shares.items()
    ]  # fmt: skip
    update: dict[str, Any] = {
        "phases": [
            PhaseTiming(name=name, kind="measure", from_s=at, to_s=at + 10)
            for name, at in begins.items()
        ],
        "measured": [
            MeasuredPhaseRecord(name=name, duration_s=10.0, power=own) for name in shares
        ],
        "graduated": GraduatedRecord(
            form="own", over="rate", unit="operations/s", calibrated_per_s=100.0,
            calibrated_by="given", levels=levels, reason="no meter gave watts",
        ),
        "power": own,
    }  # fmt: skip
    write_result(trial, read_result(trial).model_copy(update=update))
    plan = read_plan(trial)
    levels = GraduatedLoad(levels=[100, 50, 0])
    profile = ProfileSpec(load="open", rate_per_s=100.0, graduated=levels)
    write_model(trial / PLAN_FILE, plan.model_copy(update={"profile": profile}))
    return trial


def power_of(watts: float) -> PowerRecord:
    return PowerRecord(
        meter="rapl", kind="powercap", channel="package-0", scope="package", watts=watts,
        joules=watts * 10, covered=1.0, readings=10, main=True,
    )  # fmt: skip


def log_of_levels(path: Path) -> PowerLog:
    """600 W outside the levels."""
    watts = [600.0] * 60
    for at, own in ((5, 300.0), (20, 200.0), (35, 100.0)):
        watts[at : at + 11] = [own] * 11
    return read_log(table(path, *(f"{stamp(t)},{w}" for t, w in enumerate(watts))), LogForm())


@pytest.mark.parametrize("main", [False, True])
@pytest.mark.parametrize("with_meter", [False, True])
def test_levels_get_their_watts(main: bool, with_meter: bool, tmp_path: Path):
    folder = write_results(
        tmp_path / "results", experiment(RunDesign(), 1, name="levels"), Sample(tick_s=10.0)
    )
    trial = graduated(folder, with_meter=with_meter)
    log = log_of_levels(tmp_path / "pdu.csv")
    found = joined_result(trial, JoinedMeter(log, "pdu", "pdu.csv", main))
    own = [next(each for each in phase.power if each.meter == "pdu") for phase in found.measured]
    assert [each.watts for each in own] == pytest.approx([300.0, 200.0, 100.0])
    assert found.graduated is not None
    taken = main or not with_meter
    assert {each.main for each in own} == {taken}
    assert sum(each.main for each in found.measured[0].power) == 1
    if taken:
        assert found.graduated.overall == pytest.approx(150 / 600)
        assert [each.watts for each in found.graduated.levels] == [300.0, 200.0, 100.0]
        assert found.graduated.levels[0].joules_per_operation == pytest.approx(3.0)
        assert found.metric("overall_per_watt") is not None
        assert found.graduated.reason == ""
    else:
        assert found.graduated.overall is None
        assert found.power[0].meter == "rapl"


def test_a_level_without_watts_leaves_no_overall_figure(tmp_path: Path):
    folder = write_results(
        tmp_path / "results", experiment(RunDesign(), 1, name="levels"), Sample(tick_s=10.0)
    )
    trial = graduated(folder, with_meter=False)
    rows = [f"{stamp(t)},{'nan' if 20 <= t <= 30 else 100}" for t in range(60)]
    log = read_log(table(tmp_path / "pdu.csv", *rows), LogForm())
    found = joined_result(trial, JoinedMeter(log, "pdu", "pdu.csv", main=False))
    assert found.graduated is not None
    assert found.graduated.overall is None
    assert found.graduated.reason == "no watts of 50 %"
    assert found.metric("overall_per_watt") is None


def test_a_log_of_another_day_is_told(result: Path, tmp_path: Path):
    rows = [
        f"{(datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=t)).isoformat()},5"
        for t in range(9)
    ]
    log = table(tmp_path / "old.csv", *rows)
    assert "old.csv has no watts of any trial of shared-buffers" in wrong(
        "join-power", result.name, str(log)
    )
