"""Figures for each watt and each joule, of any workload; and which metrics a meter brings."""

from __future__ import annotations

from typing import Any

import pytest

from loadstone.experiments.power_metrics import Powered, metric_names, power_metrics
from loadstone.experiments.preflight.check import check_experiment
from loadstone.protocol.frames import Event
from loadstone.results.power import PowerRecord
from loadstone.results.record import MetricValue
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.workloads.cube.cycle import steps_of_cycle
from loadstone.workloads.measured import Measured, Observation
from loadstone.workloads.registry import WORKLOADS, workload_of


def measured(duration_s: float, **operations: int) -> Measured:
    nothing = Observation(0.0, {})
    return Measured(
        begin=nothing,
        end=nothing,
        duration_s=duration_s,
        operations={name.replace("_", "-"): count for name, count in operations.items()},
        rolled_back={},
        retries=0,
        errors=0,
        driver_cpu_s=0.0,
        server_cpu_s=None,
        total_operations={},
        total_rolled_back={},
        total_errors=0,
    )


def power(watts: float | None, length_s: float = 10.0, **fields: Any) -> PowerRecord:
    return PowerRecord(
        meter="pdu",
        kind="network",
        channel="sum",
        scope="wall",
        watts=watts,
        joules=None if watts is None else watts * length_s,
        covered=1.0,
        readings=10,
        main=True,
        **fields,
    )


def figures(name: str, stretch: Powered, *parts: Powered, **given: Any) -> dict[str, MetricValue]:
    workload = workload_of(WorkloadSpec(name=name, parameters=given.pop("parameters", {})))
    headline = given.pop("headline", None)
    found = []
    if headline is not None:
        value, unit = headline
        found = [MetricValue(name=workload.judged_metric(), value=value, unit=unit)]
    values = power_metrics(workload, stretch, parts or (stretch,), found, given.pop("users", None))
    return {each.name: each for each in values}


def test_energy_and_rate_for_each_watt_are_by_the_headline() -> None:
    found = figures(
        "oltp", Powered(measured(10.0, new_order=3), power(200.0)),
        headline=(12_000.0, "new-orders/min"), users=50,
    )  # fmt: skip
    assert found["watts"].value == 200
    assert found["joules_per_operation"].value == pytest.approx(1.0)  # 200 W, 200 a second
    assert found["operations_per_s_per_watt"].value == pytest.approx(1.0)
    assert found["operations_per_s_per_watt"].unit == "new-orders/s per W"
    assert found["users_per_watt"].value == pytest.approx(0.25)
    assert found["watts"].higher_is_better is False
    assert {each.mark for each in found.values()} == {""}


def test_without_watts_there_are_none_of_them() -> None:
    stretch = Powered(measured(10.0, noop=3), power(None))
    assert figures("noop", stretch, headline=(5.0, "operations/s"), users=2) == {}


@pytest.mark.parametrize("mark", ["simulated", "estimated"])
def test_the_mark_of_the_power_is_on_each_figure(mark: str) -> None:
    stretch = Powered(measured(10.0, noop=50), power(100.0, **{mark: True}))
    found = figures("noop", stretch, headline=(5.0, "operations/s"), users=2)
    assert len(found) == 4
    assert {each.mark for each in found.values()} == {mark}


def test_idle_has_watts_and_no_energy_for_operations() -> None:
    stretch = Powered(measured(10.0), power(60.0))
    found = figures("noop", stretch, headline=(0.0, "operations/s"))
    assert list(found) == ["watts"]


def test_a_headline_that_is_no_rate_gives_energy_by_the_count() -> None:
    of_queries = measured(20.0, q01=20, q02=20, rf1=10)
    stretch = Powered(of_queries, power(100.0, 20.0))
    found = figures("dss", stretch, headline=(5000.0, "queries/h x scale"))
    assert found["joules_per_operation"].value == pytest.approx(2000 / 50)
    assert found["joules_per_query"].value == pytest.approx(2000 / 40)
    assert "operations_per_s_per_watt" not in found


def step(operation: str, from_s: float, to_s: float) -> Event:
    data = {"stream": "cycles", "operation": operation, "step": "work"}
    return Event(
        t_s=to_s, kind="workload", name="step", data={**data, "from_s": from_s, "to_s": to_s}
    )


def test_energy_of_a_cycle_is_that_of_the_time_from_its_first_step_to_its_last() -> None:
    workload = workload_of(WorkloadSpec(name="cube", parameters={}))
    steps = steps_of_cycle(hybrid=False)
    events = [
        step(name, 100.0 * cycle + place, 100.0 * cycle + place + 0.5)
        for cycle in (0, 1, 2)
        for place, name in enumerate(steps[: None if cycle < 2 else 3])  # the last is not whole
    ]
    last_s = len(steps) - 0.5
    assert workload.energy_spans(events) == {"cycle": [(0.0, last_s), (100.0, 100.0 + last_s)]}


@pytest.mark.parametrize("name", list(WORKLOADS))
def test_what_a_workload_tells_energy_for_is_known_before(name: str) -> None:
    workload = WORKLOADS[name]
    names = metric_names(workload)
    assert len(set(names)) == len(names)
    assert not {spec.name for spec in workload.metrics} & set(names)


def experiment(**fields: Any) -> Experiment:
    given = {
        "name": "power",
        "workload": {"name": "noop"},
        "target": {"engine": "none"},
        "profile": {"users": 2},
    }
    return Experiment.model_validate(given | fields)


METER = {"kind": "estimate", "idle_watts": 50, "full_watts": 90}


def told(**fields: Any) -> list[str]:
    return [problem.message for problem in check_experiment(experiment(**fields))]


def test_a_figure_of_power_can_be_named_where_there_is_a_meter() -> None:
    assert told(meters=[METER], metric="watts") == []
    (message,) = told(metric="operations_per_s_per_watt")
    assert "needs a power meter" in message


def test_a_root_without_meters_and_one_that_is_none_are_told() -> None:
    assert told(meters_root="/nowhere") == ["would have no effect: there are no meters"]
    assert told(meters=[METER], meters_root="/nowhere") == ["/nowhere is not a folder"]


def test_an_unknown_kind_and_a_reference_to_nothing_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_SUCH", raising=False)
    (message,) = told(meters=[{"kind": "powercup"}])
    assert "did you mean 'powercap'" in message
    meter = {"kind": "ipmi", "address": "bmc.example", "password": "env:NO_SUCH"}
    (message,) = told(meters=[meter])
    assert "is not set" in message
