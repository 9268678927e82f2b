"""The watts of a graduated trial, where the power follows a script: each level has its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from lengths import LONG
from moving_zones import moving, tree_in_memory
from network_meter_server import NetworkMeterServer
from power_tree import zone

from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.results.folder import read_result
from loadstone.results.graduated import GraduatedRecord
from loadstone.results.record import TrialResult
from loadstone.spec.model import Experiment

PLANNED = {"100 %": 200.0, "50 %": 140.0, "active idle": 80.0}
"""Watts of each level; in all else that is done three times as many are drawn."""
BESIDE = 3
RATE = 200.0
LAST_UJ = 262_142_000_000
"""Of the counter at the begin: it wraps within the trial."""
BEFORE_S = 1.0
"""The delay, in which the script is written, however late this machine is."""


class Script(Observer):
    """Has the machine draw what is planned: all of it is written when the first stretch begins.

    Args:
        folder: For its files, one for counters and one for a meter on the network.
        measure_s: Of each level.
    """

    def __init__(self, folder: Path, measure_s: float) -> None:
        self.of_counter, self.of_network = folder / "counter", folder / "network"
        self.of_network.write_text("1.0\n")
        self.of_counter.write_text("0 1.0\n")
        self.server: NetworkMeterServer | None = None
        self._measure_s = measure_s
        self._origin_s = 0.0
        self._begun = False

    def frame(self, frame: Mapping[str, Any]) -> None:
        if frame["frame"] == "hello":
            self._origin_s = frame["monotonic_s"]
        if frame["frame"] == "event" and frame["kind"] == "phase-begin" and not self._begun:
            self._begun = True
            self._write(self._origin_s + frame["t_s"])

    def _write(self, begin_s: float) -> None:
        assert self.server is not None
        went_s = self.server.went_at
        assert went_s is not None
        points, at_s = [], begin_s
        for watts in PLANNED.values():
            points += [(at_s, BESIDE * watts), (at_s + BEFORE_S, watts)]
            at_s += BEFORE_S + self._measure_s
        points.append((at_s, 1.0))
        self.of_counter.write_text("".join(f"{at} {watts}\n" for at, watts in points))
        rows = [(0.0, 1.0), *((at - went_s, watts) for at, watts in points)]
        self.of_network.write_text("".join(f"{at} {watts}\n" for at, watts in rows))


def made(folder: Path, measure_s: float, every: str) -> TrialResult:
    """One trial with two meters: a counter that wraps, and one on the network."""
    root = folder / "root"
    package = zone(root, "intel-rapl/intel-rapl:0", "package-0", uj=LAST_UJ)
    script = Script(folder, measure_s)
    with ExitStack() as stack:
        server = stack.enter_context(NetworkMeterServer(watts=script.of_network))
        script.server = server
        stack.enter_context(moving({package: script.of_counter}))
        wanted = Experiment.model_validate(
            {
                "name": "levels",
                "workload": {"name": "noop", "parameters": {"service_time_us": 500}},
                "target": {"engine": "none"},
                "design": {"kind": "graduate"},
                "profile": {
                    "warm_up": "0s",
                    "rate_per_s": RATE,
                    "arrival": "uniform",
                    "backlog": "discard",
                    "graduated": {
                        "levels": [100, 50, 0],
                        "delay": f"{BEFORE_S}s",
                        "ramp": "0s",
                        "measure": f"{measure_s}s",
                        "ramp_down": "0s",
                    },
                },
                "meters": [
                    {"kind": "powercap", "every": every, "main": True},
                    {"kind": "network", "address": server.address, "every": every},
                ],
                "meters_root": str(root),
            }
        )
        results = conduct(wanted, RunOptions(results=folder / "results", command="pytest"), script)
    (path,) = results.glob("*/result.json")
    return read_result(path.parent)


@pytest.fixture(scope="module")
def result() -> Iterator[TrialResult]:
    with tree_in_memory() as folder:
        yield made(folder, 2.0, "100ms")


def record_of(result: TrialResult) -> GraduatedRecord:
    assert result.graduated is not None, result.notices
    return result.graduated


def off_by(result: TrialResult, meter: str) -> list[float]:
    """Of each level, by how much its watts differ from those planned, as a share."""
    found = [
        (PLANNED[phase.name], power.watts or 0.0)
        for phase in result.measured
        for power in phase.power
        if power.meter == meter
    ]
    assert len(found) == len(PLANNED)
    return [abs(watts / planned - 1) for planned, watts in found]


def test_no_ramp_leaks_into_a_level(result: TrialResult) -> None:
    """Three times as much is drawn beside: a busy machine may hold a counter up for 0.1 s."""
    assert max(off_by(result, "powercap")) < 0.1
    assert max(off_by(result, "network")) < 0.2


@LONG
def test_no_ramp_leaks_into_a_level_of_usual_length() -> None:
    with tree_in_memory() as folder:
        result = made(folder, 13.0, "1s")
    assert max(off_by(result, "powercap")) < 0.005
    assert max(off_by(result, "network")) < 0.005


def test_levels_and_the_figure_of_all_are_by_the_main_meter(result: TrialResult) -> None:
    record = record_of(result)
    rates = [level.achieved_per_s for level in record.levels]
    watts = [level.watts for level in record.levels]
    assert all(level.holds for level in record.levels), record.reason
    assert record.overall == pytest.approx(sum(rates) / sum(each or 0.0 for each in watts))
    assert record.overall == pytest.approx(1.5 * RATE / sum(PLANNED.values()), rel=0.1)
    assert record.idle_share == pytest.approx(80 / 200, rel=0.15)
    assert record.proportionality == pytest.approx(0.6, abs=0.15)
    assert record.mark == "simulated"
    overall = result.metric("overall_per_watt")
    assert overall is not None
    assert overall.mark == "simulated"
    assert result.judged_by == "overall_per_watt"


def test_idle_tells_what_the_lab_took(result: TrialResult) -> None:
    assert record_of(result).levels[-1].lab_cpu_share is not None
