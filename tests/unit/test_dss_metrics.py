"""The figures of a trial of decision support, and which of them a failed query spoils."""

from dataclasses import replace
from math import sqrt

import pytest
from dss_steps import measured, queries, run_of, step

from loadstone.experiments.preflight.check import check_experiment
from loadstone.protocol.frames import Event
from loadstone.protocol.steps import steps_of
from loadstone.results.record import Notice
from loadstone.spec.model import Experiment
from loadstone.workloads.dss.metrics import METRICS, STEPS, metric_values
from loadstone.workloads.dss.parameters import DecisionSupportParameters
from loadstone.workloads.dss.steps import ThroughputRun
from loadstone.workloads.dss.workload import DecisionSupport

POWER = ["rf1", *queries(), "rf2"]


def whole(*, failed: str = "", in_stream: str = "") -> list[Event]:
    """A power run of 24 steps of 2 s, then two streams of 44 s and refreshes that end 6 s later."""
    return [
        *run_of("validation", *queries()),
        *run_of("power", *POWER, failed=failed),
        *run_of("stream-1", *queries(), begin_s=48.0, failed=in_stream),
        *run_of("stream-2", *queries(), begin_s=48.0),
        *run_of("refresh", "rf1", "rf2", "rf1", "rf2", begin_s=94.0, each_s=1.0),
    ]


def figures(events: list[Event], scale: float = 1.0) -> dict[str, float]:
    trial = replace(measured(*events), data={"size_bytes": 6e8})
    values = metric_values(trial, DecisionSupportParameters(scale=scale))
    return {value.name: value.value for value in values}


def test_the_family_of_figures() -> None:
    found = figures(whole(), scale=3.0)
    power = 3600 * 3 / 2.0  # all 24 times are 2 s
    throughput = 2 * 22 * 3600 / (98.0 - 48.0) * 3
    assert found["power"] == pytest.approx(power)
    assert found["throughput"] == pytest.approx(throughput)
    assert found["composite"] == pytest.approx(sqrt(power * throughput))
    assert (found["power_run_s"], found["throughput_run_s"]) == (44.0, 50.0)
    assert found["geometric_mean_s"] == pytest.approx(2.0)
    assert (found["q01_s"], found["rf2_s"], found["server_cpu_s"]) == (2.0, 2.0, 12.5)
    assert found["storage_ratio"] == pytest.approx(0.2)
    assert set(found) == {spec.name for spec in METRICS}
    assert {info.metric for info in STEPS} <= set(found)


def test_a_query_that_failed_in_the_power_run_leaves_the_others_and_the_streams() -> None:
    found = figures(whole(failed="q09"))
    assert not {"power", "composite", "geometric_mean_s", "power_run_s", "q09_s"} & set(found)
    assert (found["q08_s"], found["throughput"]) == (2.0, pytest.approx(2 * 22 * 3600 / 50.0))


def test_a_query_that_failed_in_a_stream_leaves_the_power_run() -> None:
    found = figures(whole(in_stream="q09"))
    assert "throughput" not in found
    assert "composite" not in found
    assert found["power"] == pytest.approx(1800.0)
    events = [event for event in whole() if event.data["operation"] != "q22"]
    assert ThroughputRun.of(steps_of(events)).streams == 0


def test_a_refresh_that_failed_leaves_no_composite() -> None:
    broken = step("refresh", "rf1", 98.0, 99.0, **{"class": "53100", "error": "full"})
    assert "throughput" not in figures([*whole()[:-1], broken])
    assert "power" not in figures(whole(failed="rf2"))


def test_a_refresh_that_never_began_leaves_no_throughput() -> None:
    found = figures(whole()[:-1])
    assert "throughput" not in found
    assert "power" in found


def told(*events: Event) -> Notice:
    workload = DecisionSupport(DecisionSupportParameters(plans=False))
    (notice,) = workload.notices(measured(*events))
    return notice


def test_what_failed_is_told_with_what_there_is_not() -> None:
    workload = DecisionSupport(DecisionSupportParameters(plans=False))
    assert workload.notices(measured(*whole())) == []
    notice = told(*whole(failed="q09"))
    assert "1 of 94 steps did not end well: q09 of power (time-limit: broken off)" in notice.message
    assert "there is no power, composite" in str(notice.advice)
    assert notice.severity == "error"


def test_a_query_that_failed_in_the_validation_spoils_no_figure() -> None:
    events = run_of("validation", "q14", failed="q14")
    notice = told(*events, *whole())
    assert "there is no" not in str(notice.advice)
    assert notice.severity == "warning"


def test_steps_that_never_began_are_told() -> None:
    notice = told(*whole(failed="q03")[:30])
    assert notice.message.startswith("65 of 94 steps did not end well: ")
    assert notice.message.endswith("; 64 never began")
    assert notice.severity == "error"


def test_a_trial_without_a_query_that_ended_well_has_measured_nothing() -> None:
    alone = [event for event in whole() if event.data["stream"] == "validation"]
    notice = told(*alone, *run_of("power", "rf1", "q14", failed="q14"))
    assert notice.severity == "error"
    assert "no query was timed" in str(notice.advice)


def test_a_power_run_alone_has_no_throughput() -> None:
    values = metric_values(measured(*run_of("power", *POWER)), DecisionSupportParameters(streams=0))
    names = {value.name for value in values}
    assert "power" in names
    assert not {"throughput", "composite", "throughput_run_s"} & names


@pytest.mark.parametrize("warm_up", [True, False])
def test_cold_caches_do_not_go_with_a_warm_up(warm_up: bool) -> None:
    experiment = Experiment.model_validate(
        {
            "name": "x",
            "workload": {"name": "dss", "parameters": {"warm_up": warm_up}},
            "target": {"engine": "duckdb"},
            "cache": "cold",
        }
    )
    said = [problem.message for problem in check_experiment(experiment)]
    assert ["warm_up asks each query before" in message for message in said] == [True] * warm_up
