"""One trial, from a known start state to its checks."""

from __future__ import annotations

from loadstone.errors import InterruptedTrialError, LoadstoneError
from loadstone.experiments.crash import crash
from loadstone.experiments.findings import Findings
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Load, running_load
from loadstone.experiments.outage import suffer
from loadstone.experiments.raising import lasting, raise_load
from loadstone.load.crew import Generator
from loadstone.probes.noise import machine_speed
from loadstone.protocol.frames import Event
from loadstone.results.folder import TrialFolder
from loadstone.results.record import TrialResult
from loadstone.spec.plans import TrialPlan
from loadstone.targets.base import Target
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Observation
from loadstone.workloads.registry import workload_of


def run_trial(plan: TrialPlan, folder: TrialFolder, lab: Lab) -> TrialResult:
    """Makes one trial and records it, whatever becomes of it.

    Raises:
        DiskFullError: If there was no space for the record.
    """
    findings = Findings(plan, workload_of(plan.workload), folder.path, folder.started_at)
    with folder, lab.journal.copied_to(folder.path / "journal.jsonl"):
        try:
            lab.reset(folder, findings)
            if plan.crash is not None:
                crash(folder, lab, findings, plan.crash)
            else:
                _measure(folder, lab, findings)
        except InterruptedTrialError:
            findings.interrupted = True
        except (LoadstoneError, OSError) as error:
            findings.failed(error)
        with lab.interrupts.shielded():
            folder.keep_log(lab.target.log_path())
            result = findings.result(lab.speeds_of(plan), lab.disturbance)
            folder.write_result(result)
    return result


def _measure(folder: TrialFolder, lab: Lab, findings: Findings) -> None:
    """Runs the whole load between two looks at the machine's speed, then checks the data."""
    lab.observer.step("measuring the machine")
    findings.step = "machine"
    findings.speed_before = machine_speed(folder.path)
    lab.speeds_of(findings.plan).append(findings.speed_before)

    lab.observer.step("running the load")
    findings.step = "load"
    _load(folder, lab, findings)

    lab.observer.step("checking the data")
    findings.step = "checks"
    findings.check(lab.target)

    lab.observer.step("measuring the machine")
    findings.step = "machine"
    findings.speed_after = machine_speed(folder.path)
    lab.speeds_of(findings.plan).append(findings.speed_after)


def _load(folder: TrialFolder, lab: Lab, findings: Findings) -> None:
    level = findings.plan.level
    raises = level is not None and bool(level.raised)
    profile = lasting(findings.plan) if raises else findings.plan.profile
    with running_load(folder, lab, findings, profile) as load:
        if raises:
            _note(load.next_mark(lab), load, lab, findings)
            raise_load(load, lab, findings)
        _watch(load, lab, findings)
        load.sampler.stop()
        measured = findings.load.measured()
        findings.waits = load.sampler.waits(measured.from_s, measured.to_s)
        findings.notices += load.sampler.notices()
        findings.stolen_percent = load.host.stolen_percent(measured.from_s, measured.to_s)
        load.driver.wait()
    lab.interrupts.check()


def _watch(load: Load, lab: Lab, findings: Findings) -> None:
    """Reads the counters of data and server when the measured phase begins and ends."""
    while (mark := load.next_mark(lab)) is not None:
        _note(mark, load, lab, findings)


def _note(mark: Event | None, load: Load, lab: Lab, findings: Findings) -> None:
    target, workload = lab.target, findings.workload
    if mark is not None and mark.kind == "phase-begin":
        findings.begin = _observation(load.driver, target, workload)
        findings.server_cpu_begin_s = target.server_cpu_s()
        if findings.plan.outage is not None:
            suffer(load, lab, findings, findings.plan.outage, mark.t_s)
    elif mark is not None and mark.kind == "phase-end":
        findings.server_cpu_end_s = target.server_cpu_s()
        findings.end = _observation(load.driver, target, workload)


def _observation(driver: Generator, target: Target, workload: AnyWorkload) -> Observation:
    """The counters, at the middle of the time that reading them took.

    An engine within the driver locks its file: who reads it from outside waits for the load, and
    holds it up. There the driver's own counts must do, which the checks hold against the data.
    """
    before = driver.clock_s()
    counters = {} if target.in_process else workload.observe(target)
    return Observation((before + driver.clock_s()) / 2, counters)
