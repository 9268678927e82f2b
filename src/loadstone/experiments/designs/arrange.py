"""The order of trials: randomised blocks.

Each block has every variant once, in an order drawn from the experiment's seed (Fisher 1935, The
Design of Experiments, ch. IV): what drifts with time falls on all variants alike. Within a block
all variants see the same load, because they share the seed of the trial.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from loadstone.factors.registry import apply_changes
from loadstone.spec.model import Experiment
from loadstone.spec.plans import TrialPlan, Variant, trial_seed

LONGEST_SLUG = 40


def arrange(
    experiment: Experiment,
    variants: Sequence[Variant],
    *,
    first_block: int = 1,
    first_order: int = 1,
    allow_unsafe: bool = False,
) -> list[TrialPlan]:
    """The trials of `experiment.repeats` blocks, in order.

    Args:
        experiment: Gives base, repeats and seed.
        variants: Each is in every block once.
        first_block: Number of the first block.
        first_order: Position of the first trial among all of the experiment.
        allow_unsafe: The user's leave, kept in each plan.

    Raises:
        WrongInputError: If a change cannot be applied.
    """
    from loadstone.workloads.judging import headline_of

    metric = headline_of(experiment)
    plans: list[TrialPlan] = []
    for block in range(first_block, first_block + experiment.repeats):
        for place, variant in enumerate(shuffled(experiment.seed, block, variants), start=1):
            parts = apply_changes(experiment, variant.changes)
            plans.append(
                TrialPlan(
                    experiment=experiment.name,
                    trial=trial_id(block, place, variant.name),
                    variant=variant,
                    block=block,
                    order=first_order + len(plans),
                    seed=trial_seed(experiment.seed, block),
                    data_seed=experiment.seed,
                    workload=parts.workload,
                    target=parts.target,
                    profile=parts.profile,
                    host=dict(parts.host),
                    outage=experiment.outage,
                    cache=experiment.cache,
                    reload=experiment.reload,
                    metric=metric,
                    price=experiment.price,
                    meters=experiment.meters,
                    meters_root=experiment.meters_root,
                    allow_unsafe=allow_unsafe,
                )
            )
    return plans


def shuffled(seed: int, block: int, variants: Sequence[Variant]) -> list[Variant]:
    """The variants in the order of one block."""
    order = list(variants)
    random.Random(f"{seed}/order/{block}").shuffle(order)
    return order


def trial_id(block: int, place: int, name: str) -> str:
    """A folder name such as `b01-2-shared-buffers-1GB`; block and place make it unique."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", name)[:LONGEST_SLUG].strip("-.")
    return f"b{block:02}-{place}-{slug or 'variant'}"


def repeated(plan: TrialPlan, attempt: int, order: int) -> TrialPlan:
    """The plan of a trial that is made again because the machine disturbed it.

    Args:
        plan: Of the disturbed trial.
        attempt: 2 for the first repeat.
        order: Position of the new trial among all.
    """
    first = re.sub(r"-again\d+$", "", plan.trial)
    return plan.model_copy(update={"trial": f"{first}-again{attempt}", "order": order})
