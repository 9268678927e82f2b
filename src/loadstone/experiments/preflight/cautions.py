"""What should be known of an experiment before it runs, though nothing forbids it."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.experiments.preflight.space import longest_trials
from loadstone.results.record import Notice
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Variant


def cautions(experiment: Experiment, variants: Sequence[Variant]) -> list[Notice]:
    """What its targets have to say of it, each once; the trials that it concerns say it again."""
    from loadstone.targets.registry import target_for

    found: dict[str, Notice] = {}
    for parts in longest_trials(experiment, variants):
        for notice in target_for(parts.target).cautions(parts.target, parts.profile):
            found.setdefault(notice.message, notice)
    return list(found.values())
