"""What should be known of an experiment before it runs, though nothing forbids it."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.experiments.designs.baselines import baselines
from loadstone.experiments.preflight.offered import offered_notices
from loadstone.experiments.preflight.space import longest_trials
from loadstone.host.cgroup import bounds_of
from loadstone.probes.bounds import bounded
from loadstone.probes.other_runs import other_run, other_runs
from loadstone.results.record import Notice
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant


def cautions(experiment: Experiment, variants: Sequence[Variant]) -> list[Notice]:
    """What its targets and this machine have to say of it, each once.

    The trials that it concerns say it again.
    """
    from loadstone.targets.registry import target_for

    of_all = [*_of_machine(), *offered_notices(experiment)]
    found = {notice.message: notice for notice in of_all}
    for parts in [
        *longest_trials(experiment, variants),
        *baselines(experiment, variants).values(),
    ]:
        for notice in target_for(parts.target).cautions(parts.target, parts.profile):
            found.setdefault(notice.message, notice)
    return list(found.values())


def _of_machine() -> list[Notice]:
    bounds = bounds_of()
    found = [bounded(bounds, "warning")] if bounds.text() else []
    return [*found, *(other_run(pid, "is running") for pid in other_runs())]
