"""One trial, from a known start state to its checks."""

from __future__ import annotations

from loadstone.errors import InterruptedTrialError, LoadstoneError
from loadstone.experiments.crash import examined, fail_under_load, recovered
from loadstone.experiments.graduating import graduated_profile
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Load, running_load
from loadstone.experiments.outage import suffer
from loadstone.experiments.outcome import PowerFindings, ProbeFindings, Reading, TrialOutcome
from loadstone.experiments.parts import keep_logs, read_parts, usages
from loadstone.experiments.ports import await_ports_of
from loadstone.experiments.raising import lasting, raise_load
from loadstone.experiments.record import record_of
from loadstone.factors.in_force import parts_of, unsafe_in
from loadstone.load.driver_group import Generator
from loadstone.probes.noise import machine_speed
from loadstone.protocol.frames import Event
from loadstone.results.folder import TrialFolder
from loadstone.results.record import CheckResult, TrialResult, Wait
from loadstone.results.trial_files import JOURNAL_FILE
from loadstone.results.usage import PartUsage
from loadstone.spec.plans import CrashPlan, TrialPlan
from loadstone.targets.base import Target
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.measured import Observation
from loadstone.workloads.registry import workload_of


def run_trial(plan: TrialPlan, folder: TrialFolder, lab: Lab) -> TrialResult:
    """Makes one trial and records it, whatever becomes of it.

    Raises:
        DiskFullError: If there was no space for the record.
    """
    outcome = TrialOutcome(plan, workload_of(plan.workload), folder.path, folder.started_at)
    with folder, lab.journal.copied_to(folder.path / JOURNAL_FILE):
        try:
            _reset(outcome, folder, lab)
            if plan.crash is not None:
                _crash(outcome, folder, lab, plan.crash)
            else:
                _measure(outcome, folder, lab)
        except InterruptedTrialError:
            outcome.interrupted = True
        except Exception as error:  # an interrupt may come as an exception of a library's own
            if lab.interrupts.requested:
                outcome.interrupted = True
            elif isinstance(error, (LoadstoneError, OSError)):
                outcome.fail(error)
            else:
                raise
        with lab.interrupts.shielded():
            keep_logs(lab.target, folder)
            result = lab.judge(record_of(outcome, lab.speeds_of(plan)))
            folder.write_result(result)
    return result


def _reset(outcome: TrialOutcome, folder: TrialFolder, lab: Lab) -> None:
    """Brings host and target into the start state of the trial."""
    plan, workload = outcome.plan, outcome.workload
    outcome.unsafe = unsafe_in(parts_of(plan))
    outcome.phase = "ports"
    await_ports_of(plan, workload, lab, outcome.clock)
    with outcome.clock.step("host"):
        outcome.phase = "target"
        target = lab.enter(plan.target)
        outcome.phase = "host"
        outcome.host = lab.host.apply(plan.host, plan.target)
    outcome.phase = "reset"
    outcome.restored = lab.restored(plan, workload, outcome.clock)
    outcome.refuse_unsafe()
    outcome.start = lab.start_state(plan, workload, folder, outcome.clock)
    target.make_way()


def _measure(outcome: TrialOutcome, folder: TrialFolder, lab: Lab) -> None:
    """Runs the whole load between two looks at the machine's speed, then checks the data."""
    _look_at_machine(outcome, lab)

    lab.observer.activity("running the load")
    outcome.phase = "load"
    with outcome.clock.step("load"):
        _load(outcome, folder, lab)

    lab.observer.activity("checking the data")
    outcome.phase = "checks"
    with outcome.clock.step("checks"):
        outcome.counters_after = outcome.workload.observe(lab.target)
        outcome.checks = _checks(outcome, lab.target)

    _look_at_machine(outcome, lab)


def _look_at_machine(outcome: TrialOutcome, lab: Lab) -> None:
    lab.observer.activity("measuring the machine")
    outcome.phase = "machine"
    with outcome.clock.step("measure the machine"):
        outcome.speeds.append(machine_speed(outcome.folder))
    lab.speeds_of(outcome.plan).append(outcome.speeds[-1])


def _load(outcome: TrialOutcome, folder: TrialFolder, lab: Lab) -> None:
    plan = outcome.plan
    raises = plan.level is not None and bool(plan.level.raised)
    profile = lasting(plan) if raises else plan.profile
    if profile.graduated is not None:
        profile = graduated_profile(outcome, lab)
    with running_load(outcome, folder, lab, profile) as load:
        if raises:
            _note(load.next_mark(lab), load, lab, outcome)
            raise_load(load, lab, outcome)
        while (mark := load.next_mark(lab)) is not None:
            _note(mark, load, lab, outcome)
        outcome.load.watched = _watched(outcome, load)
        load.driver.wait()
    lab.interrupts.check()


def _note(mark: Event | None, load: Load, lab: Lab, outcome: TrialOutcome) -> None:
    """Reads the counters of data and server when a measured phase begins and ends."""
    run, target = outcome.load, lab.target
    if mark is not None and mark.kind == "phase-begin":
        begin = _observation(load.driver, target, outcome.workload)
        parts = read_parts(load.parts, load.driver)
        run.begins[mark.phase] = Reading(begin, target.server_cpu_s(), parts)
        load.look_around()
        if outcome.plan.outage is not None and not run.outages:
            run.outages.append(suffer(load, lab, outcome.plan.outage, mark.t_s))
    elif mark is not None and mark.kind == "phase-end":
        load.look_around()
        server_cpu_s = target.server_cpu_s()
        parts = read_parts(load.parts, load.driver)
        end = _observation(load.driver, target, outcome.workload)
        run.ends[mark.phase] = Reading(end, server_cpu_s, parts)


def _observation(driver: Generator, target: Target, workload: AnyWorkload) -> Observation:
    """The counters, at the middle of the time that reading them took.

    An engine within the driver locks its file: who reads it from outside waits for the load, and
    holds it up. There the driver's own counts must do, which the checks hold against the data.
    """
    before = driver.clock_s()
    counters = {} if target.in_process else workload.observe(target)
    return Observation((before + driver.clock_s()) / 2, counters)


def _watched(outcome: TrialOutcome, load: Load) -> ProbeFindings:
    """Ends the probes, and asks them for what they saw."""
    load.sampler.stop()
    log = outcome.load.log
    whole, phases = log.measured(), log.measured_phases()
    waits: dict[str | None, list[Wait]] = {None: load.sampler.waits(whole.from_s, whole.to_s)}
    parts: dict[str | None, list[PartUsage]] = {
        None: usages(load.parts, outcome.load, [each.name for each in phases])
    }
    power: dict[str | None, PowerFindings] = {None: load.power.over(phases)}
    power |= {each.name: load.power.over([each]) for each in phases}
    told = [event for event in log.events if event.kind == "workload"]
    spans = outcome.workload.energy_spans(told)
    if len(phases) > 1:
        waits |= {each.name: load.sampler.waits(each.from_s, each.to_s) for each in phases}
        parts |= {each.name: usages(load.parts, outcome.load, [each.name]) for each in phases}
    return ProbeFindings(
        waits,
        load.sampler.notices(),
        load.others.taken,
        parts,
        load.sampler.uses,
        power,
        {unit: each for unit, own in spans.items() if (each := load.power.main_over(own))},
        {unit: len(own) for unit, own in spans.items()},
    )


def _checks(outcome: TrialOutcome, target: Target) -> list[CheckResult]:
    """The workload's tests of the data; none if the load was not measured to its end."""
    measured = outcome.measured()
    if measured is None:
        return []
    with target.reading_all():
        return outcome.workload.check(target, measured.before, measured)


def _crash(outcome: TrialOutcome, folder: TrialFolder, lab: Lab, plan: CrashPlan) -> None:
    """Lets the server fail under load, and finds out what it lost.

    A server that does not recover, or whose data cannot be read any more, is a finding.
    """
    lab.observer.activity("running the load")
    outcome.phase = "load"
    with outcome.clock.step("load"):
        failed = fail_under_load(outcome, folder, lab, plan)
    lab.observer.activity("recovering")
    outcome.phase = "recovery"
    with outcome.clock.step("recovery"):
        outcome.durability = recovered(failed, lab.target)
    if outcome.durability.recovery_s is None:
        return
    lab.observer.activity("looking for what was acknowledged")
    outcome.phase = "checks"
    with outcome.clock.step("checks"):
        outcome.durability, outcome.checks = examined(
            failed, outcome.durability, outcome.workload, lab.target
        )
