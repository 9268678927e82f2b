"""Baselines of placements: each is measured itself, before what the experiment makes on it.

A baseline is a trial of its own, with the workload that measures places. The placement is made for
it as it is made for the others, in the same folder, and is gone when they begin.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.experiments.designs.base import Around, Stages
from loadstone.factors.base import Parts
from loadstone.factors.registry import apply_changes
from loadstone.factors.storage import DEFAULT
from loadstone.factors.target import level_text
from loadstone.results.record import TrialResult
from loadstone.spec.model import Experiment, WorkloadSpec
from loadstone.spec.plans import Change, TrialPlan, Variant
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import StorageSpec, TargetSpec
from loadstone.workloads.base import AnyWorkload

PLACED = "storage.data"
"""The factor whose levels are measured."""


def baseline_workload(experiment: Experiment) -> WorkloadSpec:
    """What each placement is measured with."""
    measures = _measures()
    parameters = {**measures.before_others, **(experiment.baseline or {})}
    return WorkloadSpec(name=measures.name, parameters=parameters)


def _measures() -> type[AnyWorkload]:
    """The first workload that measures places."""
    from loadstone.workloads.registry import WORKLOADS

    return next(kind for kind in WORKLOADS.values() if kind.measures_places)


def placement_of(variant: Variant) -> str:
    """Where the data of a configuration lie, as the design writes it."""
    levels = [change.level for change in variant.changes if change.factor == PLACED]
    return level_text(levels[-1]) if levels else DEFAULT


def baselines(experiment: Experiment, variants: Sequence[Variant]) -> dict[str, Parts]:
    """Placement: what its baseline is made of; nothing where none is asked for.

    Args:
        experiment: Says where images lie, and what is measured.
        variants: Of the design; several may lie on one placement.

    Raises:
        WrongInputError: If a change cannot be applied.
    """
    if experiment.baseline is None:
        return {}
    found: dict[str, Parts] = {}
    for variant in variants:
        parts = apply_changes(experiment, variant.changes)
        found.setdefault(
            placement_of(variant),
            Parts(
                baseline_workload(experiment),
                measured_target(experiment, parts.target.storage.data),
                ProfileSpec(),
                parts.host,
            ),
        )
    return found


def measured_target(experiment: Experiment, placement: str | None = None) -> TargetSpec:
    """The place itself, with a placement; the data of all systems lie in the same folder.

    Args:
        experiment: Says where.
        placement: None: a plain folder.
    """
    return TargetSpec(
        engine=_measures().usual_engine,
        data=experiment.target.data,
        storage=StorageSpec(data=placement),
    )


class BaselinesBefore(Around):
    """The stages of another design, with a baseline of each placement in each block."""

    def __init__(self, experiment: Experiment, measured: Stages) -> None:
        super().__init__(measured)
        self._experiment = experiment
        self._known = baselines(experiment, measured.variants)
        self._made: set[tuple[str, int]] = set()

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """The design's next trials, the first on each placement of a block after its baseline."""
        plans = self._measured.next([each for each in results if each.baseline_of is None])
        found: list[TrialPlan] = []
        for plan in plans:
            placement = placement_of(plan.variant)
            if (placement, plan.block) not in self._made:
                self._made.add((placement, plan.block))
                found.append(self._baseline(plan, placement))
            found.append(plan)
        return found

    def _baseline(self, plan: TrialPlan, placement: str) -> TrialPlan:
        """In the block of a trial, with its host settings and its seeds.

        Its files are out of the page cache, whatever the state of the database's is to be.
        """
        parts = self._known[placement]
        change = Change(factor=PLACED, level=placement)
        return plan.model_copy(
            update={
                "trial": f"s{plan.trial[1:]}",
                "variant": Variant(name=f"baseline of {placement}", changes=[change], step=[]),
                "workload": parts.workload,
                "target": parts.target,
                "profile": parts.profile,
                "outage": None,
                "baseline_of": placement,
                "cache": "cold",
                "reload": False,
                "metric": None,
                "price": None,
            }
        )
