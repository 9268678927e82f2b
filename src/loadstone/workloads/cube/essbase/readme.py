"""The text that tells how a kit is used."""

from __future__ import annotations

from importlib.resources import files

from loadstone.workloads.cube.data.provide import CubeData
from loadstone.workloads.cube.essbase.settings import KitSettings


def readme(settings: KitSettings, data: CubeData) -> str:
    """How the kit is run, and what is left to do by hand."""
    text = files(__package__).joinpath("readme.md").read_text(encoding="utf-8")
    return text.format(
        scale=f"{settings.scale:g}",
        seed=settings.seed,
        application=settings.application,
        database=settings.database,
        cycles=settings.cycles,
        steps={False: "nine", True: "six"}[settings.hybrid],
        kind="hybrid" if settings.hybrid else "not hybrid",
        load_threads=settings.load_threads,
        calc_threads=settings.calc_threads,
        alloc_tasks=settings.alloc_tasks,
        native_cells=f"{sum(own.cells for own in data.native):,}",
        lines=f"{data.lines:,}",
        wrong=f"{len(data.injected):,}",
        total=f"{data.accepted_sum + sum(own.sum for own in data.native):,}",
        right=f"{data.lines - len(data.injected):,}",
    )
