"""The end of a crash trial: load runs, the server fails, recovers, and is asked what it kept.

What was acknowledged before the failure must be there afterwards. What was under way may be there
or not: nobody was told. So is what was answered after the clock was read, for a server can go on
answering for a moment when its disk has lost power already.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from loadstone.errors import InterruptedTrialError, LoadstoneError, TargetError
from loadstone.experiments.lab import Lab
from loadstone.experiments.loading import Load, running_load
from loadstone.experiments.outcome import TrialOutcome
from loadstone.load.acknowledgements import read_acknowledgements
from loadstone.load.driver import DriverFailedError
from loadstone.results.folder import TrialFolder
from loadstone.results.record import CheckResult, DurabilityRecord
from loadstone.spec.plans import CrashPlan, TrialPlan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.base import Target
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.durability import Acknowledgement

ACKNOWLEDGEMENTS_FILE = "acknowledgements.jsonl"
CLOCK_TOLERANCE_S = 0.001
"""The clocks of driver and parent are one; the parent's idea of its origin is that exact."""
_SPARE_S = 60.0
"""The load would go on so much longer than the moment of the failure."""
_FINISH_S = 1.0
"""Operations in flight when the server died have nothing to wait for."""
_EXAMPLES = 5


@dataclass(frozen=True)
class AcknowledgedAtFailure:
    """What was acknowledged when the server failed."""

    plan: CrashPlan
    at_s: float
    """On the trial's clock."""
    acknowledged: list[Acknowledgement]
    in_doubt: int
    """Operations under way: they may be there or not."""
    storage: str
    """Where the data lay, for a power loss."""


def fail_under_load(
    outcome: TrialOutcome, folder: TrialFolder, lab: Lab, plan: CrashPlan
) -> AcknowledgedAtFailure:
    """Runs the load until the moment of the plan, and lets the server fail then.

    Raises:
        LoadstoneError: If it did not come to the failure.
    """
    path = folder.path / ACKNOWLEDGEMENTS_FILE
    options = {"acknowledgements": str(path.resolve()), "finish_s": _FINISH_S}
    profile = lasting(outcome.plan.profile, plan)
    with running_load(outcome, folder, lab, profile, **options) as load:
        _wait_for_moment(load, lab, plan.after_s)
        load.sampler.stop()
        at_s = load.driver.clock_s() - CLOCK_TOLERANCE_S
        lab.target.crash_under_load(plan.failure, load.driver.kill)
        load.driver.stop()
        with contextlib.suppress(DriverFailedError):
            load.driver.wait()
    lab.interrupts.check()
    acknowledged = read_acknowledgements(path, load.driver.origins_s)
    before = [each for each in acknowledged if each.t_s <= at_s]
    after = len(acknowledged) - len(before)
    broken_off = _broken_off(outcome, profile, lab.target)
    return AcknowledgedAtFailure(
        plan, at_s, before, after + broken_off, _storage(outcome.plan, plan)
    )


def lasting(profile: ProfileSpec, plan: CrashPlan) -> ProfileSpec:
    """The profile with a measured phase that the failure ends."""
    return profile.model_copy(update={"measure": plan.after_s + _SPARE_S, "phases": []})


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


def _broken_off(outcome: TrialOutcome, profile: ProfileSpec, target: Target) -> int:
    """Operations that began and were not heard of again."""
    if target.in_process:  # the generator died with it
        return outcome.workload.sessions(profile)
    operations = outcome.load.log.overall().operations.values()
    return sum(operation.errors.get("connection", 0) for operation in operations)


def recovered(failed: AcknowledgedAtFailure, target: Target) -> DurabilityRecord:
    """Starts the server and waits for its first answer; that there is none is a finding."""
    record = DurabilityRecord(
        failure=failed.plan.failure,
        crashed_at_s=failed.at_s,
        acknowledged=len(failed.acknowledged),
        in_doubt=failed.in_doubt,
        storage=failed.storage,
    )
    began = time.monotonic()
    try:
        target.start()
        target.check_ready()
    except InterruptedTrialError:
        raise
    except LoadstoneError as error:
        return record.model_copy(update={"problem": str(error)})
    return record.model_copy(update={"recovery_s": time.monotonic() - began})


def examined(
    failed: AcknowledgedAtFailure, record: DurabilityRecord, workload: AnyWorkload, target: Target
) -> tuple[DurabilityRecord, list[CheckResult]]:
    """The record with what the data say, and the checks of the data.

    That the data cannot be read is a finding.
    """
    lost: list[Acknowledgement] = []
    checks: list[CheckResult] = []
    problem = ""
    try:
        with target.reading_all():
            lost = workload.durability.lost(target, failed.acknowledged)
            checks = workload.durability.consistency(target)
    except InterruptedTrialError:
        raise
    except TargetError as error:
        problem = f"the data cannot be read: {error}"
    found = {
        "lost": len(lost),
        "lost_span_s": failed.at_s - min(each.t_s for each in lost) if lost else None,
        "conditions_failed": [each.name for each in checks if not each.passed],
        "examples": [_example(each, failed.at_s) for each in lost[:_EXAMPLES]],
        "problem": problem,
    }
    return record.model_copy(update=found), checks


def _example(lost: Acknowledgement, crashed_at_s: float) -> str:
    return f"{lost}, acknowledged {1e3 * (crashed_at_s - lost.t_s):.1f} ms before the failure"


def _storage(trial: TrialPlan, plan: CrashPlan) -> str:
    storage = trial.target.storage
    if plan.failure != "power-loss":
        return ""
    apart = "".join(f", {role} on {text}" for role, text in storage.named.items() if role != "data")
    return f"{storage.data}{apart}, in place of {plan.in_place_of}"
