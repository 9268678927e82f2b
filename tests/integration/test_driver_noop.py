"""The real driver, driven from Python: `noop` needs no server."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from sample_trials import plan_of

from loadstone.load.driver import Driver, DriverFailedError, Failure
from loadstone.load.driver_group import generator
from loadstone.load.health import achieved_share
from loadstone.load.interrupted import finish_interrupted
from loadstone.load.profiles import run_plan
from loadstone.load.totals import LoadLog
from loadstone.probes.host import HostProbe
from loadstone.probes.sampler import Sampler
from loadstone.protocol.frames import parse_frame
from loadstone.results.folder import ExperimentFolder
from loadstone.results.frames import parsed_frames, read_frames
from loadstone.results.record import Status
from loadstone.results.samples import read_samples
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import NoConnection

NONE = NoConnection()
PACING = {"default": {"keying_s": 0.0, "think": {"distribution": "none"}}}


def plan_for(parameters: dict[str, Any] | None = None, **profile: Any) -> dict[str, Any]:
    workload = {"name": "noop", "role": "run", "parameters": parameters or {"service_time_us": 200}}
    spec = ProfileSpec.model_validate({"warm_up": "0.2s", "measure": "1s", **profile})
    return run_plan(spec, workload, PACING, NONE, 42)


def run(plan: dict[str, Any]) -> LoadLog:
    log = LoadLog()
    with Driver(plan, lambda frame: log.add(parse_frame(frame))) as driver:
        driver.wait(timeout_s=120)
    return log


@pytest.mark.parametrize("processes", [1, 2])
def test_users_leave_after_the_measured_phase_and_count_in_no_figure(processes: int) -> None:
    log = LoadLog()
    plan = plan_for(users=30, think_time="10ms to 50ms", warm_up="0s", drain="1s")
    with generator(plan, lambda frame: log.add(parse_frame(frame)), processes=processes) as load:
        load.wait(timeout_s=120)
    measure, drain = log.phases()
    assert (measure.kind, drain.kind) == ("measure", "drain")
    assert drain.count > 0
    assert log.overall().count == measure.count + drain.count
    assert log.measured().count == measure.count
    assert [tick.users for tick in log.ticks if not tick.late][-1] == 0
    assert log.end is not None
    assert log.end.reason == "completed"


def test_users_who_begin_together_do_not_act_together() -> None:
    """With a first wait of nothing all of them would act at once, and again after each wait."""
    log = run(plan_for(users=400, think_time="1s to 1s", warm_up="0s", measure="3s"))
    first, *_ = log.measured_ticks()
    share = sum(each.count for each in first.operations.values()) / log.measured().count
    assert share == pytest.approx(first.duration_s / log.measured().duration_s, rel=0.3)


def test_a_closed_run_is_added_up() -> None:
    log = run(plan_for(users=4, ramp="0.2s"))
    assert [phase.name for phase in log.phases()] == ["ramp", "warm-up", "measure"]
    assert log.end is not None
    totals = {name: total.count for name, total in log.end.operations.items()}
    overall = log.overall()
    assert {name: operation.count for name, operation in overall.operations.items()} == totals
    measured = log.measured()
    assert 0 < measured.count < overall.count
    response = measured.response()
    assert response is not None
    assert response.count == measured.count
    assert response.p50_s >= 200e-6
    health = log.health()
    assert health is not None
    assert health.cpu_share > 0


def test_an_open_run_offers_its_rate() -> None:
    log = run(plan_for(load="open", rate_per_s=500, arrival="uniform", sessions=8))
    measured = log.measured()
    assert measured.due == pytest.approx(500, abs=2)
    assert measured.count + measured.errors == measured.due - measured.dropped
    share = achieved_share(measured)
    assert share is not None
    assert share <= 1.0


def test_errors_and_retries_have_classes() -> None:
    log = run(
        plan_for({"service_time_us": 100, "error_rate": 0.2, "error_class": "40001"}, users=2)
    )
    assert log.measured().retries > 0


def test_stop_keeps_what_was_measured() -> None:
    log, measuring = LoadLog(), threading.Event()

    def take(frame: dict[str, Any]) -> None:
        log.add(parse_frame(frame))
        if frame["frame"] == "tick":
            measuring.set()

    with Driver(plan_for(measure="600s"), take) as driver:
        assert measuring.wait(60)
        driver.stop()
        assert driver.wait(timeout_s=60).reason == "stopped"
    assert log.overall().count > 0


def test_a_refused_plan_names_the_field() -> None:
    plan = plan_for()
    plan["surprise"] = 1
    with Driver(plan, lambda _: None) as driver, pytest.raises(DriverFailedError) as caught:
        driver.wait(timeout_s=60)
    assert caught.value.failure is Failure.REFUSED_PLAN
    assert "surprise" in caught.value.message


def test_a_killed_driver_is_said() -> None:
    with Driver(plan_for(measure="600s"), lambda _: None) as driver:
        driver.wait_hello()
        assert driver.pid is not None
        os.kill(driver.pid, signal.SIGKILL)
        with pytest.raises(DriverFailedError) as caught:
            driver.wait(timeout_s=60)
    assert caught.value.failure is Failure.KILLED


PARENT = """
import json, sys
from pathlib import Path
from loadstone.spec.plans import TrialPlan
from loadstone.load.driver import Driver
from loadstone.probes.host import HostProbe
from loadstone.probes.sampler import Sampler
from loadstone.results.folder import ExperimentFolder

given = json.loads(sys.stdin.readline())
trial = ExperimentFolder.create(Path(sys.argv[1]), "demo").trial(
    TrialPlan.model_validate_json(given["trial"])
)

def take(frame):
    trial.write_frame(frame)
    if frame["frame"] == "tick" and frame["seq"] == 2:
        print(driver.pid, flush=True)

driver = Driver(given["plan"], take).start()
probe = HostProbe()
probe.interval_s = 0.05
Sampler([probe], driver.clock_s, trial.samples.put).__enter__()
driver.wait()
"""


def test_a_killed_loadstone_leaves_no_driver_and_a_record(tmp_path: Path) -> None:
    given = {"trial": plan_of().model_dump_json(), "plan": plan_for(warm_up="0", measure="600s")}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(json.dumps(given) + "\n")
        parent.stdin.flush()
        pid = int(parent.stdout.readline())
        handle = os.pidfd_open(pid)
        parent.kill()
    with os.fdopen(handle):
        assert select.select([handle], [], [], 60)[0], "the driver outlived Loadstone"
    trial = tmp_path / "demo" / "b01-1-base"
    result = finish_interrupted(trial)
    assert result.status is Status.INTERRUPTED
    assert [phase.name for phase in result.phases] == ["measure"]
    assert result.operations[0].count == LoadLog.of(parsed_frames(trial)).measured().count > 0
    assert "cpu_user_percent" in {sample.metric for sample in read_samples(trial)}


def test_a_whole_trial_leaves_a_readable_folder(tmp_path: Path) -> None:

    log = LoadLog()
    with ExperimentFolder.create(tmp_path, "demo").trial(plan_of()) as trial:

        def take(frame: dict[str, Any]) -> None:
            trial.write_frame(frame)
            log.add(parse_frame(frame))

        with Driver(plan_for(), take) as driver:
            probe = HostProbe(tmp_path)
            probe.interval_s = 0.1
            with Sampler([probe], driver.clock_s, trial.samples.put):
                driver.wait(timeout_s=120)
    frames = list(read_frames(trial.path))
    assert [frames[0]["frame"], frames[-1]["frame"]] == ["hello", "end"]
    assert LoadLog.of(parsed_frames(trial.path)).measured() == log.measured()
    assert read_samples(trial.path)
    reader = HistogramLogReader(
        str(trial.path / "latency.hlog"), HdrHistogram(1, 3_600_000_000_000, 3)
    )
    assert reader.get_next_interval_histogram() is not None
