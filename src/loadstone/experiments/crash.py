"""The end of a crash trial: load runs, the server fails, recovers, and is asked what it kept.

What was acknowledged before the failure must be there afterwards. What was under way may be there
or not: nobody was told. So is what was answered after the clock was read, for a server can go on
answering for a moment when its disk has lost power already.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from loadstone.errors import InterruptedTrialError, LoadstoneError, TargetError
from loadstone.experiments.findings import Findings
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Load, running_load
from loadstone.load.acknowledgements import read_acknowledgements
from loadstone.load.crew import Generator
from loadstone.load.driver import DriverFailedError
from loadstone.results.folder import TrialFolder
from loadstone.results.record import DurabilityRecord
from loadstone.spec.model import Failure, ProfileSpec
from loadstone.spec.plans import CrashPlan
from loadstone.targets.base import Target
from loadstone.workloads.durability import Acknowledgement

ACKNOWLEDGEMENTS_FILE = "acknowledgements.jsonl"
CLOCK_TOLERANCE_S = 0.001
"""The clocks of driver and parent are one; the parent's idea of its origin is that exact."""
_SPARE_S = 60.0
"""The load would go on so much longer than the moment of the failure."""
_FINISH_S = 1.0
"""Operations in flight when the server died have nothing to wait for."""
_EXAMPLES = 5


def crash(folder: TrialFolder, lab: Lab, findings: Findings, plan: CrashPlan) -> None:
    """Lets the server fail under load, and finds out what it lost.

    A server that does not recover, or whose data cannot be read any more, is a finding.

    Raises:
        LoadstoneError: If it did not come to the failure.
    """
    lab.observer.step("running the load")
    findings.step = "load"
    path = folder.path / ACKNOWLEDGEMENTS_FILE
    crashed_at_s, origins_s = _fail_under_load(folder, lab, findings, plan, path)
    before, after = _split(read_acknowledgements(path, origins_s), crashed_at_s)
    record = DurabilityRecord(
        failure=plan.failure,
        crashed_at_s=crashed_at_s,
        acknowledged=len(before),
        in_doubt=len(after) + _broken_off(lab.target, findings),
        storage=_storage(findings, plan),
    )
    lab.observer.step("recovering")
    findings.step = "recovery"
    recovery_s, problem = _recover(lab.target)
    record = record.model_copy(update={"recovery_s": recovery_s, "problem": problem})
    findings.durability = record
    if recovery_s is not None:
        lab.observer.step("looking for what was acknowledged")
        findings.step = "checks"
        findings.durability = _examined(record, before, lab.target, findings)


def _fail_under_load(
    folder: TrialFolder, lab: Lab, findings: Findings, plan: CrashPlan, path: Path
) -> tuple[float, tuple[float, ...]]:
    """Runs the load until the moment of the plan, and lets the server fail then.

    Returns:
        The moment, on the trial's clock, and the origins of the driver processes' times.
    """
    options = {"acknowledgements": str(path.resolve()), "finish_s": _FINISH_S}
    profile = lasting(findings.plan.profile, plan)
    with running_load(folder, lab, findings, profile, **options) as load:
        _wait_for_moment(load, lab, plan.after_s)
        load.sampler.stop()
        crashed_at_s = _fail(load.driver, lab.target, plan.failure)
        load.driver.stop()
        with contextlib.suppress(DriverFailedError):
            load.driver.wait()
    lab.interrupts.check()
    return crashed_at_s, load.driver.origins_s


def lasting(profile: ProfileSpec, plan: CrashPlan) -> ProfileSpec:
    """The profile with a measured phase that the failure ends."""
    return profile.model_copy(update={"measure": plan.after_s + _SPARE_S})


def _wait_for_moment(load: Load, lab: Lab, after_s: float) -> None:
    """Waits for so much measured load.

    Raises:
        TargetError: If the load ends before.
    """
    begin = load.next_mark(lab)
    with contextlib.suppress(TimeoutError):
        if begin is not None:
            load.next_mark(lab, until_s=begin.t_s + after_s)
        lab.interrupts.check()
        load.driver.wait()
        raise TargetError("the load ended before the moment of the failure")
    lab.interrupts.check()


def _fail(driver: Generator, target: Target, failure: Failure) -> float:
    """Lets the target fail. Returns when, on the driver's clock: the moment before it did."""
    if target.in_process:
        # While the driver's connections are open, closing this one writes nothing of theirs.
        target.stop()
    at_s = driver.clock_s() - CLOCK_TOLERANCE_S
    if not target.in_process:
        target.crash(failure)
    elif failure == "kill":
        driver.kill()
        target.crash(failure)
    else:
        target.crash(failure)
        driver.kill()
    return at_s


def _split(
    acknowledged: list[Acknowledgement], at_s: float
) -> tuple[list[Acknowledgement], list[Acknowledgement]]:
    before = [each for each in acknowledged if each.t_s <= at_s]
    return before, [each for each in acknowledged if each.t_s > at_s]


def _broken_off(target: Target, findings: Findings) -> int:
    """Operations that began and were not heard of again."""
    if target.in_process:
        profile = findings.workload.loaded(findings.plan.profile)
        return profile.users if profile.load == "closed" else profile.sessions
    return sum(
        operation.errors.get("connection", 0)
        for operation in findings.load.overall().operations.values()
    )


def _recover(target: Target) -> tuple[float | None, str]:
    """Starts the server and waits for its first answer.

    Returns:
        Seconds that took, or why there was none.
    """
    began = time.monotonic()
    try:
        target.start()
        target.check_ready()
    except InterruptedTrialError:
        raise
    except LoadstoneError as error:
        return None, str(error)
    return time.monotonic() - began, ""


def _examined(
    record: DurabilityRecord,
    acknowledged: list[Acknowledgement],
    target: Target,
    findings: Findings,
) -> DurabilityRecord:
    """The record with what the data say."""
    lost: list[Acknowledgement] = []
    problem = ""
    try:
        lost = findings.workload.durability.lost(target, acknowledged)
        findings.checks = findings.workload.durability.consistency(target)
    except InterruptedTrialError:
        raise
    except TargetError as error:
        problem = f"the data cannot be read: {error}"
    span_s = record.crashed_at_s - min(each.t_s for each in lost) if lost else None
    return record.model_copy(
        update={
            "lost": len(lost),
            "lost_span_s": span_s,
            "conditions_failed": [each.name for each in findings.checks if not each.passed],
            "examples": [_example(each, record.crashed_at_s) for each in lost[:_EXAMPLES]],
            "problem": problem,
        }
    )


def _example(lost: Acknowledgement, crashed_at_s: float) -> str:
    return f"{lost}, acknowledged {1e3 * (crashed_at_s - lost.t_s):.1f} ms before the failure"


def _storage(findings: Findings, plan: CrashPlan) -> str:
    storage = findings.plan.target.storage
    if plan.failure != "power-loss":
        return ""
    apart = "".join(f", {role} on {text}" for role, text in storage.named.items() if role != "data")
    return f"{storage.data}{apart}, in place of {plan.in_place_of}"
