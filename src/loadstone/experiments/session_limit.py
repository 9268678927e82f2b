"""How many sessions a trial has at most: what its generator and its server need for them.

The session limit of a server is set where its settings leave open how many sessions it lets in. All
configurations that an experiment names get the same, so that nothing differs between them but
what they declare. A search, whose levels are not known before, gives more to higher levels.
"""

from __future__ import annotations

from dataclasses import replace

from loadstone.experiments.designs import design_of
from loadstone.factors.registry import apply_changes
from loadstone.spec.model import Experiment
from loadstone.spec.plans import LevelPlan, TrialPlan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.blame import Chosen
from loadstone.targets.connection import Connection
from loadstone.targets.registry import target_for
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.registry import workload_of
from loadstone.workloads.wanted import Wanted

MOST_AHEAD = 5000
"""A load that is raised while it runs gets room for its levels up to so many sessions: the highest
may be a million times the first, and PostgreSQL reserves memory for each session that it allows."""


def sessions_named(experiment: Experiment) -> int:
    """The most sessions that a configuration which the experiment names opens at a time."""
    found = []
    for variant in design_of(experiment).variants(experiment):
        parts = apply_changes(experiment, variant.changes)
        found.append(workload_of(parts.workload).sessions(parts.profile))
    return max(found, default=0)


def with_session_limit(plan: TrialPlan, sessions: int) -> TrialPlan:
    """The plan with the settings by which its server lets all its sessions in.

    Args:
        plan: Of a trial.
        sessions: For so many at least.
    """
    workload = workload_of(plan.workload)
    needed = max(sessions, workload.sessions(plan.profile))
    if plan.level is not None:
        needed = max(needed, min(MOST_AHEAD, _raised_to(workload, plan.level)))
    room = target_for(plan.target).for_sessions(plan.target, needed)
    settings = {
        name: Chosen(level) if isinstance(level, int) else level for name, level in room.items()
    }
    return plan.model_copy(update={"target": plan.target.with_settings(settings)})


def wanted_by(
    plan: TrialPlan, workload: AnyWorkload, profile: ProfileSpec, connection: Connection
) -> Wanted:
    """What the load of a trial wants of this machine, with all to which it is raised.

    Args:
        plan: Of the trial.
        workload: Of the plan.
        profile: Of the load; that of a load that is raised lasts for all levels.
        connection: The target's.

    Raises:
        WrongInputError: If a secret of the load is not where it was said to be.
    """
    wanted = workload.resources(profile, connection)
    if plan.level is None:
        return wanted
    return replace(wanted, sessions=max(wanted.sessions, _raised_to(workload, plan.level)))


def _raised_to(workload: AnyWorkload, level: LevelPlan) -> int:
    """The most users of a load that is raised while it runs; 0 of others."""
    lines = [workload.search.raised_to(level.over, each) for each in level.raised]
    return max((int(line["users"]) for line in lines if line["control"] == "users"), default=0)
