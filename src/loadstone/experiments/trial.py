"""One trial, from a known start state to its checks."""

from __future__ import annotations

import contextlib
import queue
import threading
from dataclasses import dataclass, field
from typing import Any

from loadstone.errors import InterruptedTrialError, LoadstoneError
from loadstone.experiments.data import DataStates
from loadstone.experiments.findings import Findings
from loadstone.experiments.interrupts import Interrupts
from loadstone.experiments.journal import Journal
from loadstone.experiments.model import TrialPlan
from loadstone.experiments.observer import Observer
from loadstone.load.driver import Driver
from loadstone.load.frames import Event, parse_frame
from loadstone.load.profiles import run_plan
from loadstone.load.totals import MEASURE
from loadstone.probes.host import HostProbe
from loadstone.probes.inventory import host_inventory
from loadstone.probes.noise import machine_speed
from loadstone.probes.sampler import Sampler
from loadstone.results.folder import TrialFolder
from loadstone.results.record import TrialResult
from loadstone.targets.base import Target
from loadstone.workloads.base import Observation, Workload
from loadstone.workloads.registry import workload_of

_LOOK_EVERY_S = 1.0
"""How often the server is looked at while load runs."""


@dataclass
class Lab:
    """What the trials of an experiment share."""

    target: Target
    data: DataStates
    journal: Journal
    interrupts: Interrupts
    observer: Observer
    disturbance: float
    """Percent by which the machine's own speed may move."""
    speeds: list[dict[str, float]] = field(default_factory=list)
    """The machine's own speed, at every time it was measured so far."""


def run_trial(plan: TrialPlan, folder: TrialFolder, lab: Lab) -> TrialResult:
    """Makes one trial and records it, whatever becomes of it.

    Raises:
        DiskFullError: If there was no space for the record.
    """
    findings = Findings(plan, workload_of(plan.workload), folder.path, folder.started_at)
    with folder, lab.journal.copied_to(folder.path / "journal.jsonl"):
        try:
            _make(folder, lab, findings)
        except InterruptedTrialError:
            findings.interrupted = True
        except (LoadstoneError, OSError) as error:
            findings.failed(error)
        with lab.interrupts.shielded():
            folder.keep_log(lab.target.log_path())
            result = findings.result(lab.speeds, lab.disturbance)
            folder.write_result(result)
    return result


def _make(folder: TrialFolder, lab: Lab, findings: Findings) -> None:
    plan, workload, target = findings.plan, findings.workload, lab.target
    findings.step = "reset"
    obtain = lab.data.reloaded if plan.reload else lab.data.restored
    findings.readings, findings.data = obtain(workload, plan.data_seed, plan.target)
    workload.prepare(target)
    findings.fingerprint = target.fingerprint(workload.fingerprint_tables())
    target.settle(plan.cache)
    folder.write_inventory({"host": host_inventory(folder.path), "target": target.inventory()})
    findings.counters = workload.observe(target)

    lab.observer.step("measuring the machine")
    findings.step = "machine"
    findings.speed_before = machine_speed(folder.path)
    lab.speeds.append(findings.speed_before)

    lab.observer.step("running the load")
    findings.step = "load"
    _load(folder, lab, findings)

    lab.observer.step("checking the data")
    findings.step = "checks"
    findings.check(target)

    lab.observer.step("measuring the machine")
    findings.step = "machine"
    findings.speed_after = machine_speed(folder.path)
    lab.speeds.append(findings.speed_after)


def _load(folder: TrialFolder, lab: Lab, findings: Findings) -> None:
    """Runs the load under the eyes of the probes."""
    plan, workload, target = findings.plan, findings.workload, lab.target
    connection = target.connection()
    driver_plan = run_plan(
        plan.profile, workload.driver_workload(), workload.pacing(), connection, plan.seed
    )
    marks: queue.SimpleQueue[Event | None] = queue.SimpleQueue()

    def take(frame: dict[str, Any]) -> None:
        folder.write_frame(frame)
        value = parse_frame(frame)
        findings.load.add(value)
        if isinstance(value, Event) and value.phase_kind == MEASURE:
            marks.put(value)
        lab.observer.frame(frame)

    driver = Driver(driver_plan, take, password=connection.password)

    def stop() -> None:
        # Called by a signal handler, whose thread may hold the driver's lock.
        threading.Thread(target=driver.stop, daemon=True).start()

    with lab.interrupts.gently(stop), driver:
        driver.wait_hello()
        probes = [HostProbe(folder.path), *target.probes()]
        with Sampler(probes, driver.clock_s, folder.samples.put) as sampler:
            _watch(driver, marks, target, findings)
        measured = findings.load.measured()
        findings.waits = sampler.waits(measured.from_s, measured.to_s)
        findings.notices += sampler.notices()
        driver.wait()
    lab.interrupts.check()


def _watch(
    driver: Driver, marks: queue.SimpleQueue[Event | None], target: Target, findings: Findings
) -> None:
    """Reads the counters of data and server when the measured phase begins and ends."""

    def tell_end() -> None:
        with contextlib.suppress(LoadstoneError):
            driver.wait()
        marks.put(None)

    threading.Thread(target=tell_end, daemon=True).start()
    while True:
        try:
            mark = marks.get(timeout=_LOOK_EVERY_S)
        except queue.Empty:
            target.check_alive()
            continue
        if mark is None:
            return
        if mark.kind == "phase-begin":
            findings.begin = _observation(driver, target, findings.workload)
            findings.server_cpu_begin_s = target.server_cpu_s()
        elif mark.kind == "phase-end":
            findings.server_cpu_end_s = target.server_cpu_s()
            findings.end = _observation(driver, target, findings.workload)


def _observation(driver: Driver, target: Target, workload: Workload) -> Observation:
    """The counters, at the middle of the time that reading them took."""
    before = driver.clock_s()
    counters = workload.observe(target)
    return Observation((before + driver.clock_s()) / 2, counters)
