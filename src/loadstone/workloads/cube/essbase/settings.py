"""What a kit is made for, and the scripts of its steps."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.workloads.cube.cycle import (
    AGGREGATE,
    AGGREGATE_ALLOCATED,
    AGGREGATE_CONVERTED,
    ALLOCATE,
    CONVERT,
)

KIT_VERSION = 1


@dataclass(frozen=True)
class KitSettings:
    """What the scripts of a kit say."""

    scale: float
    seed: int
    application: str = "LSBench"
    """On the server; releases before 21c take 8 letters."""
    database: str = "Cube"
    load_threads: int = 8
    """Native files that are read at once, at most: `max_threads`."""
    calc_threads: int = 4
    """Of an aggregation: `CALCPARALLEL`."""
    alloc_tasks: int = 8
    """Threads of the allocation: `FIXPARALLEL`."""
    cycles: int = 3
    hybrid: bool = False
    """The parents of entities and products are dynamic."""

    @property
    def cube(self) -> str:
        """As statements of MaxL name it."""
        return f"'{self.application}'.'{self.database}'"


SCRIPTS = {
    AGGREGATE: "aggreg",
    ALLOCATE: "allocate",
    AGGREGATE_ALLOCATED: "aggralc",
    CONVERT: "convert",
    AGGREGATE_CONVERTED: "aggrconv",
}
"""Calculation script of a step, without `.csc`; releases before 21c take 8 letters. Loads, the
reset and the restructure have none."""
