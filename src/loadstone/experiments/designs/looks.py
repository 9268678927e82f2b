"""The looks of a design: their limits, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadstone.experiments.designs.base import Design
from loadstone.spec.design import looks_in
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Problem

if TYPE_CHECKING:
    from loadstone.results.statistics import Looks


def look_limits(design: Design, experiment: Experiment) -> dict[int, Looks]:
    """How many comparisons are judged together: what they need to stop at the looks.

    Raises:
        ValueError: Looks that do not ascend, or one that could never stop.
    """
    from loadstone.results.statistics import looks_of

    looks = looks_in(experiment.design)
    levels = design.levels_per_block(experiment)
    alpha = 1.0 - experiment.confidence
    among = sorted(set(design.families(experiment).values()), reverse=True)
    return {each: looks_of(looks, levels, alpha / each) for each in among if each}


def look_problems(design: Design, experiment: Experiment) -> list[Problem]:
    """Looks that could never stop, and repeats that are not the last of them."""
    looks = looks_in(experiment.design)
    if not looks:
        return []
    if experiment.repeats != looks[-1]:
        message = f"design.looks says that there are {looks[-1]} at most: leave repeats out"
        return [Problem(("repeats",), message)]
    try:
        look_limits(design, experiment)
    except ValueError as error:
        return [Problem(("design", "looks"), str(error))]
    return []
