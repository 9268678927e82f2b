"""The parameters of the planning cube."""

from __future__ import annotations

import os

from pydantic import Field

from loadstone.spec.base import Spec
from loadstone.units import Duration
from loadstone.workloads.cube.data.volume import LARGEST_SCALE, LEAST_SCALE

THREADS = "load_threads, calc_threads, alloc_tasks and restructure_threads"
"""Parameters that say how many threads a step has."""


def _processors() -> int:
    return len(os.sched_getaffinity(0))


class CubeParameters(Spec):
    """Parameters of `cube`."""

    scale: float = Field(
        default=1.0,
        ge=LEAST_SCALE,
        le=LARGEST_SCALE,
        description="It multiplies rows and never members: 19 million cells are loaded at scale 1.",
    )
    cycles: int = Field(
        default=3,
        ge=0,
        le=100,
        description="Cycles of steps 1 to 8 before the retrieval. 0: the cube is made once, with "
        "the data, and trials only retrieve from it.",
    )
    hybrid: bool = Field(
        default=False,
        description="The parents of entities and products are dynamic: they are not aggregated, "
        "but summed when they are asked for.",
    )
    load_threads: int = Field(
        default_factory=_processors,
        ge=1,
        le=1000,
        description="Of both loads: files, or parts of one, that are loaded at a time.",
    )
    calc_threads: int = Field(
        default_factory=_processors,
        ge=1,
        le=1000,
        description="Of aggregations and of the conversion (Essbase's CALCPARALLEL).",
    )
    alloc_tasks: int = Field(
        default_factory=_processors,
        ge=1,
        le=1000,
        description="Of the allocation (Essbase's FIXPARALLEL).",
    )
    restructure_threads: int = Field(
        default_factory=_processors, ge=1, le=1000, description="Of the restructure."
    )
    csv_parts: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Files that the file of cells is split into, where an engine needs several to "
        "load them in parallel.",
    )
    grids: int = Field(
        default=500, ge=1, le=100_000, description="Different grids that users ask for."
    )
    check_grids: int = Field(
        default=20,
        ge=0,
        le=10_000,
        description="Grids that are asked from stored parents and from level 0 after the last "
        "cycle, to be compared cell by cell.",
    )
    warm_up: Duration = Field(
        default=2.0,
        gt=0,
        description="Of the retrieval, where there are no cycles before it.",
    )
    time_limit: Duration = Field(
        default=3600.0, gt=0, description="A step that takes longer is broken off."
    )
