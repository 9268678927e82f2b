"""How long things take: the load of a trial, and about how long a whole experiment."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.experiments.designs import crashes_of, design_of, stages_of, trials_of
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan
from loadstone.spec.profile import ProfileSpec
from loadstone.units import format_duration

AROUND_TRIAL_S = 8.0
"""About what restoring, starting, warming and checking a server take; it grows with the data."""

AROUND_CRASH_S = 6.0
"""What recovery and the search for what was acknowledged take beside that."""

AROUND_NOTHING_S = 2.0
"""The same where there is no server: measuring the machine's own speed before and after."""


def experiment_s(
    experiment: Experiment,
    plans: Sequence[TrialPlan] = (),
    around_s: float | None = None,
    earlier_load_s: float | None = None,
) -> float | None:
    """About how long an experiment takes, without loading its data once, in seconds.

    Args:
        experiment: Checked.
        plans: Of its first stage, if they are known; all its trials are taken to be like these.
        around_s: What a trial takes beside its load, if it is known.
        earlier_load_s: What the load of an earlier trial took, where the load ends when its work is
            done.

    Returns:
        None where nobody knows yet how long the work takes.
    """
    from loadstone.workloads.registry import workload_class

    served = bool(workload_class(experiment.workload.name).requires)
    trials = trials_of(experiment)
    load_s = design_of(experiment).load_s(experiment)
    if load_s is None:
        known = plans or stages_of(experiment, allow_unsafe=True).next([])
        lengths = [_known_load_s(plan, earlier_load_s) for plan in known]
        told = [length for length in lengths if length is not None]
        if len(told) < len(lengths):
            return None
        load_s = trials * sum(told) / len(told)
    if around_s is None:
        around_s = AROUND_TRIAL_S if served else AROUND_NOTHING_S
    return load_s + trials * around_s + AROUND_CRASH_S * crashes_of(experiment)


def trial_load_s(plan: TrialPlan) -> float:
    """Length of the load of a trial, which a failure may end early, in seconds."""
    from loadstone.workloads.registry import workload_of

    profile = until_failure(plan)
    beside_s = workload_of(plan.workload).unmeasured_s()
    within_s = profile.measured_s + profile.around_s
    return profile.before_s + within_s + profile.drain + beside_s


def _known_load_s(plan: TrialPlan, earlier_s: float | None) -> float | None:
    """Length of the load of a trial; of one that ends when its work is done, that of an earlier."""
    from loadstone.workloads.stepped import LONGEST_S

    length_s = trial_load_s(plan)
    return length_s if length_s < LONGEST_S else earlier_s


def phase_s(plan: TrialPlan, name: str) -> float | None:
    """Length of the phase of that name, in seconds; None: unknown, or until its work is done."""
    from loadstone.workloads.stepped import LONGEST_S

    profile = until_failure(plan)
    lengths = {"warm-up": profile.warm_up, "ramp": profile.ramp_s, "drain": profile.drain}
    for phase in profile.measured:
        lengths[phase.name] = phase.measure or profile.measure
        lengths |= phase.around
    length_s = lengths.get(name)
    return None if length_s is None or length_s >= LONGEST_S else length_s


def until_failure(plan: TrialPlan) -> ProfileSpec:
    """The profile of a trial, with what its workload decides, as far as a crash lets it come."""
    from loadstone.workloads.registry import workload_of

    if plan.crash is None:
        return workload_of(plan.workload).loaded(plan.profile)
    until = {"measure": plan.crash.after_s, "phases": [], "drain": 0.0}
    return plan.profile.model_copy(update=until)


def whole_s(seconds: float) -> str:
    """A duration for people who wait, in whole seconds: `45s`, `1min 20s`, `0s`."""
    return format_duration(round(seconds)) if seconds >= 0.5 else "0s"


def about(seconds: float) -> str:
    """A duration that is only an estimate: whole minutes from two on."""
    return whole_s(seconds if seconds < 120 else 60 * round(seconds / 60))
