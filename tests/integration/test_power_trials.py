"""Trials with power meters: a tree whose counters a program moves, and meters that fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lengths import LONG
from moving_zones import moving, tree_in_memory
from power_tree import zone

from loadstone.cli.again import again
from loadstone.cli.main import run_command
from loadstone.cli.options import ShortForm
from loadstone.errors import ExitCode, TargetError, WrongInputError
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.results.folder import read_result
from loadstone.results.power import PowerRecord
from loadstone.results.record import Status, TrialResult
from loadstone.results.samples import read_samples
from loadstone.spec.model import Experiment

PACKAGE_W, DRAM_W, PSYS_W = 41.5, 6.25, 120.0
NEAR = 0.02
"""A busy machine may write a counter, or read it, late by some ms of a phase of 3 s."""
LAST_UJ = 262_143_000_000
"""Of the package at the begin: it wraps within the first seconds."""


def experiment(root: Path, meters: list[dict[str, Any]], **fields: Any) -> Experiment:
    given = {
        "version": 1,
        "name": "power",
        "workload": {"name": "noop", "parameters": {"service_time_us": 5000}},
        "target": {"engine": "none"},
        "profile": {"users": 4, "warm_up": "1s", "measure": "4s"},
        "meters": meters,
        "meters_root": str(root),
    }
    return Experiment.model_validate(given | fields)


def made(wanted: Experiment, results: Path) -> tuple[TrialResult, Path]:
    folder = conduct(wanted, RunOptions(results=results, command="pytest"), Observer())
    (trial,) = [each.parent for each in folder.glob("*/result.json")]
    return read_result(trial), trial


@pytest.fixture
def root() -> Iterator[Path]:
    with tree_in_memory() as folder:
        yield folder


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrialResult, Path]:
    """One with three zones that move, two measured phases, and sensors of temperature."""
    with tree_in_memory() as root:
        return _trial(root, tmp_path_factory.mktemp("results"))


def _trial(root: Path, results: Path) -> tuple[TrialResult, Path]:
    package = zone(root, "intel-rapl/intel-rapl:0", "package-0", uj=LAST_UJ)
    dram = zone(root, "intel-rapl/intel-rapl:0/intel-rapl:0:0", "dram", range_uj=65_712_999_613)
    psys = zone(root, "intel-rapl/intel-rapl:1", "psys")
    chip = root / "sys/class/hwmon/hwmon0"
    chip.mkdir(parents=True)
    for name, text in {"name": "coretemp", "temp1_input": "51000", "temp1_label": "all"}.items():
        (chip / name).write_text(f"{text}\n")
    wanted = experiment(
        root,
        [
            {"kind": "powercap", "every": "200ms", "channels": ["package-0", "dram"]},
            {"kind": "powercap", "name": "whole", "every": "200ms", "channels": ["psys"],
             "main": True, "accuracy": "2%"},
        ],
        profile={
            "users": 4,
            "warm_up": "1s",
            "measure": "3s",
            "phases": [{"name": "all"}, {"name": "half", "share": 0.5}],
        },
    )  # fmt: skip
    with moving({package: PACKAGE_W, dram: DRAM_W, psys: PSYS_W}):
        return made(wanted, results)


def record_of(records: list[PowerRecord], channel: str) -> PowerRecord:
    (found,) = [each for each in records if each.channel == channel]
    return found


@pytest.mark.parametrize(
    ("channel", "watts"), [("package-0", PACKAGE_W), ("dram", DRAM_W), ("psys", PSYS_W)]
)
def test_each_phase_has_the_watts_that_were_drawn_in_it(
    trial: tuple[TrialResult, Path], channel: str, watts: float
) -> None:
    result, _ = trial
    assert result.status is not Status.FAILED, result.notices
    for phase in result.measured:
        record = record_of(phase.power, channel)
        assert record.watts == pytest.approx(watts, rel=NEAR), record.reason
        assert record.joules == pytest.approx(watts * 3, rel=2 * NEAR)
        assert record.covered > 0.99
    assert record_of(result.power, channel).watts == pytest.approx(watts, rel=NEAR)


def test_the_figures_are_by_the_main_meter_and_marked(trial: tuple[TrialResult, Path]) -> None:
    result, _ = trial
    assert [each.channel for each in result.power if each.main] == ["psys"]
    assert {each.mark for each in result.power} == {"simulated"}
    assert record_of(result.power, "psys").accuracy_percent == 2
    watts, rate = result.metric("watts"), result.metric("operations_per_s")
    per_watt, energy = (
        result.metric("operations_per_s_per_watt"),
        result.metric("joules_per_operation"),
    )
    assert watts and rate and per_watt and energy
    assert watts.mark == per_watt.mark == energy.mark == "simulated"
    assert rate.mark == ""
    assert per_watt.value == pytest.approx(rate.value / watts.value)
    assert energy.value == pytest.approx(watts.value / rate.value)
    assert result.metric("users_per_watt") is None  # of several phases nobody knows which
    users = [
        next(each.value for each in phase.metrics if each.name == "users_per_watt")
        for phase in result.measured
    ]
    assert users == pytest.approx([4 / PSYS_W, 2 / PSYS_W], rel=NEAR)


def test_samples_temperatures_and_the_labs_own_cost_are_kept(
    trial: tuple[TrialResult, Path],
) -> None:
    result, folder = trial
    samples = [each for each in read_samples(folder) if each.probe == "meter.whole"]
    assert {each.metric for each in samples} == {"watts:whole psys"}
    assert sorted(each.value for each in samples)[len(samples) // 2] == pytest.approx(
        PSYS_W, rel=0.1
    )
    for phase in result.measured:
        assert phase.lab is not None
        assert 0 < phase.lab.cpu_share < 2
        assert phase.lab.wakeups_per_s > 1
        (sensor,) = phase.temperatures
        assert (sensor.sensor, sensor.mean_celsius) == ("coretemp all", pytest.approx(51.0))
        assert sensor.simulated


def test_a_counter_that_stands_still_leaves_the_rest(root: Path, tmp_path: Path) -> None:
    package = zone(root, "intel-rapl/intel-rapl:0", "package-0")
    zone(root, "intel-rapl/intel-rapl:1", "psys")
    wanted = experiment(
        root,
        [{"kind": "powercap", "every": "100ms"}],
        profile={"users": 2, "warm_up": "300ms", "measure": "2s"},
    )
    with moving({package: 30.0}):
        result, _ = made(wanted, tmp_path / "results")
    assert record_of(result.power, "psys").watts is None
    assert "psys does not move: no meter" in record_of(result.power, "psys").reason
    main = next(each for each in result.power if each.main)
    assert (main.channel, main.watts) == ("package-0", pytest.approx(30.0, rel=2 * NEAR))
    assert result.metric("users_per_watt") is not None
    assert any(each.code == "no-watts" and "psys" in each.message for each in result.notices)


@LONG
def test_watts_of_a_longer_phase_are_right_within_half_a_percent(
    root: Path, tmp_path: Path
) -> None:
    package = zone(root, "intel-rapl/intel-rapl:0", "package-0", uj=LAST_UJ)
    profile = {"users": 2, "warm_up": "2s", "measure": "20s"}
    wanted = experiment(root, [{"kind": "powercap"}], profile=profile)
    with moving({package: PACKAGE_W}):
        result, _ = made(wanted, tmp_path / "results")
    (record,) = result.power
    assert record.watts == pytest.approx(PACKAGE_W, rel=0.005)


def test_a_meter_that_dies_leaves_rate_and_response_times(tmp_path: Path) -> None:
    ends = "for n in $(seq 15); do echo 80; sleep 0.1; done; exit 3"
    wanted = experiment(
        Path("/"),
        [{"kind": "command", "name": "pdu", "scope": "wall", "every": "100ms",
          "command": ["sh", "-c", ends]}],
        profile={"users": 2, "warm_up": "300ms", "measure": "2s"},
    )  # fmt: skip
    result, _ = made(wanted, tmp_path / "results")
    assert result.status is not Status.FAILED, result.notices
    (record,) = result.power
    assert record.watts is None
    assert record.main
    assert "exit code 3" in record.reason
    assert result.metric("watts") is None
    assert result.metric("operations_per_s") is not None
    assert any(each.code == "meter-died" for each in result.notices)


def test_a_missing_meter_ends_the_command_before_anything_is_begun(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with pytest.raises(TargetError, match="powercap") as caught:
        made(experiment(tmp_path, [{"kind": "powercap"}]), results)
    assert caught.value.exit_code == ExitCode.TARGET
    assert "\n" not in caught.value.message
    assert not list(results.glob("*/*"))


def test_two_meters_of_one_scope_need_a_word(tmp_path: Path) -> None:
    said = [{"kind": "command", "name": name, "scope": "wall", "command": ["echo", "80"]}
            for name in ("left", "right")]  # fmt: skip
    with pytest.raises(WrongInputError, match="left, right"):
        made(experiment(Path("/"), said), tmp_path / "results")


def test_watts_can_be_what_is_compared_and_a_plan_keeps_its_meters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    meter = "estimate,idle_watts=50,full_watts=100,every=100ms"
    words = [
        *("compare", "noop", "--factor", "service_time_us", "--levels", "4000,8000"),
        *("--users", "2", "--warm-up", "200ms", "--measure", "1s", "--meter", meter),
        *("--metric", "watts", "--metric", "operations_per_s_per_watt"),
        *("--results", str(tmp_path), "--json", "--quiet"),
    ]
    assert run_command(words) in (ExitCode.OK, ExitCode.INVALID_TRIAL)
    document = json.loads(capsys.readouterr().out)
    metrics = [each for trial in document["trials"] for each in trial["result"]["metrics"]]
    watts = [each for each in metrics if each["name"] == "watts"]
    assert len(watts) == 2
    assert {each["mark"] for each in watts} == {"estimated"}
    assert all(50 <= each["value"] <= 100 for each in watts)
    (plan, *_) = sorted(tmp_path.glob("*/*/plan.json"))
    (meter_again,) = again(plan, ShortForm()).experiment.meters
    assert meter_again.model_dump(exclude_none=True).items() >= {
        ("kind", "estimate"),
        ("full_watts", 100.0),
        ("every", 0.1),
    }
